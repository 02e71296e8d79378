package exporter

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/internal/tool/counters"
	"github.com/ibkit/ibkit/sim"
)

// users is a fabric with 60 switches and 900 hosts.
const users = "fat-tree:levels=2,radix=60,pods=30,hosts=30,spines=30"

// fabricOptions returns options for a simulated fabric.
func fabricOptions(tb testing.TB, description string) counters.Options {
	tb.Helper()
	f, err := sim.Build(description)
	if err != nil {
		tb.Fatal(err)
	}
	return counters.Options{
		Source:    fabric.Source{OpenPort: f.Opener("")},
		Limits:    counters.Limits{Thresholds: counters.RecommendedThresholds(), Wait: counters.DefaultWait},
		DetailsOf: counters.FECDetails,
	}
}

// BenchmarkSweep sweeps a fabric with 60 switches and 900 hosts.
func BenchmarkSweep(b *testing.B) {
	e := New(Options{Fabric: fabricOptions(b, users)})
	for b.Loop() {
		if err := e.Sweep(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(e.last.Load().size)/1e6, "MB/scrape")
	b.ReportMetric(float64(len(e.last.Load().gzip))/1e6, "MB-gzip/scrape")
}

// BenchmarkScrape scrapes the same fabric.
func BenchmarkScrape(b *testing.B) {
	e := New(Options{Fabric: fabricOptions(b, users)})
	if err := e.Sweep(b.Context()); err != nil {
		b.Fatal(err)
	}
	for _, test := range []struct{ name, encoding string }{{"gzip", "gzip"}, {"plain", "identity"}} {
		b.Run(test.name, func(b *testing.B) {
			for b.Loop() {
				r := httptest.NewRequest(http.MethodGet, "/metrics", nil)
				r.Header.Set("Accept-Encoding", test.encoding)
				e.ServeHTTP(&discard{httptest.NewRecorder()}, r)
			}
		})
	}
}

// A discard discards a response's body.
type discard struct{ *httptest.ResponseRecorder }

func (d *discard) Write(p []byte) (int, error) { return io.Discard.Write(p) }
