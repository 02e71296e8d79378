// Package cmdutil has the parts that all commands share: their environment, errors
// and exit codes, relations between flags, and completions.
package cmdutil

import (
	"cmp"
	"io"

	"github.com/ibkit/ibkit/internal/sysfs"
	"github.com/ibkit/ibkit/umad"
)

// An Env is the input, output and environment of a command.
type Env struct {
	In          io.Reader
	Out, ErrOut io.Writer
	Getenv      func(string) string

	// Transport, if not nil, replaces each local port that a command opens: tests check
	// the packets that it sends.
	Transport func(umad.Port) umad.Port
}

// Sysfs returns the root of sysfs: IBKIT_SYSFS if it is set, as for tests and for
// copies of a host's files.
func (e *Env) Sysfs() string {
	return cmp.Or(e.Getenv("IBKIT_SYSFS"), string(sysfs.Default))
}
