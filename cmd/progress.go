package cmd

import (
	"fmt"
	"io"
	"time"

	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/internal/render"
)

// progressAfter is how long a scan may take before it is told how far it is.
const progressAfter = time.Second

// progressEvery is the time between two such lines.
const progressEvery = 200 * time.Millisecond

// progress is a line on a terminal that tells how far a scan is. It is written
// over itself and removed at the end.
type progress struct {
	w     io.Writer // nil: not a terminal
	next  time.Time
	shown bool
}

func newProgress(env *environment) *progress {
	p := &progress{next: time.Now().Add(progressAfter)}
	if render.IsTerminal(env.err) {
		p.w = env.err
	}
	return p
}

// update shows how far the scan is, if it is time to.
func (p *progress) update(s fabric.Progress) {
	now := time.Now()
	if p.w == nil || now.Before(p.next) {
		return
	}
	p.next, p.shown = now.Add(progressEvery), true
	fmt.Fprintf(p.w, "\r\x1b[Kscanning: %d nodes, %d ports, %d requests done, %d to go", s.Nodes, s.Ports, s.Answered, s.Waiting)
}

// close removes the line.
func (p *progress) close() {
	if p.shown {
		fmt.Fprint(p.w, "\r\x1b[K")
	}
}
