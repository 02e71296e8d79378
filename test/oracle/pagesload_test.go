//go:build oracle

package oracle

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/ibkit/ibkit/internal/testenv"
)

// TestExporter_ManyPages follows sweeps with 200 pages, each of which is loaded again after each
// sweep as its script does, and checks that all see all sweeps, that memory does not grow, and that
// the server's goroutines end with the pages. With all cases it takes ten minutes.
func TestExporter_ManyPages(t *testing.T) {
	t.Parallel()
	const pages = 200
	sweeps := int64(4) // one each two seconds
	if testenv.AllCases() {
		sweeps = 300
	}
	s := serveLiveSite(t, "demo")
	before := s.metric(t, "go_goroutines")
	ctx, leave := context.WithCancel(t.Context())
	defer leave()
	client := &http.Client{Transport: &http.Transport{}}
	var seen [pages]atomic.Int64
	ended := make(chan error, pages)
	for i := range pages {
		go func() { ended <- s.follow(ctx, client, i, &seen[i]) }()
	}
	least := func() int64 {
		n := seen[0].Load()
		for i := range seen {
			n = min(n, seen[i].Load())
		}
		return n
	}
	await(t, "the first sweep on each page", s.log, func() bool { return least() >= 1 })
	memory := s.metric(t, "process_resident_memory_bytes")
	for n := int64(2); n <= sweeps; n++ {
		await(t, fmt.Sprintf("sweep %d on each page", n), s.log, func() bool { return least() >= n })
	}
	if now := s.metric(t, "process_resident_memory_bytes"); now > 1.5*memory+30e6 {
		t.Errorf("got %.0f MB after %d sweeps, %.0f MB after the first", now/1e6, sweeps, memory/1e6)
	}
	if failed := s.metric(t, `ibkit_sweeps_total{result="abandoned"}`) + s.metric(t, `ibkit_sweeps_total{result="failed"}`); failed > 0 {
		t.Errorf("got %v sweeps without a result", failed)
	}
	leave()
	for range pages {
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
	client.CloseIdleConnections()
	await(t, "the end of the streams", s.log, func() bool { return s.metric(t, "go_goroutines") < before+pages/2 })
}

// follow loads a page after each sweep until ctx ends, and counts the loads.
func (s *liveSite) follow(ctx context.Context, client *http.Client, i int, loads *atomic.Int64) error {
	get := func(path string) (*http.Response, error) {
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, s.url(path), nil)
		if err != nil {
			return nil, err
		}
		return client.Do(r)
	}
	stream, err := get("api/stream")
	if err != nil {
		return err
	}
	defer stream.Body.Close()
	if stream.StatusCode != http.StatusOK {
		return fmt.Errorf("stream %d: got status %s", i, stream.Status)
	}
	paths := []string{"", "links", "nodes", "events", "picture.json", "picture.json?colour=utilization", "links?problems=1"}
	for lines := bufio.NewScanner(stream.Body); lines.Scan(); {
		if lines.Text() != "event: sweep" {
			continue
		}
		page, err := get(paths[i%len(paths)])
		if err != nil {
			break
		}
		_ = page.Body.Close()
		if page.StatusCode != http.StatusOK {
			return fmt.Errorf("page %d: got status %s", i, page.Status)
		}
		loads.Add(1)
	}
	if ctx.Err() == nil {
		return fmt.Errorf("page %d: the stream has ended", i)
	}
	return nil
}

// metric returns a metric's value.
func (s *liveSite) metric(t *testing.T, name string) float64 {
	t.Helper()
	text := fetch(s.url("metrics"))
	m := regexp.MustCompile(`(?m)^` + regexp.QuoteMeta(name) + ` (\S+)$`).FindStringSubmatch(text)
	if m == nil {
		t.Fatalf("got no metric %s in %d lines", name, strings.Count(text, "\n"))
	}
	v, err := strconv.ParseFloat(m[1], 64)
	if err != nil {
		t.Fatal(err)
	}
	return v
}
