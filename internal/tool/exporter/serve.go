package exporter

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/ibkit/ibkit/internal/webconfig"
)

// ContentType is the metrics' media type.
const ContentType = "text/plain; version=0.0.4; charset=utf-8"

// Bounds for scrapers.
const (
	maxConns      = 64
	maxHeader     = 16 << 10
	headerTimeout = 5 * time.Second
	readTimeout   = 10 * time.Second
	writeTimeout  = time.Minute
	idleTimeout   = 3 * time.Minute // Prometheus keeps a connection between scrapes
	endTimeout    = 2 * time.Second
)

// ServeHTTP returns the last sweep's metrics and the exporter's.
func (e *Exporter) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		http.Error(w, "method not allowed", http.StatusMethodNotAllowed)
		return
	}
	var own bytes.Buffer
	for _, registry := range e.self.registries() {
		if err := write(&own, registry); err != nil {
			e.opts.Log.Error("metrics of the exporter", "err", err)
			http.Error(w, "metrics of the exporter failed", http.StatusInternalServerError)
			return
		}
	}
	h := w.Header()
	h.Set("Content-Type", ContentType)
	h.Set("Vary", "Accept-Encoding")
	p := e.current()
	if !AcceptsGzip(r) || p != nil && p.gzip == nil {
		if p != nil && r.Method == http.MethodGet {
			if err := p.writeText(w); err != nil {
				return // the scraper went away
			}
		}
		_, _ = w.Write(own.Bytes()) // the scraper may have gone away
		return
	}
	h.Set("Content-Encoding", "gzip")
	// A file with two gzip members is their content in sequence (RFC 1952, 2.2).
	if p != nil {
		if _, err := w.Write(p.gzip); err != nil {
			return
		}
	}
	z := NewGzip(w)
	defer FreeGzip(z)
	_, _ = z.Write(own.Bytes())
	_ = z.Close()
}

// AcceptsGzip reports whether the client accepts a compressed response.
func AcceptsGzip(r *http.Request) bool {
	for _, header := range r.Header.Values("Accept-Encoding") {
		for part := range strings.SplitSeq(header, ",") {
			coding, parameters, _ := strings.Cut(part, ";")
			if q := strings.ReplaceAll(parameters, " ", ""); strings.TrimSpace(coding) == "gzip" && q != "q=0" && q != "q=0.0" {
				return true
			}
		}
	}
	return false
}

const landing = `<!DOCTYPE html>
<html lang="en">
<head><title>ibkit exporter</title></head>
<body><h1>ibkit exporter</h1><p><a href="metrics">Metrics</a></p></body>
</html>
`

// handler returns the handler for all paths.
func (e *Exporter) handler() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("/metrics", e)
	if len(e.opts.Pings) > 0 {
		mux.HandleFunc("GET "+PingPath, e.servePings)
	}
	if e.opts.Pages != nil {
		mux.Handle("/", e.opts.Pages)
		return mux
	}
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = io.WriteString(w, landing) // the client may have gone away
	})
	return mux
}

// CheckWebConfig checks a web configuration file for TLS and authentication, as in
// [webconfig.Read]. The empty path is no such file.
func CheckWebConfig(path string) error {
	if path == "" {
		return nil
	}
	if _, err := webconfig.Read(path); err != nil {
		return fmt.Errorf("read web configuration: %w", err)
	}
	return nil
}

// Serve answers scrapes on listeners until ctx ends, and closes them. webConfig is a web
// configuration file's path, or empty. Serve returns nil after ctx has ended.
func (e *Exporter) Serve(ctx context.Context, listeners []net.Listener, webConfig string) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	conns := newConns(maxConns + 2*e.opts.Streams) // each page may have a request besides its stream
	failed := make(chan error, len(listeners))
	for _, l := range listeners {
		go func() {
			failed <- e.serve(ctx, &listener{l, conns}, webConfig)
			cancel()
		}()
	}
	var first error
	for range listeners {
		if err := <-failed; first == nil {
			first = err
		}
	}
	return first
}

// serve answers scrapes on a listener, with its own server.
func (e *Exporter) serve(ctx context.Context, l *listener, webConfig string) error {
	server := &http.Server{
		Handler:           l.conns.handler(e.handler()),
		ConnContext:       l.conns.context,
		ConnState:         l.conns.state,
		MaxHeaderBytes:    maxHeader,
		ReadHeaderTimeout: headerTimeout,
		ReadTimeout:       readTimeout,
		WriteTimeout:      writeTimeout,
		IdleTimeout:       idleTimeout,
		ErrorLog:          log.New(io.Discard, "", 0), // scrapers must not fill the log
	}
	ended := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(ended)
		wait, cancel := context.WithTimeout(context.WithoutCancel(ctx), endTimeout)
		defer cancel()
		if server.Shutdown(wait) != nil {
			_ = server.Close() // connections from scrapers that do not read
		}
	})
	err := webconfig.Serve(l, server, webConfig, e.opts.Log)
	if stop() {
		_ = server.Close()
		_ = l.Close()
		return fmt.Errorf("serve metrics: %w", err)
	}
	<-ended
	_ = l.Close()
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

// Listen opens listeners at addresses in the form HOST:PORT.
func Listen(ctx context.Context, addresses []string) ([]net.Listener, error) {
	var all []net.Listener
	for _, a := range addresses {
		var config net.ListenConfig
		l, err := config.Listen(ctx, "tcp", a)
		if err != nil {
			for _, l := range all {
				_ = l.Close() // unused
			}
			return nil, fmt.Errorf("listen for scrapes: %w", err)
		}
		all = append(all, l)
	}
	return all, nil
}

// underlying returns a listener's connection below TLS.
func underlying(c net.Conn) net.Conn {
	if t, ok := c.(*tls.Conn); ok {
		return t.NetConn()
	}
	return c
}
