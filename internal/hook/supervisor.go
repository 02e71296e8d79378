package hook

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// A supervisor is the connection to a supervisor process.
type supervisor struct {
	cmd      *exec.Cmd
	requests *os.File // events; closing it kills the running command and ends the process
	results  *os.File // for each event "", or a failure reason
}

// self is this program's file, even after it is replaced or removed.
const self = "/proc/self/exe"

// startSupervisor starts a supervisor process in a separate process group: an interrupt
// from the terminal does not end it.
func (r *Runner) startSupervisor() (*supervisor, error) {
	requests, toRequests, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("start supervisor: %w", err)
	}
	defer requests.Close()
	results, toResults, err := os.Pipe()
	if err != nil {
		_ = toRequests.Close() // unused
		return nil, fmt.Errorf("start supervisor: %w", err)
	}
	defer toResults.Close()
	cmd := exec.Command(self)
	cmd.Args = append([]string{"ibkit", superviseArgument, r.opts.Timeout.String(), r.path}, r.opts.Command...)
	cmd.Stdout = &lockedWriter{r}
	cmd.Stderr = cmd.Stdout
	cmd.ExtraFiles = []*os.File{requests, toResults} // requestsFD, resultsFD
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.WaitDelay = time.Second // a process that cannot be killed may hold the output
	if err := cmd.Start(); err != nil {
		_, _ = toRequests.Close(), results.Close() // unused
		return nil, fmt.Errorf("start supervisor: %w", err)
	}
	return &supervisor{cmd, toRequests, results}, nil
}

// run runs the command for an event and returns the failure reason.
func (s *supervisor) run(event []byte) error {
	if err := writeMessage(s.requests, event); err != nil {
		return fmt.Errorf("send event to supervisor: %w", err)
	}
	failure, err := readMessage(s.results)
	switch {
	case err != nil:
		return fmt.Errorf("read result of supervisor: %w", err)
	case len(failure) > 0:
		return errors.New(string(failure))
	}
	return nil
}

// end kills the command that runs. It may be called at any time.
func (s *supervisor) end() { _ = s.requests.Close() } // run returns the error

// close ends the process, and waits for the process and the output.
func (s *supervisor) close() {
	if s == nil {
		return
	}
	s.end()
	_ = s.results.Close()
	_ = s.cmd.Wait() // the results have the errors
}

// maxMessage is the maximum message length in bytes: events have node names and texts.
const maxMessage = 1 << 24

// writeMessage writes a message: the length in 4 bytes, then the bytes.
func writeMessage(w io.Writer, b []byte) error {
	if len(b) > maxMessage {
		return fmt.Errorf("write message: got %d bytes, want at most %d", len(b), maxMessage)
	}
	_, err := w.Write(append(binary.BigEndian.AppendUint32(nil, uint32(len(b))), b...))
	return err
}

// readMessage reads a message. It returns [io.EOF] after the last message.
func readMessage(r io.Reader) ([]byte, error) {
	var head [4]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return nil, err
	}
	size := binary.BigEndian.Uint32(head[:])
	if size > maxMessage {
		return nil, errors.New("read message: too long")
	}
	b := make([]byte, size)
	_, err := io.ReadFull(r, b)
	return b, err
}
