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

	"github.com/ibkit/ibkit/internal/testenv"
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
		testenv.CheckSchema(t, "../../../schema/top.json", s.body("/api/route?from=node02&to=node07"))
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

// TestPage_Crossing lists the paths through a link, which are read once.
func TestPage_Crossing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := begin(t, "demo")
		reads := 0
		visit := s.opts.Visit
		s.opts.Visit = func(ctx context.Context, do func(context.Context, *umad.Client) error) error {
			reads++
			return visit(ctx, do)
		}
		path := "/paths?port=3&node=" + s.guidOf("leaf2")
		for _, step := range []struct {
			path string
			want []string
		}{
			{"/link?port=3&node=" + s.guidOf("leaf2"), []string{`">Paths through this link</a>`}},
			// The other 15 hosts send to node05 and receive from it.
			{path, []string{">leaf2[3] – node05[1]</a></h1>", ">30 paths between end ports, from the forwarding tables at ", `<td>leaf2[3]</td><td>node05[1]</td><td><a href="routes?from=0x0002c90000100300%5B1%5D&amp;to=0x`}},
			{path + "&q=NODE07", []string{">2 paths ", `>node07[1]</th><td>leaf2[3]</td><td>node05[1]</td>`, `>node05[1]</th><td>node05[1]</td><td>node07[1]</td>`}},
			{path + "&start=29", []string{">30 to 30 of 30 "}},
		} {
			body := s.body(step.path)
			for _, want := range step.want {
				if !strings.Contains(body, want) {
					t.Errorf("%s: got no %q in\n%s", step.path, want, body)
				}
			}
		}
		if w := get(t, s, "/paths?port=3&node=0x1"); w.Code != http.StatusNotFound || reads != 1 {
			t.Errorf("got status %d and %d reads, want 404 and a single read", w.Code, reads)
		}
		s.next()
		s.body(path)
		time.Sleep(tablesAge)
		s.body(path)
		if reads != 2 {
			t.Errorf("got %d reads, want another after %v", reads, tablesAge)
		}
		time.Sleep(2 * readPause) // the end of the last pause
	})
}
