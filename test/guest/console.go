package guest

import (
	"bytes"
	"io"
	"regexp"
	"strings"
	"sync"
)

// console stores and forwards a kernel's console output.
type console struct {
	mu   sync.Mutex
	text bytes.Buffer
	log  io.Writer
}

func (c *console) Write(b []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.text.Write(b)
	if c.log != nil {
		return c.log.Write(b)
	}
	return len(b), nil
}

func (c *console) String() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return strings.ReplaceAll(c.text.String(), "\r\n", "\n")
}

// panics matches the first line of a fatal kernel report. The kernel's command line makes
// an oops fatal.
var panics = regexp.MustCompile(`(?m)^.*\b(Kernel panic - not syncing|Oops:).*$`)

// findPanic returns the line with the panic reason, or "".
func findPanic(console string) string { return panics.FindString(console) }

// tail returns the last lines of a text, for an error message.
func tail(text string, lines int) string {
	all := strings.Split(strings.TrimSpace(text), "\n")
	return strings.Join(all[max(0, len(all)-lines):], "\n")
}
