// Package mcmreregtest implements mcm_rereg_test from infiniband-diags: it makes ports
// leave and join the IP over InfiniBand broadcast group, and queries their memberships.
package mcmreregtest

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"syscall"

	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/cmd/internal/fabricflag"
	"github.com/ibkit/ibkit/cmd/internal/getopt"
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/umad"
)

// command is an mcm_rereg_test call.
type command struct {
	env      *cmdutil.Env
	settings fabricflag.Settings
}

// New returns mcm_rereg_test. Its only argument is a file.
func New(env *cmdutil.Env) *getopt.Tool {
	c := &command{env: env, settings: fabricflag.Settings{Classic: true}}
	return &getopt.Tool{
		Name: "mcm_rereg_test", Lenient: true,
		Family:   &getopt.Family{Usage: usage, UsageCode: cmdutil.ExitFailed, FailureCode: cmdutil.ExitFailed},
		Operands: "[<file>]",
		Options:  getopt.SimOptions(&c.settings),
		Run:      c.run,
	}
}

func usage(t *getopt.Tool) string { return "Usage: " + t.Name + " " + t.Operands + "\n" }

func (c *command) run(ctx context.Context, operands []string) error {
	file := "port_guids.list"
	if len(operands) > 0 {
		file = operands[0]
	}
	if err := c.settings.Complete(ctx, c.env); err != nil {
		return err
	}
	port, err := c.settings.Open(c.env)(ctx)
	if err != nil {
		c.error("Failed to open port")
		return err
	}
	defer port.Close()
	guids, err := readGUIDs(file)
	if err != nil {
		c.error("cannot open %s: %s", file, getopt.Strerror(errnoOf(err)))
		return nil // as the C tool
	}
	t := &test{command: c, port: port, local: port.Attr(), tid: rand.Uint64()}
	for _, guid := range guids { // with the default prefix, whatever prefix the fabric has
		t.members = append(t.members, &member{guid: guid, gid: ib.MakeGID(ib.DefaultPrefix, guid)})
	}
	t.run()
	return nil
}

// info and error print a message in the C tool's format.
func (c *command) info(format string, args ...any) {
	fmt.Fprintf(c.env.ErrOut, "INFO: "+format+"\n", args...)
}

func (c *command) error(format string, args ...any) {
	fmt.Fprintf(c.env.ErrOut, "ERR: "+format+"\n", args...)
}

const (
	maxMembers = 50  // GUIDs that the C tool reads
	lineSize   = 255 // its buffer size; longer lines are several lines
)

// readGUIDs reads a port GUID from the start of each line. Like the C tool, it takes
// other lines for GUID 0, and ends at an error.
func readGUIDs(path string) (guids []ib.GUID, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	lines := bufio.NewReaderSize(f, lineSize)
	for len(guids) < maxMembers {
		line, err := lines.ReadSlice('\n')
		if len(line) == 0 {
			break
		}
		guids = append(guids, ib.GUID(getopt.Strtoull(string(line))))
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			break
		}
	}
	return guids, nil
}

// errnoOf returns an error's number, or EIO.
func errnoOf(err error) syscall.Errno {
	if errno, ok := errors.AsType[syscall.Errno](err); ok {
		return errno
	}
	return syscall.EIO
}

// A member is a port with a membership under test.
type member struct {
	guid ib.GUID
	gid  ib.GID
	tid  uint64 // last join request
	sent int    // requests to join
}

// A test sends requests and receives responses.
type test struct {
	*command
	port    umad.Port
	local   umad.PortAttr
	tid     uint64 // last request
	members []*member
	early   []umad.Message // received while the port had no room for a request
}
