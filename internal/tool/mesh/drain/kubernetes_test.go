package drain

import (
	"encoding/json"
	"encoding/pem"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ibkit/ibkit/internal/tool/mesh"
	"github.com/ibkit/ibkit/report"
)

// An apiServer has Node objects, as JSON by name, and faults by "METHOD NAME": a list of status
// codes, 0 for an answer without a fault and -1 for no connection. The last one remains.
type apiServer struct {
	t      *testing.T
	nodes  map[string]string
	faults map[string][]int
	log    []string
}

const (
	plainNode    = `{"metadata":{"name":"n1","resourceVersion":"7","labels":{"a":"b"}},"spec":{"podCIDR":"10.1.0.0/24"}}`
	otherTaint   = `{"metadata":{"resourceVersion":"8"},"spec":{"taints":[{"key":"gpu","effect":"NoExecute","timeAdded":"2026-11-28T10:00:00Z"}]}}`
	taintedNode  = `{"metadata":{"resourceVersion":"9"},"spec":{"taints":[{"key":"ibkit.io/mesh","value":"hung","effect":"NoSchedule"}]}}`
	cordonedNode = `{"metadata":{"resourceVersion":"9"},"spec":{"unschedulable":true,"taints":[{"key":"node.kubernetes.io/unschedulable","effect":"NoSchedule"}]}}`
)

func (s *apiServer) fault(call string) int {
	codes := s.faults[call]
	if len(codes) == 0 {
		return 0
	}
	if len(codes) > 1 {
		s.faults[call] = codes[1:]
	}
	return codes[0]
}

// RoundTrip answers as the API server does, for a merge patch and a version in it.
func (s *apiServer) RoundTrip(r *http.Request) (*http.Response, error) {
	name, ok := strings.CutPrefix(r.URL.Path, "/api/v1/nodes/")
	if !ok || r.Header.Get("Authorization") != "Bearer secret" || r.URL.Host != "10.0.0.1:443" || r.URL.Scheme != "https" {
		s.t.Errorf("got %v %v", r.URL, r.Header)
	}
	s.log = append(s.log, r.Method+" "+name)
	node, known := s.nodes[name]
	code, answer := http.StatusOK, node
	switch fault := s.fault(r.Method + " " + name); {
	case fault < 0:
		return nil, errors.New("dial tcp 10.0.0.1:443: connect: connection refused")
	case fault > 0:
		code, answer = fault, `{"kind":"Status","message":"the reason"}`
		if fault == http.StatusConflict { // another client has changed the node
			s.nodes[name] = strings.Replace(node, `"resourceVersion":"7"`, `"resourceVersion":"70"`, 1)
		}
	case !known:
		code, answer = http.StatusNotFound, `{"kind":"Status","message":"nodes \"`+name+`\" not found"}`
	case r.Method == http.MethodPatch:
		text, err := io.ReadAll(r.Body)
		if err != nil || r.Header.Get("Content-Type") != "application/merge-patch+json" {
			s.t.Errorf("got %v, %v", r.Header, err)
		}
		s.nodes[name] = string(text)
		answer = string(text)
	}
	return &http.Response{StatusCode: code, Body: io.NopCloser(strings.NewReader(answer))}, nil
}

// account returns a directory with a token.
func account(t *testing.T) string {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "token"), []byte("secret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

func inPod(name string) string {
	return map[string]string{InPod: "10.0.0.1", "KUBERNETES_SERVICE_PORT": "443"}[name]
}

// slowHosts returns hosts to be drained.
func slowHosts(names ...string) (hosts []mesh.BadHost) {
	for _, name := range names {
		hosts = append(hosts, mesh.BadHost{Host: name, Kind: report.SlowNode, Detail: "40 % of its class", Action: mesh.Drain})
	}
	return hosts
}

func TestApply_Kubernetes(t *testing.T) {
	const patch = `{"metadata":{"resourceVersion":"VERSION","annotations":{"ibkit.io/mesh":"slow-node: 40 % of its class"}},"spec":{"taints":[OTHER{"effect":"NoSchedule","key":"ibkit.io/mesh","value":"slow-node"}]}}`
	patched := func(version, other string) string {
		return strings.NewReplacer("VERSION", version, "OTHER", other).Replace(patch)
	}
	for name, test := range map[string]struct {
		node   string
		faults map[string][]int
		most   int
		want   string // action, with the error
		after  string // n1
		calls  int
		hint   string
		within int // seconds
	}{
		"taint":           {node: plainNode, want: "drained", after: patched("7", ""), calls: 3},
		"other taint":     {node: otherTaint, want: "drained", after: patched("8", `{"key":"gpu","effect":"NoExecute","timeAdded":"2026-11-28T10:00:00Z"},`), calls: 3},
		"tainted":         {node: taintedNode, want: "drained-before", after: taintedNode, calls: 1},
		"cordoned":        {node: cordonedNode, want: "drained-before", after: cordonedNode, calls: 1},
		"above":           {node: plainNode, most: -1, want: "withheld", after: plainNode},
		"no such node":    {want: "failed: Kubernetes has no node of this name", calls: 1},
		"conflict":        {node: plainNode, faults: map[string][]int{"PATCH n1": {409, 0}}, want: "drained", after: patched("70", ""), calls: 5, within: 1},
		"conflicts":       {node: plainNode, faults: map[string][]int{"PATCH n1": {409}}, want: "failed: patch node n1: the reason (status 409)", calls: 15, within: 20},
		"no get":          {node: plainNode, faults: map[string][]int{"GET n1": {403}}, want: "failed: get node n1: the reason (status 403)", after: plainNode, calls: 1, hint: hintRights},
		"no patch":        {node: plainNode, faults: map[string][]int{"PATCH n1": {403}}, want: "failed: patch node n1: the reason (status 403)", after: plainNode, calls: 3, hint: hintRights},
		"wrong token":     {node: plainNode, faults: map[string][]int{"GET n1": {401}}, want: "failed: get node n1: the reason (status 401)", after: plainNode, calls: 1, hint: hintToken},
		"away":            {node: plainNode, faults: map[string][]int{"GET n1": {-1}}, want: "failed: get node n1: dial tcp 10.0.0.1:443: connect: connection refused", after: plainNode, calls: 17, hint: hintAway, within: 61},
		"away for a time": {node: plainNode, faults: map[string][]int{"GET n1": {-1, -1, 503, 429, 0}, "PATCH n1": {500, 0}}, want: "drained", after: patched("7", ""), calls: 8, within: 3},
	} {
		t.Run(name, func(t *testing.T) {
			dir := account(t)
			synctest.Test(t, func(t *testing.T) {
				s := &apiServer{t: t, nodes: map[string]string{}, faults: test.faults}
				if test.node != "" {
					s.nodes["n1"] = test.node
				}
				k := &Kubernetes{Getenv: inPod, Account: dir, transport: s}
				hosts, began := slowHosts("n1"), time.Now()
				err := Apply(t.Context(), k, hosts, 1+test.most)
				got := string(hosts[0].Action)
				if hosts[0].Error != "" {
					got += ": " + hosts[0].Error
				}
				if got != test.want || (err != nil) != (test.most < 0) {
					t.Errorf("got %q, %v, want %q", got, err, test.want)
				}
				if test.after != "" && s.nodes["n1"] != test.after {
					t.Errorf("got node\n%s, want\n%s", s.nodes["n1"], test.after)
				}
				if len(s.log) != test.calls {
					t.Errorf("got %d calls %q, want %d", len(s.log), s.log, test.calls)
				}
				if k.Hint() != test.hint {
					t.Errorf("got hint %q, want %q", k.Hint(), test.hint)
				}
				if took := time.Since(began).Seconds(); took > float64(test.within) {
					t.Errorf("took %.1f s, want at most %d s", took, test.within)
				}
			})
		})
	}
}

// TestKubernetes_away checks that an API server that is away is asked for a minute, not for a
// minute per node, and that names which are no object names are not asked for.
func TestKubernetes_away(t *testing.T) {
	dir := account(t)
	synctest.Test(t, func(t *testing.T) {
		s := &apiServer{t: t, nodes: map[string]string{"n1": plainNode, "n2": plainNode, "n3": plainNode}, faults: map[string][]int{"PATCH n1": {-1}}}
		k := &Kubernetes{Getenv: inPod, Account: dir, transport: s}
		hosts, began := slowHosts("n1", "n2", "../pods", "n3", "N1"), time.Now()
		if err := Apply(t.Context(), k, hosts, 5); err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, b := range hosts {
			got = append(got, b.Error)
		}
		const away, unknown = "patch node n1: dial tcp 10.0.0.1:443: connect: connection refused", "Kubernetes has no node of this name"
		if want := []string{away, away, unknown, away, unknown}; !slices.Equal(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
		if took := time.Since(began); took > 61*time.Second {
			t.Errorf("took %v, want a minute", took)
		}
	})
}

// TestKubernetes_credentials checks that a pod without a service account is named.
func TestKubernetes_credentials(t *testing.T) {
	for name, dir := range map[string]string{"no token": t.TempDir(), "no certificate": account(t)} {
		t.Run(name, func(t *testing.T) {
			k := &Kubernetes{Getenv: inPod, Account: dir}
			hosts := slowHosts("n1")
			if err := Apply(t.Context(), k, hosts, 1); err != nil {
				t.Fatal(err)
			}
			if got := hosts[0]; got.Action != mesh.DrainFailed || !strings.HasPrefix(got.Error, "get node n1: read the service account: open ") || k.Hint() != hintToken {
				t.Errorf("got %+v and hint %q", got, k.Hint())
			}
		})
	}
}

// TestKubernetes_TLS sends requests to a server with a certificate: it is verified, and a new
// token is read.
func TestKubernetes_TLS(t *testing.T) {
	var tokens []string
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		tokens = append(tokens, r.Header.Get("Authorization"))
		_ = json.NewEncoder(w).Encode(map[string]any{"metadata": map[string]string{"resourceVersion": "1"}})
	}))
	defer server.Close()
	at, err := url.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	getenv := func(name string) string {
		return map[string]string{InPod: at.Hostname(), "KUBERNETES_SERVICE_PORT": at.Port()}[name]
	}
	dir, other := account(t), account(t)
	write := func(dir, name string, text []byte) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(dir, "ca.crt", pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}))
	write(other, "ca.crt", []byte("no certificate"))
	k := &Kubernetes{Getenv: getenv, Account: dir}
	for _, token := range []string{"first", "second"} {
		write(dir, "token", []byte(token))
		if err := k.Drain(t.Context(), slowHosts("n1")[0]); err != nil {
			t.Fatal(err)
		}
	}
	if want := []string{"Bearer first", "Bearer first", "Bearer second", "Bearer second"}; !slices.Equal(tokens, want) {
		t.Errorf("got tokens %q, want %q", tokens, want)
	}
	if _, err := (&Kubernetes{Getenv: getenv, Account: other}).Drained(t.Context(), []string{"n1"}); err == nil || !strings.HasSuffix(err.Error(), "want certificates in PEM") {
		t.Errorf("got %v, want an error about the certificates", err)
	}
}
