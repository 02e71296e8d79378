package guest

import (
	"bytes"
	"io"
	"regexp"
	"strings"
	"sync"
)

// console keeps what a kernel prints on its console and passes it on.
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

// panics matches the line by which a report of the kernel says that it cannot
// go on. An oops is one by the kernel's command line.
var panics = regexp.MustCompile(`(?m)^.*\b(Kernel panic - not syncing|Oops:).*$`)

// findPanic returns the line that says why the kernel ended, or "".
func findPanic(console string) string { return panics.FindString(console) }

// tail returns the last lines of a text, for an error message.
func tail(text string, lines int) string {
	all := strings.Split(strings.TrimSpace(text), "\n")
	return strings.Join(all[max(0, len(all)-lines):], "\n")
}
