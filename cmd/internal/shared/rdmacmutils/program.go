// Package rdmacmutils has the conventions of the programs of librdmacm/examples.
package rdmacmutils

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/cmd/internal/getopt"
	"github.com/ibkit/ibkit/cmd/internal/shared/nosim"
	"github.com/ibkit/ibkit/internal/tool/cm/exchange"
	"github.com/ibkit/ibkit/rdmacm"
	"github.com/ibkit/ibkit/verbs"
)

// exitInvalid is the exit code for invalid options and for a host without RDMA.
const exitInvalid = 1

// A Program is one call of a program. Its methods may be called concurrently.
type Program struct {
	Env    *cmdutil.Env
	Prefix string // of messages: "cmatose: "

	sim  bool
	lock sync.Mutex // protects the outputs
}

// Tool declares the program. lines replaces lines of the usage text by letter.
func (p *Program) Tool(name, about string, lines map[byte]string, options []getopt.Option, run func(context.Context) error) *getopt.Tool {
	return &getopt.Tool{
		Name: name, About: about, Options: append(options, nosim.Options(&p.sim)...),
		Family: &getopt.Family{
			Usage:      func(t *getopt.Tool) string { return usage(t, lines) },
			UsageToOut: true, UsageCode: exitInvalid, FailureCode: exitInvalid,
		},
		Run: func(ctx context.Context, _ []string) error {
			if p.sim {
				return nosim.Err
			}
			return run(ctx)
		},
	}
}

func usage(t *getopt.Tool, lines map[byte]string) string {
	text := "usage: " + t.Name + "\n"
	for _, o := range t.Options {
		line, ok := lines[o.Short]
		switch {
		case o.Extension, o.Unlisted:
			continue
		case !ok:
			line = fmt.Sprintf("[-%c %s]", o.Short, o.Arg)
		}
		text += "\t" + line + "\n"
	}
	return text
}

// Printf prints a text.
func (p *Program) Printf(format string, args ...any) {
	p.lock.Lock()
	defer p.lock.Unlock()
	fmt.Fprintf(p.Env.Out, format, args...)
}

// Perror prints a failed operation on standard error, as perror does.
func (p *Program) Perror(op string, err error) {
	p.lock.Lock()
	defer p.lock.Unlock()
	fmt.Fprintf(p.Env.ErrOut, "%s: %s\n", op, Cause(err))
}

// Cause returns the text of an error: that of its error number, if it has one.
func Cause(err error) string {
	if errno, ok := errors.AsType[unix.Errno](err); ok {
		return getopt.Strerror(errno)
	}
	if errors.Is(err, verbs.ErrUnsupported) {
		return getopt.Strerror(unix.EOPNOTSUPP)
	}
	return err.Error()
}

// Warn prints a failure.
func (p *Program) Warn(f *exchange.Error) {
	prefix := p.Prefix
	if f.Bare {
		prefix = ""
	}
	if f.Err != nil {
		p.Perror(prefix+f.Op, f.Err)
	} else {
		p.Printf("%s%s\n", prefix, f.Op)
	}
}

// Failed prints the failure of a test and returns the result of the program. The result
// without a failure is zero.
func (p *Program) Failed(err error) (result int) {
	if err == nil {
		return 0
	}
	if f, ok := errors.AsType[*exchange.Error](err); ok {
		p.Warn(f)
		return f.Code
	}
	cmdutil.PrintError(p.Env, p.Prefix, err)
	return -1
}

// Exit ends the program with a result.
func Exit(result int) error {
	if result == 0 {
		return nil
	}
	return &cmdutil.ExitError{Code: int(uint8(result))}
}

// Finish prints the result of a test and ends the program.
func (p *Program) Finish(result int) error {
	p.Printf("test complete\nreturn status %d\n", result)
	return Exit(result)
}

// NewSession opens the connection manager for a test. The caller closes the session.
func (p *Program) NewSession(o exchange.Options) (*exchange.Session, error) {
	o.Warn = p.Warn
	s, err := exchange.New(o)
	if err == nil {
		return s, nil
	}
	if _, ok := errors.AsType[*rdmacm.CallError](err); ok {
		return nil, err // no ID for the port space
	}
	return nil, p.NoChannel(err)
}

// NoChannel prints the reason why the connection manager cannot be opened, and ends the
// program.
func (p *Program) NoChannel(err error) error {
	if devices, listErr := verbs.Devices(); listErr == nil && len(devices) == 0 {
		fmt.Fprintln(p.Env.ErrOut, "No RDMA devices were detected")
	} else {
		p.Perror("failed to create RDMA CM event channel", err)
	}
	return &cmdutil.ExitError{Code: exitInvalid}
}

// Atoi returns a Set that stores a number of 32 bits like C's atoi.
func Atoi(to *int) func(string) error {
	return func(value string) error {
		*to = int(int32(getopt.Atoi(value)))
		return nil
	}
}

// Byte returns a Set that stores the low 8 bits of a number like C's strtoul.
func Byte(to **uint8) func(string) error {
	return func(value string) error {
		*to = new(uint8(getopt.Strtoull(value)))
		return nil
	}
}

// Space returns a Set that stores the number of a port space.
func Space(to *rdmacm.PortSpace) func(string) error {
	return func(value string) error {
		*to = rdmacm.PortSpace(getopt.Strtol(value))
		return nil
	}
}

// SpaceLine is the line of the option for the number of the port space.
var SpaceLine = fmt.Sprintf("[-p port_space - %#x for UDP (default), %#x for IPOIB]", uint16(rdmacm.PortSpaceUDP), uint16(rdmacm.PortSpaceIPoIB))
