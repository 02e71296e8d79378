package exporter

import (
	"bufio"
	"compress/gzip"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// served starts a fabric's exporter and returns the address.
func served(t *testing.T, webConfig string) string {
	t.Helper()
	_, e := simulated(t, "demo", Options{})
	if err := e.Sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
	return serve(t, e, webConfig)
}

func serve(t *testing.T, e *Exporter, webConfig string) string {
	t.Helper()
	listeners, err := Listen(t.Context(), []string{"127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- e.Serve(ctx, listeners, webConfig) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return listeners[0].Addr().String()
}

// get returns a response's status and body.
func get(t *testing.T, client *http.Client, url string, header ...string) (*http.Response, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	response, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	var body io.Reader = response.Body
	if response.Header.Get("Content-Encoding") == "gzip" {
		if body, err = gzip.NewReader(response.Body); err != nil {
			t.Fatal(err)
		}
	}
	text, err := io.ReadAll(body)
	if err != nil {
		t.Fatal(err)
	}
	return response, string(text)
}

// changing are the metrics that differ from scrape to scrape.
var changing = regexp.MustCompile(`(?m)^(ibkit_sweep_age_seconds|go_|process_).*\n`)

// TestServe_Encoding compares the metrics with and without compression.
func TestServe_Encoding(t *testing.T) {
	url := "http://" + served(t, "") + "/metrics"
	response, plain := get(t, http.DefaultClient, url, "Accept-Encoding", "identity")
	if got := response.Header.Get("Content-Type"); got != ContentType || response.Header.Get("Content-Encoding") != "" {
		t.Errorf("got %v", response.Header)
	}
	compressed, text := get(t, http.DefaultClient, url, "Accept-Encoding", "deflate, gzip;q=0.5")
	if compressed.Header.Get("Content-Encoding") != "gzip" || changing.ReplaceAllString(text, "") != changing.ReplaceAllString(plain, "") {
		t.Errorf("got %d bytes with compression, want the same as %d without", len(text), len(plain))
	}
	families := parse(t, text)
	for _, name := range []string{"infiniband_switch_up", "ibkit_sweep_age_seconds", "go_goroutines", "process_open_fds"} {
		if families[name] == nil {
			t.Errorf("got no %s", name)
		}
	}
}

// TestServe_Requests checks the responses to requests that are not scrapes.
func TestServe_Requests(t *testing.T) {
	at := served(t, "")
	for _, test := range []struct {
		name, request string
		status        int
	}{
		{"scrape", "GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n", http.StatusOK},
		{"head", "HEAD /metrics HTTP/1.1\r\nHost: x\r\n\r\n", http.StatusOK},
		{"page", "GET / HTTP/1.1\r\nHost: x\r\n\r\n", http.StatusOK},
		{"other path", "GET /debug/pprof/ HTTP/1.1\r\nHost: x\r\n\r\n", http.StatusNotFound},
		{"method", "POST /metrics HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n", http.StatusMethodNotAllowed},
		{"large header", "GET /metrics HTTP/1.1\r\nHost: x\r\nX: " + strings.Repeat("a", 64<<10) + "\r\n\r\n", http.StatusRequestHeaderFieldsTooLarge},
		{"many headers", "GET /metrics HTTP/1.1\r\nHost: x\r\n" + strings.Repeat("X: a\r\n", 16<<10) + "\r\n", http.StatusRequestHeaderFieldsTooLarge},
		{"no HTTP", "\x00\x01\x02\r\n\r\n", http.StatusBadRequest},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := dial(t, at)
			go func() { _, _ = io.WriteString(c, test.request) }() // the server may not read all
			response, err := http.ReadResponse(bufio.NewReader(c), nil)
			if err != nil {
				t.Fatal(err)
			}
			defer response.Body.Close()
			if response.StatusCode != test.status {
				t.Errorf("got %d, want %d", response.StatusCode, test.status)
			}
		})
	}
}

func dial(t *testing.T, at string) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", at)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// TestServe_Connections checks that silent and slow connections do not keep a scraper out.
func TestServe_Connections(t *testing.T) {
	at := served(t, "")
	for i := range 3 * maxConns {
		c := dial(t, at)
		if i%2 == 0 { // a request that does not end
			if _, err := io.WriteString(c, "GET /metrics HTTP/1.1\r\nHost: x\r\nX-"); err != nil {
				t.Fatal(err)
			}
		}
	}
	if _, text := get(t, &http.Client{Timeout: time.Minute}, "http://"+at+"/metrics"); parse(t, text)["infiniband_switch_up"] == nil {
		t.Errorf("got\n%s", text)
	}
}

// TestConns checks which connections make room for new connections.
func TestConns(t *testing.T) {
	c := newConns(2)
	var pipes [4]net.Conn
	for i := range pipes {
		pipes[i], _ = net.Pipe()
	}
	answer := func(n net.Conn) *conn {
		entry, _ := c.context(t.Context(), n).Value(connKey{}).(*conn)
		entry.answering.Add(1)
		return entry
	}
	if !c.add(pipes[0]) || !c.add(pipes[1]) || len(c.all) != 2 {
		t.Fatal("got no room for two connections")
	}
	busy := answer(pipes[0])
	if !c.add(pipes[2]) || len(c.all) != 2 {
		t.Errorf("got %d connections, want room for another", len(c.all))
	}
	if _, err := pipes[1].Write(nil); err == nil {
		t.Error("the idle connection is open")
	}
	answer(pipes[2])
	if c.add(pipes[3]) {
		t.Error("got a connection in place of one in use")
	}
	busy.answering.Add(-1)
	c.state(pipes[0], http.StateClosed)
	if !c.add(pipes[3]) || len(c.all) != 2 {
		t.Errorf("got %d connections, want 2", len(c.all))
	}
}

// TestServe_SlowReader checks that a scraper that does not read does not delay another, nor
// the server's end.
func TestServe_SlowReader(t *testing.T) {
	_, e := simulated(t, "fat-tree:levels=2,radix=16,pods=8,hosts=8,spines=8", Options{})
	if err := e.Sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
	at := serve(t, e, "")
	for range maxConns - 1 {
		c := dial(t, at)
		if _, err := io.WriteString(c, "GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
	}
	if _, text := get(t, &http.Client{Timeout: time.Minute}, "http://"+at+"/metrics"); parse(t, text)["infiniband_switch_up"] == nil {
		t.Error("got no metrics")
	}
}

// certificate writes a certificate and its key to a directory, and returns a pool with the
// certificate.
func certificate(t *testing.T, dir string) *x509.CertPool {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	writeFile(t, filepath.Join(dir, "cert.pem"), string(text))
	writeFile(t, filepath.Join(dir, "key.pem"), string(pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: private})))
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(text)
	return pool
}

func writeFile(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// passwordHash is the bcrypt hash for "secret", with the lowest cost.
const passwordHash = "$2a$04$qjK.4VqPElnmLaAP7PnNZu54lz2FjuJosyzbTc49ME0V64NmjwNqe"

// TestServe_TLS sends requests for metrics and pages with TLS and a password.
func TestServe_TLS(t *testing.T) {
	dir := t.TempDir()
	pool := certificate(t, dir)
	config := filepath.Join(dir, "web.yml")
	writeFile(t, config, fmt.Sprintf("tls_server_config:\n  cert_file: cert.pem\n  key_file: key.pem\nbasic_auth_users:\n  prometheus: %s\n", passwordHash))
	if err := CheckWebConfig(config); err != nil {
		t.Fatal(err)
	}
	pages := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, r.URL.Path) })
	_, e := simulated(t, "demo", Options{Pages: pages})
	if err := e.Sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
	at := serve(t, e, config)
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}, ForceAttemptHTTP2: true}}
	for _, path := range []string{"/metrics", "/", "/links", "/page.js", "/picture", "/api/summary", "/api/stream"} {
		for _, test := range []struct {
			user   string
			status int
		}{
			{"https://prometheus:secret@", http.StatusOK},
			{"https://prometheus:wrong@", http.StatusUnauthorized},
			{"https://", http.StatusUnauthorized},
			{"http://prometheus:secret@", http.StatusBadRequest},
		} {
			t.Run(test.user+path, func(t *testing.T) {
				response, text := get(t, client, test.user+at+path)
				if response.StatusCode != test.status || test.status != http.StatusOK && text == path {
					t.Errorf("got %d: %.100s, want %d", response.StatusCode, text, test.status)
				}
			})
		}
	}
}

// TestCheckWebConfig checks that errors have the file and the line.
func TestCheckWebConfig(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "web.yml")
	for _, test := range []struct{ name, text, want string }{
		{"unknown", "\nbasic_auth_user:\n  a: b\n", `web.yml:2: web configuration: unknown key "basic_auth_user"`},
		{"no file", "tls_server_config:\n  cert_file: none.pem\n  key_file: none.pem\n", "web.yml:2: cert_file: open "},
		{"password", "basic_auth_users:\n  a: plain\n", "bcrypt"},
		{"syntax", "basic_auth_users: [", "web.yml:1: "},
	} {
		t.Run(test.name, func(t *testing.T) {
			writeFile(t, path, test.text)
			if err := CheckWebConfig(path); err == nil || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %s and %s", err, path, test.want)
			}
		})
	}
	if err := CheckWebConfig(filepath.Join(dir, "none.yml")); err == nil || !strings.Contains(err.Error(), "none.yml") {
		t.Errorf("got %v", err)
	}
}
