package ping

import (
	"fmt"
	"time"

	"github.com/ibkit/ibkit/cmd/internal/render"
	"github.com/ibkit/ibkit/ping"
)

const (
	liveEvery = 100 * time.Millisecond

	// liveLook is how many probes end before the clock is looked at, where there
	// is no pause between them.
	liveLook = 256
)

// liveLine is the line on a terminal that is written over again and again.
type liveLine struct {
	targets []*ping.Target
	next    time.Time
	last    *ping.Stats // total
	rtt     time.Duration
	since   int // probes since the clock was looked at
	shown   bool
	stale   bool // something has changed
}

func (l *liveLine) probe(out *render.Output, p *ping.Probe) {
	l.last, l.stale = p.Total, true
	if p.RTT > 0 {
		l.rtt = p.RTT
	}
	if l.since++; l.since >= liveLook {
		l.idle(out)
		_ = out.Flush() // the error stays and comes back at the end
	}
}

// idle writes the line, if it is time to.
func (l *liveLine) idle(out *render.Output) {
	l.since = 0
	now := time.Now()
	if !l.stale || now.Before(l.next) {
		return
	}
	l.next, l.shown, l.stale = now.Add(liveEvery), true, false
	s := l.last
	fmt.Fprintf(out, "\r\x1b[K%s: %d sent, %d received, %s loss", l.what(), s.Sent, s.Received, render.Percent(s.Loss()))
	if s.Received > 0 {
		fmt.Fprintf(out, "; last %s, avg %s, p99 %s, max %s", render.Duration(l.rtt), render.Duration(s.Avg()), render.Duration(s.Quantile(99)), render.Duration(s.Max))
	}
	if silent := l.silent(); silent > 0 && len(l.targets) > 1 {
		fmt.Fprintf(out, "; %d silent", silent)
	}
}

func (l *liveLine) what() string {
	if len(l.targets) == 1 {
		return l.targets[0].Name
	}
	return fmt.Sprintf("%d targets", len(l.targets))
}

// silent returns how many targets do not answer at present.
func (l *liveLine) silent() int {
	n := 0
	for _, t := range l.targets {
		if t.Stats.Silent > 0 {
			n++
		}
	}
	return n
}

// clear takes the line away.
func (l *liveLine) clear(out *render.Output) {
	if l.shown {
		out.WriteString("\r\x1b[K")
		l.shown = false
	}
}
