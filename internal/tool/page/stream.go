package page

import (
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
	"time"
)

// MaxStreams limits the event streams.
const MaxStreams = 256

// writeLimit is the time in which a client must take an event.
const writeLimit = 30 * time.Second

// keepAlive is the time after which a stream without events has a comment: proxies close
// silent connections, and the write shows that the client has left.
const keepAlive = 25 * time.Second

// streams pass notices to clients. Each client has room for a single notice, the newest, so
// that a slow client does not delay others or a sweep.
type streams struct {
	mu  sync.Mutex
	all map[chan Notice]bool
}

// open returns a channel with later notices, nil above the limit.
func (s *streams) open() chan Notice {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.all) >= MaxStreams {
		return nil
	}
	if s.all == nil {
		s.all = map[chan Notice]bool{}
	}
	c := make(chan Notice, 1)
	s.all[c] = true
	return c
}

func (s *streams) close(c chan Notice) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.all, c)
}

// publish passes a notice to all clients. It replaces a notice that a client has not taken.
func (s *streams) publish(n Notice) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.all {
		select {
		case <-c:
		default:
		}
		c <- n // has room: only publish sends
	}
}

// stream serves server-sent events.
func (p *Page) stream(w http.ResponseWriter, r *http.Request) {
	c := p.streams.open()
	if c == nil {
		w.Header().Set("Retry-After", "60")
		http.Error(w, "all event streams are in use", http.StatusServiceUnavailable)
		return
	}
	defer p.streams.close(c)
	control := http.NewResponseController(w)
	_ = control.SetReadDeadline(time.Time{}) // the server's limit for a request would end the stream
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-store")
	send := func(text string) bool {
		_ = control.SetWriteDeadline(time.Now().Add(writeLimit)) // not supported by a test's recorder
		_, err := fmt.Fprint(w, text)
		return err == nil && control.Flush() == nil
	}
	if !send("retry: 5000\n\n") {
		return
	}
	silent := time.NewTicker(keepAlive)
	defer silent.Stop()
	for {
		text := ": no sweep\n\n"
		select {
		case <-r.Context().Done():
			return
		case n := <-c:
			data, _ := json.Marshal(n) // cannot fail
			text = fmt.Sprintf("event: sweep\ndata: %s\n\n", data)
		case <-silent.C:
		}
		if !send(text) {
			return
		}
	}
}
