// Package cmdutil has the parts that all commands share: their environment, errors
// and exit codes, relations between flags, and completions.
package cmdutil

import (
	"cmp"
	"errors"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ibkit/ibkit/internal/sysfs"
	"github.com/ibkit/ibkit/umad"
)

// An Env is the input, output and environment of a command.
type Env struct {
	In          io.Reader
	Out, ErrOut io.Writer
	Getenv      func(string) string

	// Etc is the directory with this host's configuration files; empty: without them.
	Etc string

	// Transport, if not nil, replaces each local port that a command opens: tests check
	// the packets that it sends.
	Transport func(umad.Port) umad.Port

	// Commands, if not nil, returns the root command with all commands, for next steps.
	Commands func() *cobra.Command

	source *source // of the running command, for NextStep

	silentHinted bool // by [Failures]
}

// Sysfs returns the root of sysfs: IBKIT_SYSFS if it is set, as for tests and for
// copies of a host's files.
func (e *Env) Sysfs() string {
	return cmp.Or(e.Getenv("IBKIT_SYSFS"), string(sysfs.Default))
}

// CheckRunningKernel returns an error if IBKIT_SYSFS is set, for a subject that uses the running
// kernel: a result of both would be of neither host.
func (e *Env) CheckRunningKernel(subject string) error {
	if e.Sysfs() == string(sysfs.Default) {
		return nil
	}
	return errors.New(subject + " the running kernel, but IBKIT_SYSFS has another kernel's files")
}

// DefaultEtc is the usual directory for [Env.Etc].
const DefaultEtc = "/etc"

// ConfigFile returns the path in Etc of a configuration file with a path in [DefaultEtc].
func (e *Env) ConfigFile(path string) string {
	return filepath.Join(cmp.Or(e.Etc, "/nonexistent"), strings.TrimPrefix(path, DefaultEtc))
}
