package webconfig

import (
	"crypto/sha256"
	"crypto/tls"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"golang.org/x/crypto/bcrypt"
)

// errNoTLS ends handshakes after the file lost its TLS section.
var errNoTLS = errors.New("the web configuration has no tls_server_config any more")

// Serve serves requests on a listener as the file at path configures it, or without TLS
// and passwords if path is empty. It returns the error from [http.Server.Serve]. The
// server must not serve another listener.
//
// The file is read again for each request and each TLS connection, so that file and
// certificate changes apply at once, except changes to HTTP/2 and the request limit, and
// between HTTP and HTTPS. While it is invalid, requests fail.
func Serve(l net.Listener, server *http.Server, path string, log *slog.Logger) error {
	if path == "" {
		return server.Serve(l)
	}
	c, err := Read(path)
	if err != nil {
		return err
	}
	s := &site{path: path, log: log, next: server.Handler, limit: newBucket(c.Burst, c.Interval, time.Now)}
	server.Handler = s
	if c.TLS == nil {
		return server.Serve(l)
	}
	protocols := []string{"h2", "http/1.1"}
	server.Protocols = new(http.Protocols)
	server.Protocols.SetHTTP1(true)
	server.Protocols.SetHTTP2(c.HTTP2)
	if !c.HTTP2 {
		protocols = protocols[1:]
	}
	server.TLSConfig = &tls.Config{
		NextProtos: protocols,
		GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) {
			c, err := s.config()
			if err != nil {
				return nil, err
			}
			if c.TLS == nil {
				return nil, errNoTLS
			}
			c.TLS.NextProtos = protocols
			return c.TLS, nil
		},
	}
	return server.ServeTLS(l, "", "")
}

// A site checks requests before they are handled.
type site struct {
	path  string
	log   *slog.Logger
	next  http.Handler
	limit *bucket

	mu     sync.Mutex
	failed string // the last file error, which is logged once

	checking  sync.Mutex // a single password at a time: each takes some 100 ms processor time
	passwords map[[sha256.Size]byte]bool
}

// config reads the file.
func (s *site) config() (*Config, error) {
	c, err := Read(s.path)
	text := ""
	if err != nil {
		text = err.Error()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if text != s.failed && err != nil {
		s.log.Error("read web configuration", "err", err)
	}
	s.failed = text
	return c, err
}

// ServeHTTP implements [http.Handler].
func (s *site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c, err := s.config()
	switch {
	case err != nil:
		fail(w, http.StatusInternalServerError)
		return
	case !s.limit.take():
		fail(w, http.StatusTooManyRequests)
		return
	}
	for name, value := range c.Headers {
		w.Header().Set(name, value)
	}
	if len(c.Users) > 0 && !s.authenticated(c, r) {
		w.Header().Set("WWW-Authenticate", "Basic")
		fail(w, http.StatusUnauthorized)
		return
	}
	s.next.ServeHTTP(w, r)
}

func fail(w http.ResponseWriter, status int) { http.Error(w, http.StatusText(status), status) }

// maxPasswords is the maximum count of password results that are remembered.
const maxPasswords = 64

// authenticated reports whether a request has a user's name and password.
func (s *site) authenticated(c *Config, r *http.Request) bool {
	name, password, ok := r.BasicAuth()
	if !ok {
		return false
	}
	hash, known := c.Users[name]
	if !known {
		// The password is compared with any user's hash, so that the time does not
		// reveal which names exist.
		for _, hash = range c.Users {
			break
		}
	}
	key := sha256.Sum256([]byte(hash + "\x00" + password))
	s.checking.Lock()
	defer s.checking.Unlock()
	valid, checked := s.passwords[key]
	if !checked {
		valid = bcrypt.CompareHashAndPassword([]byte(hash), []byte(password)) == nil
		if len(s.passwords) >= maxPasswords || s.passwords == nil {
			s.passwords = map[[sha256.Size]byte]bool{}
		}
		s.passwords[key] = valid
	}
	return known && valid
}

// A bucket limits requests: each takes a token, and a token is added per interval. The nil
// bucket has no limit.
type bucket struct {
	size     float64
	interval time.Duration
	now      func() time.Time

	mu     sync.Mutex
	tokens float64
	at     time.Time
}

func newBucket(burst uint64, interval time.Duration, now func() time.Time) *bucket {
	if interval <= 0 {
		return nil
	}
	return &bucket{size: float64(burst), interval: interval, now: now, tokens: float64(burst), at: now()}
}

// take takes a token. It reports whether the bucket had a token.
func (b *bucket) take() bool {
	if b == nil {
		return true
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	now := b.now()
	b.tokens = min(b.size, b.tokens+float64(now.Sub(b.at))/float64(b.interval))
	b.at = now
	if b.tokens < 1 {
		return false
	}
	b.tokens--
	return true
}
