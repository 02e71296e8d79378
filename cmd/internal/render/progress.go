package render

import (
	"fmt"
	"io"
	"time"

	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/internal/plural"
)

// progressAfter is the time before the first progress line.
const progressAfter = time.Second

// progressEvery is the time between two such lines.
const progressEvery = 200 * time.Millisecond

// progress is a line on a terminal with a scan's progress, or the reason for a wait. Each
// line replaces the previous line; the last line is removed.
type progress struct {
	w     io.Writer // nil: not a terminal
	next  time.Time
	wait  string // text of Wait, with its separator
	shown bool
}

// NewProgress returns a progress line on w, which prints only if w is a terminal.
func NewProgress(w io.Writer) *progress {
	p := &progress{next: time.Now().Add(progressAfter)}
	if IsTerminal(w) {
		p.w = w
	}
	return p
}

// Update shows how far the scan is, if it is time to.
func (p *progress) Update(s fabric.Progress) {
	now := time.Now()
	if p.w == nil || now.Before(p.next) {
		return
	}
	p.next, p.shown = now.Add(progressEvery), true
	fmt.Fprintf(p.w, "\r\x1b[Kscanning: %s, %s, %s done, %d to go%s", plural.Count(s.Nodes, "node", "nodes"), plural.Count(s.Ports, "port", "ports"),
		plural.Count(s.Answered, "request", "requests"), s.Waiting, p.wait)
}

// Wait shows at once why the command takes its time, for example "reading twice, 1s apart".
func (p *progress) Wait(reason string) {
	if p.w == nil {
		return
	}
	p.wait, p.shown = "; "+reason, true
	fmt.Fprint(p.w, "\r\x1b[K"+reason)
}

// Close removes the line.
func (p *progress) Close() {
	if p.shown {
		fmt.Fprint(p.w, "\r\x1b[K")
		p.shown = false
	}
}
