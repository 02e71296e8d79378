package drain

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/ibkit/ibkit/internal/jsonframe"

	"github.com/ibkit/ibkit/internal/interrupt"
)

// A statusError is an answer of the API server that is no success.
type statusError struct {
	code int
	text string
}

func (e *statusError) Error() string { return e.text }

// isTemporary reports whether a request may succeed later.
func (e *statusError) isTemporary() bool {
	return e.code == http.StatusTooManyRequests || e.code >= http.StatusInternalServerError
}

// A credentialError is the reason why a pod cannot use the API.
type credentialError struct{ error }

// Pauses between attempts.
const (
	firstPause = 100 * time.Millisecond
	maxPause   = 5 * time.Second
)

// requestLimit is the time of an attempt.
const requestLimit = 10 * time.Second

// The remedies for errors.
const (
	hintRights = "the service account needs a ClusterRole with apiGroups [\"\"], resources [nodes], verbs [get, patch]: packaging/kubernetes/taint"
	hintToken  = "the pod needs a service account: serviceAccountName and automountServiceAccountToken: true, as in packaging/kubernetes/taint"
	hintAway   = "once the API server is back: ibkit mesh analyze RESULTS --apply kubernetes, or the printed kubectl commands"
)

// request sends a request about a node, again while the API server is away, for a limited time.
func (k *Kubernetes) request(ctx context.Context, method, name string, body []byte) (*node, error) {
	if k.away != nil {
		return nil, k.away
	}
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	for pause := firstPause; ; pause = min(2*pause, maxPause) {
		n, err := k.try(limited, method, name, body)
		if err == nil {
			return n, nil
		}
		status, answered := errors.AsType[*statusError](err)
		credential, _ := errors.AsType[*credentialError](err)
		certificate, _ := errors.AsType[*tls.CertificateVerificationError](err)
		err = fmt.Errorf("%s node %s: %w", strings.ToLower(method), name, err)
		switch {
		case credential != nil, answered && status.code == http.StatusUnauthorized:
			k.hint = hintToken
			return nil, err
		case answered && status.code == http.StatusForbidden:
			k.hint = hintRights
			return nil, err
		case answered && !status.isTemporary(), certificate != nil:
			return nil, err
		case interrupt.Sleep(limited, pause) != nil:
			k.hint, k.away = hintAway, err
			return nil, err
		}
	}
}

// maxAnswer limits an answer of the API server in bytes.
const maxAnswer = 4 << 20

// try sends a request once.
func (k *Kubernetes) try(ctx context.Context, method, name string, body []byte) (*node, error) {
	ctx, cancel := context.WithTimeout(ctx, requestLimit)
	defer cancel()
	at := url.URL{Scheme: "https", Host: net.JoinHostPort(k.Getenv(InPod), k.Getenv("KUBERNETES_SERVICE_PORT")), Path: "/api/v1/nodes/" + name}
	r, err := http.NewRequestWithContext(ctx, method, at.String(), bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	token, err := os.ReadFile(filepath.Join(k.Account, "token")) // again: it changes each hour
	if err != nil {
		return nil, &credentialError{fmt.Errorf("read the service account: %w", err)}
	}
	if err := k.connect(); err != nil {
		return nil, err
	}
	r.Header.Set("Authorization", "Bearer "+strings.TrimSpace(string(token)))
	r.Header.Set("Accept", "application/json")
	if body != nil {
		r.Header.Set("Content-Type", "application/merge-patch+json")
	}
	answer, err := k.transport.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(io.LimitReader(answer.Body, maxAnswer))
	if err != nil {
		return nil, err
	}
	if answer.StatusCode != http.StatusOK {
		return nil, newStatusError(answer.StatusCode, text)
	}
	n := new(node)
	if err := json.Unmarshal(text, n); err != nil || n.Metadata.ResourceVersion == "" {
		return nil, &statusError{answer.StatusCode, "invalid answer: want a Node"}
	}
	return n, nil
}

// maxMessage limits the message of an answer in an error.
const maxMessage = 300

// newStatusError returns the error of an answer: a Status of the API, or another text.
func newStatusError(code int, text []byte) error {
	var status struct{ Message string }
	if json.Unmarshal(text, &status) != nil || status.Message == "" {
		status.Message = http.StatusText(code)
	}
	return &statusError{code, jsonframe.Printable(fmt.Sprintf("%.*s (status %d)", maxMessage, status.Message, code))}
}

// connect makes the transport, which trusts the certificates of the service account only, and
// uses no proxy.
func (k *Kubernetes) connect() error {
	if k.transport != nil {
		return nil
	}
	file := filepath.Join(k.Account, "ca.crt")
	text, err := os.ReadFile(file)
	if err != nil {
		return &credentialError{fmt.Errorf("read the service account: %w", err)}
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(text) {
		return &credentialError{fmt.Errorf("read the service account: invalid %s: want certificates in PEM", file)}
	}
	k.transport = &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}, ForceAttemptHTTP2: true}
	return nil
}
