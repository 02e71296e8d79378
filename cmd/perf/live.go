package perf

import (
	"fmt"
	"io"
	"sync"
	"time"
)

// liveTick is how often a perfLive says how long a test has taken.
const liveTick = time.Second

// liveLine is a line on a terminal that says what is under way, and since when.
type liveLine struct {
	out io.Writer

	lock  sync.Mutex
	text  string // "": nothing
	since time.Time
	over  chan struct{}
}

func newLiveLine(out io.Writer) *liveLine {
	l := &liveLine{out: out, over: make(chan struct{})}
	go l.tick()
	return l
}

func (l *liveLine) tick() {
	ticker := time.NewTicker(liveTick)
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

// show has the line say something else; "" takes it away.
func (l *liveLine) show(text string) {
	l.lock.Lock()
	defer l.lock.Unlock()
	l.text, l.since = text, time.Now()
	fmt.Fprint(l.out, "\r\x1b[K"+text)
}

// close takes the line away for good.
func (l *liveLine) close() {
	close(l.over)
	l.show("")
}
