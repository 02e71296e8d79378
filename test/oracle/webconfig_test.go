//go:build oracle

package oracle

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ibkit/ibkit/test/ibsimtest"
)

// secretHash is the bcrypt hash of "secret", with the lowest cost.
const secretHash = "$2a$04$qjK.4VqPElnmLaAP7PnNZu54lz2FjuJosyzbTc49ME0V64NmjwNqe"

// writeCertificate writes a certificate for the loopback address to NAME.crt and NAME.key.
func writeCertificate(t *testing.T, dir, name string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, DNSNames: []string{name},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
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
	for file, block := range map[string]*pem.Block{
		".crt": {Type: "CERTIFICATE", Bytes: der}, ".key": {Type: "PRIVATE KEY", Bytes: private},
	} {
		if err := os.WriteFile(filepath.Join(dir, name+file), pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// TestWebConfig_Promtool compares which web configurations are valid with promtool.
func TestWebConfig_Promtool(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	writeCertificate(t, dir, "server")
	const with = "tls_server_config:\n  cert_file: server.crt\n  key_file: server.key\n"
	for _, test := range []struct {
		name, text string
		strict     bool // valid only for promtool
	}{
		{"empty", "", false},
		{"empty sections", "tls_server_config:\nbasic_auth_users:\n", false},
		{"certificate", with, false},
		{"all of TLS", with + "  client_auth_type: RequireAndVerifyClientCert\n  client_ca_file: server.crt\n  min_version: TLS12\n  max_version: TLS13\n" +
			"  cipher_suites: [TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256, TLS_AES_128_GCM_SHA256]\n  curve_preferences: [CurveP256, X25519]\n  prefer_server_cipher_suites: false\n", false},
		{"users", "basic_auth_users:\n  a: " + secretHash + "\n  b: " + secretHash + "\n", false},
		{"headers", "http_server_config:\n  http2: false\n  headers:\n    X-Frame-Options: deny\n    Strict-Transport-Security: max-age=1\n", false},
		{"unknown section", "tls:\n  cert_file: a\n", false},
		{"unknown key", with + "  certificate: a\n", false},
		{"no key", "tls_server_config:\n  cert_file: server.crt\n", false},
		{"no file", "tls_server_config:\n  cert_file: none.crt\n  key_file: server.key\n", false},
		{"key as certificate", "tls_server_config:\n  cert_file: server.key\n  key_file: server.key\n", false},
		{"version", with + "  min_version: SSL3\n", false},
		{"suite", with + "  cipher_suites: [TLS_RSA_WITH_RC4_128_SHA]\n", false},
		{"curve", with + "  curve_preferences: [P256]\n", false},
		{"client authentication", with + "  client_auth_type: Always\n", false},
		{"authority alone", with + "  client_ca_file: server.crt\n", false},
		{"password", "basic_auth_users:\n  a: plain\n", false},
		{"header", "http_server_config:\n  headers:\n    Server: a\n", false},
		{"value of a header", "http_server_config:\n  headers:\n    X-Content-Type-Options: sniff\n", false},
		{"http2", "http_server_config:\n  http2: maybe\n", false},
		{"syntax", "basic_auth_users: {", false},
		{"kind", "[]", false},
		{"no certificate", "tls_server_config:\n  min_version: TLS13\n", true},
		{"no authority", with + "  client_auth_type: RequireAndVerifyClientCert\n", true},
	} {
		t.Run(test.name, func(t *testing.T) {
			path := filepath.Join(dir, "web.yml")
			if err := os.WriteFile(path, []byte(test.text), 0o600); err != nil {
				t.Fatal(err)
			}
			theirs, theirErr := ibsimtest.Command(t, "promtool", "check", "web-config", path).CombinedOutput()
			// A file that is valid is not the reason why there is no address to listen at.
			ours, ourErr := ibsimtest.Command(t, native(), "exporter", "--sim", "single-switch", "--listen", "192.0.2.1:1", "--web-config", path).CombinedOutput()
			var exit *exec.ExitError
			if !errors.As(ourErr, &exit) {
				t.Fatalf("%v: %s", ourErr, ours)
			}
			valid, want := exit.ExitCode() == 1, theirErr == nil && !test.strict
			if valid != want || !valid && !strings.Contains(string(ours), path+":") || test.strict && theirErr != nil {
				t.Errorf("got %v: %s, want %v: %s", valid, ours, want, theirs)
			}
		})
	}
}

// TestWebConfig_Prometheus scrapes with TLS, client certificates and passwords, with
// Prometheus and curl.
func TestWebConfig_Prometheus(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, name := range []string{"server", "client", "other"} {
		writeCertificate(t, dir, name)
	}
	at, prometheusAt := fmt.Sprintf("127.0.0.1:%d", freePort(t)), fmt.Sprintf("127.0.0.1:%d", freePort(t))
	job := func(name, client, password string) string {
		return fmt.Sprintf("- {job_name: %s, scheme: https, basic_auth: {username: prometheus, password: %s}, static_configs: [{targets: [%q]}], "+
			"tls_config: {ca_file: server.crt, cert_file: %s.crt, key_file: %s.key}}\n", name, password, at, client, client)
	}
	for name, text := range map[string]string{
		"web.yml": "tls_server_config:\n  cert_file: server.crt\n  key_file: server.key\n  client_auth_type: RequireAndVerifyClientCert\n" +
			"  client_ca_file: client.crt\n  client_allowed_sans: [client]\n  min_version: TLS13\nbasic_auth_users:\n  prometheus: " + secretHash + "\n",
		"prometheus.yml": "global: {scrape_interval: 1s}\nscrape_configs:\n" +
			job("good", "client", "secret") + job("password", "client", "wrong") + job("certificate", "other", "secret"),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	exporterLog := startServer(t, native(), "exporter", "--sim", "single-switch", "--interval", "1s", "--listen", at, "--web-config", filepath.Join(dir, "web.yml"))
	await(t, "the exporter", exporterLog, func() bool { return strings.Contains(exporterLog(), "serving metrics") })
	curl := func(args ...string) (got, reason string) {
		tool := ibsimtest.Command(t, "curl", append([]string{"--silent", "--show-error", "--output", "/dev/null", "--write-out", "%{http_version} %{http_code}",
			"--cacert", filepath.Join(dir, "server.crt"), "https://" + at + "/metrics"}, args...)...)
		var stderr strings.Builder
		tool.Stderr = &stderr
		out, _ := tool.Output() // it fails without a response
		return string(out), stderr.String()
	}
	cert := []string{"--cert", filepath.Join(dir, "client.crt"), "--key", filepath.Join(dir, "client.key")}
	for _, test := range []struct {
		name, want string
		args       []string
	}{
		{"good", "2 200", append([]string{"--user", "prometheus:secret"}, cert...)},
		{"HTTP/1.1", "1.1 200", append([]string{"--user", "prometheus:secret", "--http1.1"}, cert...)},
		{"password", "2 401", append([]string{"--user", "prometheus:wrong"}, cert...)},
		{"no password", "2 401", cert},
		{"TLS 1.2", "0 000", append([]string{"--user", "prometheus:secret", "--tls-max", "1.2"}, cert...)},
		{"no certificate", "0 000", []string{"--user", "prometheus:secret"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got, reason := curl(test.args...); got != test.want {
				t.Errorf("got %s, want %s: %s", got, test.want, reason)
			}
		})
	}
	log := startServer(t, "prometheus", "--config.file", filepath.Join(dir, "prometheus.yml"), "--storage.tsdb.path", filepath.Join(dir, "data"),
		"--web.listen-address", prometheusAt, "--log.level", "warn")
	url := "http://" + prometheusAt
	for job, want := range map[string]string{"good": "1", "password": "0", "certificate": "0"} {
		var got string
		await(t, "a scrape of "+job, log, func() bool {
			got = instant(t, url, `up{job="`+job+`"}`)
			return got != ""
		})
		if got != want {
			t.Errorf("%s: got %s, want %s", job, got, want)
		}
	}
	await(t, "metrics of the fabric", log, func() bool { return instant(t, url, "infiniband_switch_up") == "1" })
}
