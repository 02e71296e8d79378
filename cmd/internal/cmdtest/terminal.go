package cmdtest

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
)

// NewTerminal opens a pseudo-terminal for the duration of a test. A command reads from
// terminal what is written to keyboard.
func NewTerminal(t *testing.T) (terminal, keyboard *os.File) {
	t.Helper()
	keyboard, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { keyboard.Close() })
	fd := int(keyboard.Fd())
	number, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0)
	}
	if err != nil {
		t.Fatalf("open pseudo-terminal: %v", err)
	}
	terminal, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { terminal.Close() })
	return terminal, keyboard
}

// RunOnTerminal runs a command line with a terminal as its output and error output, without
// colour, and returns what the command has written.
func (p Program) RunOnTerminal(t *testing.T, columns, rows uint16, args ...string) (code int, screen string) {
	t.Helper()
	terminal, keyboard := NewTerminal(t)
	if err := unix.IoctlSetWinsize(int(terminal.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Col: columns, Row: rows}); err != nil {
		t.Fatal(err)
	}
	exit := make(chan int, 1)
	go func() {
		e := &cmdutil.Env{In: terminal, Out: terminal, ErrOut: terminal, Getenv: func(k string) string { return map[string]string{"NO_COLOR": "1"}[k] }}
		exit <- p(t.Context(), e, args)
		terminal.Close()
	}()
	text, err := io.ReadAll(keyboard)
	if err != nil && !errors.Is(err, unix.EIO) { // EIO: the command has closed the terminal
		t.Fatal(err)
	}
	return <-exit, strings.ReplaceAll(string(text), "\r\n", "\n")
}
