package exporter

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/internal/textfile"
	"github.com/ibkit/ibkit/internal/tool/mesh"
	"github.com/ibkit/ibkit/internal/tool/mesh/standing"
	"github.com/ibkit/ibkit/internal/tool/route"
	"github.com/ibkit/ibkit/report"
)

// Limits on the collection of standing probes.
const (
	maxPingRequests = 256
	pingTimeout     = 3 * time.Second

	// maxMeshFindings limits the series of findings.
	maxMeshFindings = 100

	// maxPingAge is the age of a window, in windows, from which it is not judged.
	maxPingAge = 3
)

// A pingSource collects the last windows of standing probes from the exporters of hosts, and
// judges them together.
type pingSource struct {
	list   string        // file with the addresses, read in each sweep
	limit  time.Duration // for all requests
	log    *slog.Logger
	failed atomic.Int64 // hosts without a recent window in the last sweep
}

// A pingVerdict is the judgement on the windows of a sweep.
type pingVerdict struct {
	hosts, failed int
	result        *mesh.Result // nil: no window
}

// judge collects and judges. wiring is called if there are windows.
func (s *pingSource) judge(ctx context.Context, wiring func(*mesh.Results) (*mesh.Wiring, error)) (*pingVerdict, error) {
	addresses, err := readPingHosts(s.list)
	if err != nil {
		s.log.Error("hosts of standing probes", "err", err)
		return nil, nil // the sweep has its other data
	}
	v := &pingVerdict{hosts: len(addresses)}
	var windows []*standing.Document
	var first error
	for _, found := range s.collect(ctx, addresses) {
		if found.err != nil {
			v.failed++
			first = cmp.Or(first, found.err)
			continue
		}
		windows = append(windows, found.windows...)
	}
	if before := s.failed.Swap(int64(v.failed)); before != int64(v.failed) && first != nil {
		s.log.Warn("hosts without a recent standing probe", "hosts", v.failed, "first", first)
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	results := standing.Results(windows)
	if len(results.Flows) == 0 {
		return v, nil // no host has a window yet
	}
	w, err := wiring(results)
	if err != nil {
		return nil, err
	}
	v.result = mesh.Analyze(results, w, mesh.Options{Began: time.Now()})
	return v, nil
}

// readPingHosts reads the addresses: HOST:PORT, or a URL.
func readPingHosts(path string) (urls []string, err error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read hosts of standing probes: %w", err)
	}
	defer file.Close()
	lines := textfile.NewReader(file, path)
	for lines.Next() {
		switch text := lines.Content(); {
		case text == "":
		case strings.Contains(text, "://"):
			urls = append(urls, strings.TrimSuffix(text, "/")+PingPath)
		default:
			urls = append(urls, "http://"+text+PingPath)
		}
	}
	return urls, lines.Err()
}

// A collected is the windows of a host.
type collected struct {
	windows []*standing.Document
	err     error
}

// collect requests the windows of all hosts, many at the same time.
func (s *pingSource) collect(ctx context.Context, urls []string) []collected {
	ctx, cancel := context.WithTimeout(ctx, s.limit)
	defer cancel()
	all, client := make([]collected, len(urls)), &http.Client{Timeout: pingTimeout}
	defer client.CloseIdleConnections()
	next := make(chan int)
	var requests sync.WaitGroup
	for range min(maxPingRequests, len(urls)) {
		requests.Go(func() {
			for i := range next {
				all[i].windows, all[i].err = fetchPings(ctx, client, urls[i])
			}
		})
	}
	for i := range urls {
		next <- i
	}
	close(next)
	requests.Wait()
	return all
}

// fetchPings returns the recent windows of a host.
func fetchPings(ctx context.Context, client *http.Client, url string) (recent []*standing.Document, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	response, err := client.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("get %s: %s", url, response.Status)
	}
	lines := bufio.NewScanner(io.LimitReader(response.Body, maxPings))
	lines.Buffer(nil, maxPings)
	for lines.Scan() {
		d, err := parsePing(lines.Bytes())
		switch {
		case err != nil:
			return nil, fmt.Errorf("get %s: %w", url, err)
		case !isRecent(d):
			return nil, fmt.Errorf("get %s: the last window of %s ended at %v", url, d.Source, d.End())
		}
		recent = append(recent, d)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("get %s: %w", url, err)
	}
	if recent == nil {
		return nil, fmt.Errorf("get %s: %w", url, errNoWindow)
	}
	return recent, nil
}

var errNoWindow = errors.New("no standing probe has ended a window")

// isRecent reports whether a window ended a few windows ago at most.
func isRecent(d *standing.Document) bool {
	age := time.Since(d.End()).Seconds()
	return age <= maxPingAge*max(d.Seconds, 1)+pingTimeout.Seconds()
}

// wire reads the forwarding tables of a sweep's fabric.
func (s *fabricSource) wire(ctx context.Context, f *fabric.Fabric) (*mesh.Wiring, error) {
	session, err := s.options.Source.Open(ctx)
	if err != nil {
		return nil, err
	}
	r := route.FromFabric(f)
	err = route.Read(ctx, session.Client, r, route.ReadOptions{})
	return mesh.NewWiring(r, s.names), errors.Join(err, session.Close())
}

// unwired returns a wiring of the hosts in results without a fabric.
func unwired(r *mesh.Results) (*mesh.Wiring, error) { return mesh.NewUnwired(r.Adapters()), nil }

// write writes the findings. Hosts of the fabric without a standing probe are counted only.
func (v *pingVerdict) write(e *encoder) {
	if v == nil {
		return
	}
	e.value("ibkit_ping_hosts", "Hosts that the exporter asks for windows of standing probes.", float64(v.hosts))
	e.value("ibkit_ping_hosts_unavailable", "Hosts without a recent window of a standing probe.", float64(v.failed))
	if v.result == nil {
		return
	}
	e.value("ibkit_mesh_flows", "Pairs of ports with probes in the judged windows.", float64(v.result.Flows))
	count := map[report.Kind]int{}
	e.gauge("ibkit_mesh_finding", "1 for each finding of ibkit mesh analyze about the last windows of standing probes.", func(emit func(labels, float64)) {
		n, seen := 0, map[labels]bool{}
		for _, f := range v.result.Findings {
			count[f.Kind]++
			guid, number := "", ""
			if f.NodeGUID != nil {
				guid = f.NodeGUID.String()
			}
			if f.Port != nil {
				number = fmt.Sprint(*f.Port)
			}
			l := newLabels("kind", string(f.Kind), "subject", f.Subject, "guid", guid, "port", number)
			if f.Kind == report.MissingHost || seen[l] || n == maxMeshFindings {
				continue
			}
			seen[l] = true
			n++
			emit(l, 1)
		}
	})
	e.gauge("ibkit_mesh_findings", "Findings about the last windows of standing probes, by kind.", func(emit func(labels, float64)) {
		for _, k := range mesh.Kinds {
			emit(newLabels("kind", string(k)), float64(count[k]))
		}
	})
}
