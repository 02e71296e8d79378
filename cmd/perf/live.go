package perf

import (
	"fmt"
	"io"
	"sync"
	"time"
)

// liveInterval is the time between updates of a statusLine.
const liveInterval = time.Second

// A statusLine is a line on a terminal with the current test and its duration.
type statusLine struct {
	out io.Writer

	lock  sync.Mutex
	text  string // "": the line is empty
	since time.Time
	over  chan struct{}
}

func newStatusLine(out io.Writer) *statusLine {
	l := &statusLine{out: out, over: make(chan struct{})}
	go l.update()
	return l
}

func (l *statusLine) update() {
	ticker := time.NewTicker(liveInterval)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			l.lock.Lock()
			if l.text != "" {
				fmt.Fprintf(l.out, "\r\x1b[K%s, for %v", l.text, time.Since(l.since).Round(time.Second))
			}
			l.lock.Unlock()
		case <-l.over:
			return
		}
	}
}

// show replaces the text of the line; "" clears it.
func (l *statusLine) show(text string) {
	l.lock.Lock()
	defer l.lock.Unlock()
	l.text, l.since = text, time.Now()
	fmt.Fprint(l.out, "\r\x1b[K"+text)
}

// close clears the line for good.
func (l *statusLine) close() {
	close(l.over)
	l.show("")
}
