package page

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ibkit/ibkit/umad"
)

// TestPage_Routes follows paths between nodes and checks their links.
func TestPage_Routes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := begin(t, "demo")
		node02 := s.guidOf("node02")
		reads := 0
		visit := s.opts.Visit
		s.opts.Visit = func(ctx context.Context, do func(context.Context, *umad.Client) error) error {
			reads++
			return visit(ctx, do)
		}
		for _, step := range []struct {
			from, to string
			reads    int
			want     []string
		}{
			{"node02", "node07", 1, []string{">Forward: node02 to node07, LID ", ">node02[1]</span> – <span>leaf1[4]<", ">leaf2[5]</span> – <span>node07[1]<", ">Reverse: node07 to node02, LID ", "4 links"}},
			{"node02", "node07", 1, []string{">Forward: node02 to node07"}}, // kept
			{node02, "node07[1]", 2, []string{">Forward: node02 to node07"}},
			{"leaf1", "node02", 3, []string{">Forward: leaf1 to node02", "1 link<"}},
			{"", "node02", 3, []string{"Paths between two nodes"}},
		} {
			body := s.body("/routes?from=" + url.QueryEscape(step.from) + "&to=" + url.QueryEscape(step.to))
			for _, want := range step.want {
				if !strings.Contains(body, want) || reads != step.reads {
					t.Errorf("%s to %s: got %d reads, want %d, and %q in\n%s", step.from, step.to, reads, step.reads, want, body)
				}
			}
		}
		for _, step := range []string{"/routes?from=node02&to=nosuch", "/routes?from=node02&to=node07[2]", "/routes?from=node02&to=leaf1[3]", "/api/route?from=node02"} {
			if w := get(t, s, step); w.Code != http.StatusNotFound {
				t.Errorf("%s: got status %d, want 404", step, w.Code)
			}
		}
		validate(t, "top", s.body("/api/route?from=node02&to=node07"))
		s.next()
		s.body("/routes?from=node02&to=node07")
		if reads != 4 {
			t.Errorf("got %d reads after a sweep, want another", reads)
		}
		time.Sleep(2 * readPause) // the end of the last pause
	})
}

// TestRoutes_Busy checks that few requests wait for a read, and that a pause follows it.
func TestRoutes_Busy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRoutes()
		began := time.Now()
		end, err := r.begin(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		results := make(chan error, maxWaiting)
		for range maxWaiting - 1 {
			go func() {
				_, err := r.begin(ctx)
				results <- err
			}()
		}
		synctest.Wait()
		if _, err := r.begin(t.Context()); !errors.Is(err, errBusy) {
			t.Errorf("got %v, want %v", err, errBusy)
		}
		end()
		if err := <-results; err != nil || time.Since(began) != readPause {
			t.Errorf("got %v after %v, want a read after a pause", err, time.Since(began))
		}
		cancel()
		for range maxWaiting - 2 {
			if err := <-results; !errors.Is(err, context.Canceled) {
				t.Errorf("got %v", err)
			}
		}
	})
}
