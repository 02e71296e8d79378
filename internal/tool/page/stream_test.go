package page

import (
	"bufio"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
)

// A pipeWriter is a response that a client reads as it is written.
type pipeWriter struct {
	*io.PipeWriter
	header http.Header
	status int
}

func (w *pipeWriter) Header() http.Header { return w.header }
func (w *pipeWriter) WriteHeader(s int)   { w.status = s }
func (w *pipeWriter) Flush()              {}

// TestStream checks that a client receives each sweep, and a comment between sweeps.
func TestStream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := begin(t, "demo")
		r, w := io.Pipe()
		ended := make(chan bool)
		go func() {
			s.ServeHTTP(&pipeWriter{PipeWriter: w, header: http.Header{}}, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/api/stream", nil))
			close(ended)
		}()
		lines := bufio.NewScanner(r)
		var got []string
		for len(got) < 8 && lines.Scan() {
			if lines.Text() != "" {
				got = append(got, lines.Text())
			}
		}
		text := strings.Join(got, "\n")
		if !strings.HasPrefix(text, "retry: 5000\n: no sweep\nevent: sweep\ndata: {\"time\":") || strings.Count(text, "event: sweep") != 2 {
			t.Errorf("got\n%s", text)
		}
		_ = r.Close() // the client leaves
		<-ended
		if n := len(s.streams.all); n != 0 {
			t.Errorf("got %d streams after the client has left, want none", n)
		}
	})
}

// TestStreams_Slow checks that clients that do not read do not delay sweeps, and that they
// receive the newest notice.
func TestStreams_Slow(t *testing.T) {
	var s streams
	c := s.open()
	for n := range uint64(1000) {
		s.publish(Notice{Events: n})
	}
	if n := <-c; n.Events != 999 {
		t.Errorf("got notice %d, want 999", n.Events)
	}
}

// TestStreams_Limit checks that streams beyond the limit are refused.
func TestStreams_Limit(t *testing.T) {
	p := New(Options{Interval: interval})
	var last chan Notice
	for range MaxStreams {
		last = p.streams.open()
	}
	if w := get(t, p, "/api/stream"); w.Code != http.StatusServiceUnavailable || w.Header().Get("Retry-After") == "" {
		t.Errorf("got status %d and %v, want 503", w.Code, w.Header())
	}
	p.streams.close(last)
	if p.streams.open() == nil {
		t.Error("got no stream after another has ended")
	}
}
