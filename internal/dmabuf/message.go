package dmabuf

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"

	"golang.org/x/sys/unix"
)

// Operations of a request.
const (
	opAllocate = "allocate" // memory of a length
	opRead     = "read"     // copy from the memory to the shared copy
	opWrite    = "write"    // copy from the shared copy to the memory
)

// A request is a message of the [Client].
type request struct {
	Op     string `json:"op"`
	Buffer int    `json:"buffer"` // in the order of allocation
	At     int    `json:"at"`     // bytes
	Length int    `json:"length"` // bytes
}

// A reply answers a request; the first reply announces the device. That to opAllocate
// comes with two files: the dma-buf, and memory for a copy of its contents.
type reply struct {
	Device string `json:"device,omitempty"`
	Error  string `json:"error,omitempty"`
}

// maxMessage is the maximum message length in bytes.
const maxMessage = 4096

// send sends a message with files.
func send(c *net.UnixConn, message any, files ...*os.File) error {
	text, err := json.Marshal(message)
	if err != nil {
		return err
	}
	var rights []byte
	if len(files) > 0 {
		fds := make([]int, len(files))
		for i, f := range files {
			fds[i] = int(f.Fd())
		}
		rights = unix.UnixRights(fds...)
	}
	_, _, err = c.WriteMsgUnix(text, rights, nil)
	return err
}

// receive receives a message and its files, exactly count files or none. It returns
// io.EOF at the end of the connection.
func receive(c *net.UnixConn, message any, count int) (files []*os.File, err error) {
	text, rights := make([]byte, maxMessage), make([]byte, unix.CmsgSpace(4*max(count, 1)))
	n, m, flags, _, err := c.ReadMsgUnix(text, rights)
	if err != nil {
		return nil, err
	}
	controls, err := unix.ParseSocketControlMessage(rights[:m])
	for _, control := range controls {
		fds, _ := unix.ParseUnixRights(&control) // other messages have no files
		for _, fd := range fds {
			unix.CloseOnExec(fd)
			files = append(files, os.NewFile(uintptr(fd), "dma-buf"))
		}
	}
	switch {
	case err != nil:
	case n == 0:
		err = io.EOF
	case flags&(unix.MSG_TRUNC|unix.MSG_CTRUNC) != 0:
		err = errors.New("message is too long")
	case len(files) != 0 && len(files) != count:
		err = fmt.Errorf("got %d files, want %d", len(files), count)
	default:
		err = json.Unmarshal(text[:n], message)
	}
	if err != nil {
		closeAll(files)
		return nil, err
	}
	return files, nil
}

func closeAll(files []*os.File) {
	for _, f := range files {
		_ = f.Close() // never used
	}
}
