package webconfig

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ibkit/ibkit/internal/textfile"
)

// secretHash is the bcrypt hash for "secret", with the lowest cost.
const secretHash = "$2a$04$qjK.4VqPElnmLaAP7PnNZu54lz2FjuJosyzbTc49ME0V64NmjwNqe"

// A pair is a certificate and key, as text.
type pair struct {
	cert, key string
	tls       tls.Certificate
	pool      *x509.CertPool
}

// newPair returns a certificate for the loopback address and a name, that signs itself.
func newPair(t *testing.T, name string) pair {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), DNSNames: []string{name},
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	p := pair{
		cert: string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})),
		key:  string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private})),
		pool: x509.NewCertPool(),
	}
	p.pool.AppendCertsFromPEM([]byte(p.cert))
	if p.tls, err = tls.X509KeyPair([]byte(p.cert), []byte(p.key)); err != nil {
		t.Fatal(err)
	}
	return p
}

// config writes a file, and the server's certificate to files besides it.
func config(t *testing.T, server pair, text string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{"web.yml": text, "cert.pem": server.cert, "key.pem": server.key} {
		write(t, filepath.Join(dir, name), text)
	}
	return filepath.Join(dir, "web.yml")
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

const withFiles = "tls_server_config:\n  cert_file: cert.pem\n  key_file: key.pem\n"

// TestRead_Errors checks that errors have the line and the key, and no secret.
func TestRead_Errors(t *testing.T) {
	server := newPair(t, "server")
	for _, test := range []struct{ name, text, want string }{
		{"unknown section", "\nbasic_auth_user:\n  a: b\n", `:2: web configuration: unknown key "basic_auth_user"`},
		{"unknown key", withFiles + "  cert_fil: x\n", `:4: tls_server_config: unknown key "cert_fil"`},
		{"syntax", "basic_auth_users: [", ":1: did not find expected node content"},
		{"list", "- a\n", ":1: web configuration: got a list, want a mapping"},
		{"no certificate", "tls_server_config:\n  key_file: key.pem\n", ":2: tls_server_config: want cert_file or cert"},
		{"no key", "tls_server_config:\n  cert_file: cert.pem\n", ":2: tls_server_config: want key_file or key"},
		{"no file", "tls_server_config:\n  cert_file: none.pem\n  key_file: key.pem\n", ":2: cert_file: open "},
		{"certificate twice", withFiles + "  cert: x\n", ":4: cert: cert_file is given as well"},
		{"wrong certificate", "tls_server_config:\n  cert_file: key.pem\n  key_file: key.pem\n", ":2: cert_file, key_file: tls: "},
		{"key", "tls_server_config:\n  key: [secret]\n", ":2: key: want a text"},
		{"version", withFiles + "  min_version: TLS14\n", `:4: min_version: got "TLS14", want one of TLS10, TLS11, TLS12, TLS13`},
		{"versions", withFiles + "  min_version: TLS13\n  max_version: TLS12\n", "min_version is above max_version"},
		{"suite", withFiles + "  cipher_suites:\n  - TLS_RSA_WITH_RC4_128_SHA\n", `:5: cipher_suites: got "TLS_RSA_WITH_RC4_128_SHA", want the name`},
		{"curve", withFiles + "  curve_preferences: [P256]\n", `:4: curve_preferences: got "P256", want one of CurveP256, `},
		{"client authentication", withFiles + "  client_auth_type: Always\n", ":4: client_auth_type: got "},
		{"authority alone", withFiles + "  client_ca_file: cert.pem\n", ":4: client_ca_file: want a client_auth_type, too"},
		{"no authority", withFiles + "  client_auth_type: RequireAndVerifyClientCert\n", ":4: client_auth_type: want client_ca_file or client_ca, too"},
		{"empty authority", withFiles + "  client_auth_type: VerifyClientCertIfGiven\n  client_ca: x\n", ":5: client_ca: got no certificate"},
		{"names alone", withFiles + "  client_allowed_sans: [a]\n", ":4: client_allowed_sans: want client_auth_type"},
		{"password", "basic_auth_users:\n  a: plain\n", `:2: basic_auth_users: "a": want the hash`},
		{"user twice", "basic_auth_users:\n  a: " + secretHash + "\n  a: " + secretHash + "\n", `:3: basic_auth_users: repeated key "a"`},
		{"header", "http_server_config:\n  headers:\n    X-Other: a\n", `:3: headers: "X-Other" cannot be set`},
		{"value of a header", "http_server_config:\n  headers:\n    X-Frame-Options: allow\n", `:3: X-Frame-Options: got "allow", want deny or sameorigin`},
		{"lines of a header", "http_server_config:\n  headers:\n    X-XSS-Protection: \"a\\nb\"\n", ":3: X-XSS-Protection: "},
		{"http2", "http_server_config:\n  http2: 2\n", `:2: http2: got "2", want true or false`},
		{"burst", "rate_limit:\n  burst: -1\n", `:2: burst: got "-1", want a number from 0`},
		{"interval", "rate_limit:\n  burst: 1\n  interval: 1\n", ":3: interval: got "},
		{"limit", "rate_limit:\n  burst: 1\n", ":2: rate_limit: want a burst and an interval above 0"},
	} {
		t.Run(test.name, func(t *testing.T) {
			path := config(t, server, test.text)
			_, err := Read(path)
			var at *textfile.Error
			if !errors.As(err, &at) || !strings.HasPrefix(err.Error(), path) || !strings.Contains(err.Error(), test.want) {
				t.Fatalf("got %v, want %s", err, test.want)
			}
			for _, secret := range []string{"plain", "secret", secretHash} {
				if strings.Contains(err.Error(), secret) {
					t.Errorf("got %v, with %s", err, secret)
				}
			}
		})
	}
	if _, err := Read(filepath.Join(t.TempDir(), "none.yml")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v, want %v", err, os.ErrNotExist)
	}
}

// TestRead reads all keys.
func TestRead(t *testing.T) {
	server := newPair(t, "server")
	c, err := Read(config(t, server, withFiles+`
  client_auth_type: RequireAndVerifyClientCert
  client_ca_file: cert.pem
  client_allowed_sans: [client]
  min_version: TLS12
  max_version: TLS12
  cipher_suites: [TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384]
  curve_preferences: [CurveP384]
  prefer_server_cipher_suites: true
http_server_config:
  http2: false
  headers:
    X-Frame-Options: deny
basic_auth_users:
  prometheus: `+secretHash+`
rate_limit:
  burst: 3
  interval: 2s
`))
	if err != nil {
		t.Fatal(err)
	}
	got := fmt.Sprintln(c.TLS.ClientAuth, c.TLS.MinVersion, c.TLS.MaxVersion, c.TLS.CipherSuites, c.TLS.CurvePreferences,
		c.HTTP2, c.Headers, c.Users, c.Burst, c.Interval)
	want := fmt.Sprintln(tls.RequireAndVerifyClientCert, tls.VersionTLS12, tls.VersionTLS12,
		[]uint16{tls.TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384}, []tls.CurveID{tls.CurveP384},
		false, map[string]string{"X-Frame-Options": "deny"}, map[string]string{"prometheus": secretHash}, 3, "2s")
	if got != want || c.TLS.ClientCAs == nil || c.TLS.VerifyConnection == nil {
		t.Errorf("got %s, want %s", got, want)
	}
}

// TestRead_Empty checks that empty files and sections are no error.
func TestRead_Empty(t *testing.T) {
	for _, text := range []string{"", "# nothing\n", "---\n", "tls_server_config:\nhttp_server_config:\nbasic_auth_users:\nrate_limit:\n"} {
		t.Run(text, func(t *testing.T) {
			if c, err := Read(config(t, pair{}, text)); err != nil || c.TLS != nil || !c.HTTP2 || len(c.Users) > 0 || c.Interval != 0 {
				t.Errorf("got %v, %v", c, err)
			}
		})
	}
}

// serve serves requests as a file configures it.
func serve(t *testing.T, path string) (at string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{
		Handler:           http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, r.Proto) }),
		ReadHeaderTimeout: time.Minute,
		ErrorLog:          slog.NewLogLogger(slog.DiscardHandler, slog.LevelError),
	}
	ended := make(chan error, 1)
	go func() { ended <- Serve(l, server, path, slog.New(slog.DiscardHandler)) }()
	t.Cleanup(func() {
		_ = server.Close()
		if err := <-ended; !errors.Is(err, http.ErrServerClosed) {
			t.Error(err)
		}
	})
	// The response to this, or the connection's end, shows that the file was read.
	c, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := io.WriteString(c, "no request\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	_, _ = io.ReadAll(c)
	return l.Addr().String()
}

// get returns a response's status and text. The status is 0 after an error.
func get(t *testing.T, client *http.Client, url string) (*http.Response, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	response, err := client.Do(r)
	if err != nil {
		return &http.Response{}, err.Error()
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response, string(text)
}

// client returns a client that trusts a server and has certificates. It has a connection per
// request.
func client(server pair, certificates ...tls.Certificate) *http.Client {
	return &http.Client{Transport: &http.Transport{
		TLSClientConfig:   &tls.Config{RootCAs: server.pool, Certificates: certificates},
		ForceAttemptHTTP2: true, DisableKeepAlives: true,
	}}
}

// TestServe_Clients checks which clients may connect.
func TestServe_Clients(t *testing.T) {
	server, known, other := newPair(t, "server"), newPair(t, "client"), newPair(t, "client")
	path := config(t, server, "")
	require := withFiles + "  client_auth_type: RequireAndVerifyClientCert\n  client_ca_file: ca.pem\n"
	write(t, filepath.Join(filepath.Dir(path), "ca.pem"), known.cert)
	inline := "tls_server_config:\n  cert: |\n" + indent(server.cert) + "  key: |\n" + indent(server.key)
	for _, test := range []struct {
		name, text string
		certs      []tls.Certificate
		want       string
	}{
		{"TLS", withFiles, nil, "HTTP/2.0"},
		{"inline", inline, nil, "HTTP/2.0"},
		{"without HTTP/2", withFiles + "http_server_config: {http2: false}\n", nil, "HTTP/1.1"},
		{"known", require, []tls.Certificate{known.tls}, "HTTP/2.0"},
		{"unknown", require, []tls.Certificate{other.tls}, ""},
		{"none", require, nil, ""},
		{"allowed", require + "  client_allowed_sans: [client, b]\n", []tls.Certificate{known.tls}, "HTTP/2.0"},
		{"address", require + "  client_allowed_sans: [127.0.0.1]\n", []tls.Certificate{known.tls}, "HTTP/2.0"},
		{"not allowed", require + "  client_allowed_sans: [other]\n", []tls.Certificate{known.tls}, ""},
		{"if given", strings.Replace(require, "RequireAndVerifyClientCert", "VerifyClientCertIfGiven", 1), nil, "HTTP/2.0"},
		{"any", withFiles + "  client_auth_type: RequireAnyClientCert\n", []tls.Certificate{other.tls}, "HTTP/2.0"},
		{"none of any", withFiles + "  client_auth_type: RequireClientCert\n", nil, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			write(t, path, test.text)
			at := serve(t, path)
			response, text := get(t, client(server, test.certs...), "https://"+at)
			if response.StatusCode == http.StatusOK && text != test.want || response.StatusCode == 0 && test.want != "" {
				t.Errorf("got %s, want %q", text, test.want)
			}
		})
	}
}

// TestServe_Version checks that a client without the lowest TLS version cannot connect.
func TestServe_Version(t *testing.T) {
	server := newPair(t, "server")
	at := "https://" + serve(t, config(t, server, withFiles+"  min_version: TLS13\n"))
	for version, want := range map[uint16]int{tls.VersionTLS12: 0, tls.VersionTLS13: http.StatusOK} {
		t.Run(tls.VersionName(version), func(t *testing.T) {
			c := &http.Client{Transport: &http.Transport{
				TLSClientConfig: &tls.Config{RootCAs: server.pool, MaxVersion: version}, DisableKeepAlives: true,
			}}
			if response, _ := get(t, c, at); response.StatusCode != want {
				t.Errorf("got %d, want %d", response.StatusCode, want)
			}
		})
	}
}

func indent(text string) string {
	return "    " + strings.ReplaceAll(strings.TrimSpace(text), "\n", "\n    ") + "\n"
}

// TestServe_Users checks passwords and headers.
func TestServe_Users(t *testing.T) {
	at := serve(t, config(t, pair{}, "basic_auth_users:\n  a: "+secretHash+"\nhttp_server_config:\n  headers:\n    X-Frame-Options: deny\n"))
	for _, test := range []struct {
		user string
		want int
	}{
		{"a:secret@", http.StatusOK},
		{"a:secret@", http.StatusOK}, // known from the first time
		{"a:wrong@", http.StatusUnauthorized},
		{"b:secret@", http.StatusUnauthorized},
		{"", http.StatusUnauthorized},
	} {
		t.Run(test.user, func(t *testing.T) {
			response, _ := get(t, http.DefaultClient, "http://"+test.user+at)
			if response.StatusCode != test.want || response.Header.Get("X-Frame-Options") != "deny" {
				t.Errorf("got %d and %v, want %d", response.StatusCode, response.Header, test.want)
			}
		})
	}
}

// TestServe_Changes checks that file and certificate changes apply at once, and that an
// invalid file fails requests.
func TestServe_Changes(t *testing.T) {
	first, second := newPair(t, "server"), newPair(t, "server")
	path := config(t, first, withFiles)
	at := "https://" + serve(t, path)
	status := func(p pair) int {
		response, _ := get(t, client(p), at)
		return response.StatusCode
	}
	write(t, path, withFiles+"basic_auth_users:\n  a: "+secretHash+"\n")
	if got := status(first); got != http.StatusUnauthorized {
		t.Errorf("added user: got %d", got)
	}
	write(t, path, withFiles)
	write(t, filepath.Join(filepath.Dir(path), "cert.pem"), second.cert)
	write(t, filepath.Join(filepath.Dir(path), "key.pem"), second.key)
	if got := []int{status(first), status(second)}; !slices.Equal(got, []int{0, http.StatusOK}) {
		t.Errorf("other certificate: got %v", got)
	}
	for _, text := range []string{"tls_server_config: [", ""} {
		write(t, path, text)
		if got := status(second); got != 0 {
			t.Errorf("%q: got %d, want no connection", text, got)
		}
	}
	plain := config(t, first, "")
	at = "http://" + serve(t, plain)
	write(t, plain, "[")
	if got := status(first); got != http.StatusInternalServerError {
		t.Errorf("invalid file: got %d", got)
	}
}

// TestServe_Limit checks the status for requests above the limit.
func TestServe_Limit(t *testing.T) {
	at := serve(t, config(t, pair{}, "rate_limit:\n  burst: 2\n  interval: 1h\n"))
	var got []int
	for range 3 {
		response, _ := get(t, http.DefaultClient, "http://"+at)
		got = append(got, response.StatusCode)
	}
	if want := []int{http.StatusOK, http.StatusOK, http.StatusTooManyRequests}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// TestServe_Invalid checks that Serve returns an error for an invalid file.
func TestServe_Invalid(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if err := Serve(l, &http.Server{ReadHeaderTimeout: time.Minute}, config(t, pair{}, "["), slog.New(slog.DiscardHandler)); err == nil {
		t.Error("got no error")
	}
}

// TestBucket checks the times at which requests are allowed.
func TestBucket(t *testing.T) {
	now := time.Unix(0, 0)
	b := newBucket(2, 1000*time.Minute, func() time.Time { return now })
	var got []bool
	for _, minutes := range []int{0, 0, 0, 999, 2, 0, 5000, 0, 0} {
		now = now.Add(time.Duration(minutes) * time.Minute)
		got = append(got, b.take())
	}
	if want := []bool{true, true, false, false, true, false, true, true, false}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func FuzzParse(f *testing.F) {
	f.Add("tls_server_config:\n  cert: a\n  key: b\nbasic_auth_users:\n  a: " + secretHash + "\n")
	f.Add("rate_limit: {burst: 1, interval: 1s}\nhttp_server_config: {http2: true, headers: {X-Frame-Options: deny}}\n")
	f.Fuzz(func(t *testing.T, text string) {
		if c, err := parse(filepath.Join(t.TempDir(), "web.yml"), []byte(text)); (c == nil) == (err == nil) {
			t.Errorf("got %v and %v", c, err)
		}
	})
}
