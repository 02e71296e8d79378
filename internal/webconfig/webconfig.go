// Package webconfig reads Prometheus exporters' web configuration files, and serves
// HTTP as they configure it: TLS, passwords, headers and a request limit
// (https://github.com/prometheus/exporter-toolkit/blob/master/docs/web-configuration.md).
//
// exporter-toolkit has the same for exporters in general. It is not used here because it
// links html/template through a connection tracker in its dependencies: with
// html/template, the linker keeps all types' exported methods.
package webconfig

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
	"golang.org/x/crypto/bcrypt"

	"github.com/ibkit/ibkit/internal/yamlfile"
)

// A Config is the file content. The zero value is an empty file: HTTP without TLS or
// passwords.
type Config struct {
	TLS     *tls.Config       // nil: no TLS
	HTTP2   bool              // with TLS
	Headers map[string]string // in responses
	Users   map[string]string // bcrypt password hashes; empty: no passwords

	// Burst is the request count at a time, which increases by 1 in each
	// Interval; 0: no limit.
	Burst    uint64
	Interval time.Duration
}

// Read reads a file, and the certificate and key files that it names. Content errors have
// the line and the key.
func Read(path string) (*Config, error) {
	data, err := yamlfile.Read(path)
	if err != nil {
		return nil, err
	}
	return parse(path, data)
}

// A file is a file reader.
type file struct {
	yamlfile.File
	dir string // for relative paths
}

// parse reads the file content.
func parse(path string, data []byte) (*Config, error) {
	c := &Config{HTTP2: true}
	f := file{yamlfile.File(path), filepath.Dir(path)}
	root, err := f.Root(data)
	switch {
	case errors.Is(err, yamlfile.ErrEmpty):
		return c, nil
	case err != nil:
		return nil, err
	case yamlfile.IsNull(root):
		return c, nil
	}
	t := tlsSection{file: f}
	err = f.Mapping(root, "web configuration", map[string]yamlfile.Field{
		"tls_server_config": optional(func(n *yaml.Node) (err error) {
			c.TLS, err = t.read(n)
			return err
		}),
		"http_server_config": optional(func(n *yaml.Node) error {
			return f.Mapping(n, "http_server_config", map[string]yamlfile.Field{
				"http2":   yamlfile.Parsed(f.File, "http2", &c.HTTP2, yamlfile.ParseBool),
				"headers": optional(func(n *yaml.Node) error { return f.headers(n, c) }),
			})
		}),
		"basic_auth_users": optional(func(n *yaml.Node) error { return f.users(n, c) }),
		"rate_limit":       optional(func(n *yaml.Node) error { return f.rateLimit(n, c) }),
	})
	if err != nil {
		return nil, err
	}
	return c, nil
}

// optional returns a field that ignores an empty value.
func optional(read yamlfile.Field) yamlfile.Field {
	return func(n *yaml.Node) error {
		if yamlfile.IsNull(n) {
			return nil
		}
		return read(n)
	}
}

// headerValues are the headers that a file may set, with their values; nil: any.
var headerValues = map[string][]string{
	"Strict-Transport-Security": nil,
	"X-Content-Type-Options":    {"nosniff"},
	"X-Frame-Options":           {"deny", "sameorigin"},
	"X-XSS-Protection":          nil,
	"Content-Security-Policy":   nil,
}

// headers reads the response headers.
func (f file) headers(n *yaml.Node, c *Config) error {
	c.Headers = map[string]string{}
	return f.Entries(n, "headers", func(name string, k, value *yaml.Node) error {
		values, ok := headerValues[name]
		if !ok {
			return f.Errorf(k, "headers: %q cannot be set", name)
		}
		var text string
		if err := f.Text(value, name, &text); err != nil {
			return err
		}
		if values != nil && !slices.Contains(values, text) {
			return f.Errorf(value, "%s: got %q, want %s", name, text, strings.Join(values, " or "))
		}
		if strings.ContainsFunc(text, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }) {
			return f.Errorf(value, "%s: got %q, want a text without control characters", name, text)
		}
		c.Headers[name] = text
		return nil
	})
}

// users reads user names and passwords. Errors do not contain the passwords.
func (f file) users(n *yaml.Node, c *Config) error {
	c.Users = map[string]string{}
	return f.Entries(n, "basic_auth_users", func(name string, _, value *yaml.Node) error {
		var hash string
		if value.Kind == yaml.ScalarNode {
			hash = value.Value
		}
		if _, err := bcrypt.Cost([]byte(hash)); err != nil {
			return f.Errorf(value, "basic_auth_users: %q: want the hash of a password by bcrypt", name)
		}
		c.Users[name] = hash
		return nil
	})
}

// rateLimit reads the request limit.
func (f file) rateLimit(n *yaml.Node, c *Config) error {
	err := f.Mapping(n, "rate_limit", map[string]yamlfile.Field{
		"burst":    yamlfile.Parsed(f.File, "burst", &c.Burst, yamlfile.ParseCount),
		"interval": yamlfile.Parsed(f.File, "interval", &c.Interval, yamlfile.ParseTime),
	})
	if err == nil && (c.Burst == 0) != (c.Interval == 0) {
		err = f.Errorf(n, "rate_limit: want a burst and an interval above 0")
	}
	return err
}

// A tlsSection is the section tls_server_config. In each pair, either the text or a file
// with this text is set.
type tlsSection struct {
	file
	cert, key, ca source

	clientAuth tls.ClientAuthType
	sans       []string
	min, max   uint16
	suites     []uint16
	curves     []tls.CurveID
}

// A source is a text or a path to a file with it.
type source struct {
	text, path string
	at         *yaml.Node // nil: not given
	what       string
}

// source returns the field for a text, or for a path.
func (f file) source(s *source, what string, isPath bool) yamlfile.Field {
	return func(n *yaml.Node) error {
		var text string
		if n.Kind != yaml.ScalarNode {
			return f.Errorf(n, "%s: want a text", what) // the text may be a secret
		}
		switch text = n.Value; {
		case text == "":
			return nil
		case s.at != nil:
			return f.Errorf(n, "%s: %s is given as well", what, s.what)
		}
		s.at, s.what = n, what
		if !isPath {
			s.text = text
			return nil
		}
		if !filepath.IsAbs(text) {
			text = filepath.Join(f.dir, text)
		}
		s.path = text
		return nil
	}
}

// load returns the text.
func (f file) load(s *source) ([]byte, error) {
	if s.path == "" {
		return []byte(s.text), nil
	}
	data, err := yamlfile.Read(s.path)
	if err != nil {
		return nil, f.Errorf(s.at, "%s: %w", s.what, err)
	}
	return data, nil
}

var clientAuths = map[string]tls.ClientAuthType{
	"NoClientCert":               tls.NoClientCert,
	"RequestClientCert":          tls.RequestClientCert,
	"RequireAnyClientCert":       tls.RequireAnyClientCert,
	"RequireClientCert":          tls.RequireAnyClientCert, // an older name
	"VerifyClientCertIfGiven":    tls.VerifyClientCertIfGiven,
	"RequireAndVerifyClientCert": tls.RequireAndVerifyClientCert,
}

var versions = map[string]uint16{
	"TLS10": tls.VersionTLS10, "TLS11": tls.VersionTLS11, "TLS12": tls.VersionTLS12, "TLS13": tls.VersionTLS13,
}

var curves = map[string]tls.CurveID{
	"CurveP256": tls.CurveP256, "CurveP384": tls.CurveP384, "CurveP521": tls.CurveP521, "X25519": tls.X25519,
}

// oneOf returns a parser for value names.
func oneOf[T any](values map[string]T) func(string) (T, error) {
	return func(name string) (T, error) {
		v, ok := values[name]
		if !ok {
			names := make([]string, 0, len(values))
			for n := range values {
				names = append(names, n)
			}
			slices.Sort(names)
			return v, fmt.Errorf("want one of %s", strings.Join(names, ", "))
		}
		return v, nil
	}
}

// parseSuite parses a cipher suite name without known weaknesses.
func parseSuite(name string) (uint16, error) {
	for _, s := range tls.CipherSuites() {
		if s.Name == name {
			return s.ID, nil
		}
	}
	return 0, errors.New("want the name of a secure cipher suite of Go's crypto/tls")
}

// listOf returns a field with a value list.
func listOf[T any](f yamlfile.File, what string, to *[]T, parse func(string) (T, error)) yamlfile.Field {
	return optional(func(n *yaml.Node) error {
		return f.List(n, what, func(n *yaml.Node) error {
			var v T
			err := yamlfile.Parsed(f, what, &v, parse)(n)
			*to = append(*to, v)
			return err
		})
	})
}

// read reads the section.
func (t *tlsSection) read(n *yaml.Node) (*tls.Config, error) {
	t.min, t.max = tls.VersionTLS12, tls.VersionTLS13
	var authAt, sansAt *yaml.Node
	var ignored bool
	at := func(to **yaml.Node, read yamlfile.Field) yamlfile.Field {
		return func(n *yaml.Node) error {
			*to = n
			return read(n)
		}
	}
	err := t.Mapping(n, "tls_server_config", map[string]yamlfile.Field{
		"cert":             t.source(&t.cert, "cert", false),
		"cert_file":        t.source(&t.cert, "cert_file", true),
		"key":              t.source(&t.key, "key", false),
		"key_file":         t.source(&t.key, "key_file", true),
		"client_ca":        t.source(&t.ca, "client_ca", false),
		"client_ca_file":   t.source(&t.ca, "client_ca_file", true),
		"client_auth_type": optional(at(&authAt, yamlfile.Parsed(t.File, "client_auth_type", &t.clientAuth, oneOf(clientAuths)))),
		"client_allowed_sans": at(&sansAt, listOf(t.File, "client_allowed_sans", &t.sans,
			func(s string) (string, error) { return s, nil })),
		"min_version":       yamlfile.Parsed(t.File, "min_version", &t.min, oneOf(versions)),
		"max_version":       yamlfile.Parsed(t.File, "max_version", &t.max, oneOf(versions)),
		"cipher_suites":     listOf(t.File, "cipher_suites", &t.suites, parseSuite),
		"curve_preferences": listOf(t.File, "curve_preferences", &t.curves, oneOf(curves)),
		// Without effect since Go 1.17, as in exporter-toolkit.
		"prefer_server_cipher_suites": yamlfile.Parsed(t.File, "prefer_server_cipher_suites", &ignored, yamlfile.ParseBool),
	})
	verifies := t.clientAuth >= tls.VerifyClientCertIfGiven
	switch {
	case err != nil:
		return nil, err
	case t.cert.at == nil:
		return nil, t.Errorf(n, "tls_server_config: want cert_file or cert")
	case t.key.at == nil:
		return nil, t.Errorf(n, "tls_server_config: want key_file or key")
	case t.min > t.max:
		return nil, t.Errorf(n, "tls_server_config: min_version is above max_version")
	case t.ca.at != nil && t.clientAuth == tls.NoClientCert:
		return nil, t.Errorf(t.ca.at, "%s: want a client_auth_type, too", t.ca.what)
	case t.ca.at == nil && verifies:
		return nil, t.Errorf(authAt, "client_auth_type: want client_ca_file or client_ca, too")
	case len(t.sans) > 0 && !verifies:
		return nil, t.Errorf(sansAt, "client_allowed_sans: want client_auth_type RequireAndVerifyClientCert, too")
	}
	return t.config()
}

// config loads the certificates.
func (t *tlsSection) config() (*tls.Config, error) {
	c := &tls.Config{
		MinVersion: t.min, MaxVersion: t.max, CipherSuites: t.suites, CurvePreferences: t.curves,
		ClientAuth: t.clientAuth,
	}
	cert, err := t.load(&t.cert)
	if err != nil {
		return nil, err
	}
	key, err := t.load(&t.key)
	if err != nil {
		return nil, err
	}
	pair, err := tls.X509KeyPair(cert, key)
	if err != nil {
		return nil, t.Errorf(t.cert.at, "%s, %s: %w", t.cert.what, t.key.what, err)
	}
	c.Certificates = []tls.Certificate{pair}
	if t.ca.at != nil {
		ca, err := t.load(&t.ca)
		if err != nil {
			return nil, err
		}
		c.ClientCAs = x509.NewCertPool()
		if !c.ClientCAs.AppendCertsFromPEM(ca) {
			return nil, t.Errorf(t.ca.at, "%s: got no certificate", t.ca.what)
		}
	}
	if len(t.sans) > 0 {
		c.VerifyConnection = t.verifySANs
	}
	return c, nil
}

// verifySANs checks that the client certificate, if any, has an allowed name.
func (t *tlsSection) verifySANs(s tls.ConnectionState) error {
	if len(s.PeerCertificates) == 0 {
		return nil // clientAuth allows it
	}
	c := s.PeerCertificates[0]
	names := slices.Concat(c.DNSNames, c.EmailAddresses)
	for _, ip := range c.IPAddresses {
		names = append(names, ip.String())
	}
	for _, u := range c.URIs {
		names = append(names, u.String())
	}
	if !slices.ContainsFunc(names, func(name string) bool { return slices.Contains(t.sans, name) }) {
		return errors.New("the certificate of the client has no allowed name")
	}
	return nil
}
