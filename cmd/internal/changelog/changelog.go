// Package changelog is the log of changes to a fabric: the system log, or a file.
package changelog

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"log/slog"
	"log/syslog"
	"os"
	"os/user"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/internal/interrupt"
)

// A Log records changes, in the form KEY=VALUE. The nil log records nothing.
type Log struct {
	w      *errorWriter
	logger *slog.Logger
	close  func() error
}

// Define declares the flag --log with the destination for [Open].
func Define(cmd *cobra.Command, to *string) {
	cmd.Flags().StringVar(to, "log", "", "record changes in `FILE` (-: standard error; default: system log)")
}

// Open opens the log in a file; "-" is standard error, and "" the system log, or no log
// for a simulated fabric.
func Open(env *cmdutil.Env, path string, simulated bool) (*Log, error) {
	if path == "" && simulated {
		return nil, nil
	}
	return open(env, path, systemLog{})
}

// A systemLog is the address of the server of the system log; the zero value is that of
// this host.
type systemLog struct{ network, address string }

func open(env *cmdutil.Env, path string, system systemLog) (*Log, error) {
	switch path {
	case "-":
		return newLog(env.ErrOut, func() error { return nil }), nil
	case "":
		s, err := syslog.Dial(system.network, system.address, syslog.LOG_NOTICE|syslog.LOG_DAEMON, "ibkit")
		if err != nil {
			return nil, cmdutil.WithHint(fmt.Errorf("open system log: %w", err), "record the change in a file: --log FILE")
		}
		return newLog(s, s.Close), nil
	}
	f, err := interrupt.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o640)
	if err != nil {
		return nil, fmt.Errorf("open log: %w", err)
	}
	return newLog(f, f.Close), nil
}

func newLog(w io.Writer, closeLog func() error) *Log {
	e := &errorWriter{w: w}
	logger := slog.New(slog.NewTextHandler(e, &slog.HandlerOptions{ReplaceAttr: withoutLevel}))
	return &Log{e, logger.With(slog.String("user", userName(os.Getuid())), slog.String("login", loginName())), closeLog}
}

// Port returns the attributes of a port that is changed.
func Port(p *fabric.Port, names *fabric.NameMap) []slog.Attr {
	return []slog.Attr{slog.String("port_guid", p.GUID.String()), slog.Int("port", int(p.Number)), slog.String("name", names.Name(p.Node))}
}

// Begin records a change that is about to be made.
func (l *Log) Begin(change ...slog.Attr) error { return l.record("begin", change) }

// End records a change that has ended, with its result. failure may be nil.
func (l *Log) End(result fmt.Stringer, failure error, change ...slog.Attr) error {
	change = append(change, slog.String("result", result.String()))
	if failure != nil {
		change = append(change, slog.String("error", failure.Error()))
	}
	return l.record("end", change)
}

// record writes a line with the time, the message and the user.
func (l *Log) record(message string, change []slog.Attr) error {
	if l == nil {
		return nil
	}
	l.logger.LogAttrs(context.Background(), slog.LevelInfo, message, change...)
	return l.w.err
}

// Close closes the log.
func (l *Log) Close() error {
	if l == nil {
		return nil
	}
	return l.close()
}

// withoutLevel removes the level, which all records share.
func withoutLevel(_ []string, a slog.Attr) slog.Attr {
	if a.Key == slog.LevelKey {
		return slog.Attr{}
	}
	return a
}

// userName returns the name of a user, or its number.
func userName(id int) string {
	text := strconv.Itoa(id)
	if u, err := user.LookupId(text); err == nil {
		return u.Username
	}
	return text
}

// loginName returns the user who logged in, before a change of the user by su or sudo; "-"
// if the kernel does not know it.
func loginName() string {
	const unset = "4294967295" // (uid_t)-1
	text, err := os.ReadFile("/proc/self/loginuid")
	id := cmp.Or(strings.TrimSpace(string(text)), unset)
	n, convErr := strconv.Atoi(id)
	if err != nil || convErr != nil || id == unset {
		return "-"
	}
	return userName(n)
}

// An errorWriter keeps the error of the last write, which slog ignores.
type errorWriter struct {
	w   io.Writer
	err error
}

func (e *errorWriter) Write(b []byte) (n int, err error) {
	n, e.err = e.w.Write(b)
	return n, e.err
}
