package drain

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"

	"github.com/ibkit/ibkit/internal/lazyregexp"
	"github.com/ibkit/ibkit/internal/tool/mesh"

	"github.com/ibkit/ibkit/internal/interrupt"
)

// TaintKey is the key of the taint and of the annotation of a bad node.
const TaintKey = "ibkit.io/mesh"

// InPod is the environment variable that Kubernetes sets in all pods.
const InPod = "KUBERNETES_SERVICE_HOST"

// ServiceAccount is the directory with the credentials of a pod.
const ServiceAccount = "/var/run/secrets/kubernetes.io/serviceaccount"

// Kubernetes taints nodes through the API server, as the service account of its pod.
type Kubernetes struct {
	Getenv  func(string) string
	Account string // directory of the credentials

	transport http.RoundTripper // nil: made from the credentials
	hint      string
	away      error // why the API server does not answer
}

func (*Kubernetes) String() string { return "Kubernetes" }

// Hint returns the remedy for the last error that has one.
func (k *Kubernetes) Hint() string { return k.hint }

// Command returns the command that taints a node.
func (*Kubernetes) Command(b mesh.BadHost) []string {
	return []string{"kubectl", "taint", "nodes", b.Host, TaintKey + "=" + string(b.Kind) + ":" + noSchedule}
}

// noSchedule keeps new pods away from a node, and lets others run.
const noSchedule = "NoSchedule"

// A node is the part of a Node of the core/v1 API that matters here.
type node struct {
	Metadata struct {
		ResourceVersion string `json:"resourceVersion"`
	} `json:"metadata"`
	Spec struct {
		Unschedulable bool              `json:"unschedulable"`
		Taints        []json.RawMessage `json:"taints"`
	} `json:"spec"`
}

// isDrained reports whether a node is cordoned, or has the taint.
func (n *node) isDrained() bool {
	return n.Spec.Unschedulable || slices.ContainsFunc(n.Spec.Taints, func(raw json.RawMessage) bool {
		var taint struct{ Key string }
		return json.Unmarshal(raw, &taint) == nil && taint.Key == TaintKey
	})
}

// nodeObjectName is a valid name of a Node: a DNS subdomain.
var nodeObjectName = lazyregexp.New(`^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$`)

// Drained returns the nodes that the API server knows, and whether they are drained.
func (k *Kubernetes) Drained(ctx context.Context, names []string) (map[string]bool, error) {
	drained := map[string]bool{}
	for _, name := range names {
		if !nodeObjectName.MatchString(name) {
			continue
		}
		n, err := k.request(ctx, http.MethodGet, name, nil)
		switch status, _ := errors.AsType[*statusError](err); {
		case err == nil:
			drained[name] = n.isDrained()
		case status == nil || status.code != http.StatusNotFound:
			return drained, err
		}
	}
	return drained, nil
}

// Drain taints a node unless it is drained. The patch has the version of the node as it was
// read, so that a change in between is not undone, but read.
func (k *Kubernetes) Drain(ctx context.Context, b mesh.BadHost) error {
	for pause := firstPause; ; pause = min(2*pause, maxPause) {
		n, err := k.request(ctx, http.MethodGet, b.Host, nil)
		if err != nil || n.isDrained() {
			return err
		}
		_, err = k.request(ctx, http.MethodPatch, b.Host, n.tainted(b))
		if status, ok := errors.AsType[*statusError](err); !ok || status.code != http.StatusConflict || pause == maxPause {
			return err
		}
		if interrupt.Sleep(ctx, pause) != nil {
			return err
		}
	}
}

// tainted returns the merge patch (RFC 7386) that taints a node.
func (n *node) tainted(b mesh.BadHost) []byte {
	var patch struct {
		Metadata struct {
			ResourceVersion string            `json:"resourceVersion"`
			Annotations     map[string]string `json:"annotations"`
		} `json:"metadata"`
		Spec struct {
			Taints []json.RawMessage `json:"taints"`
		} `json:"spec"`
	}
	taint, _ := json.Marshal(map[string]string{"key": TaintKey, "value": string(b.Kind), "effect": noSchedule}) // never fails
	patch.Metadata.ResourceVersion = n.Metadata.ResourceVersion
	patch.Metadata.Annotations = map[string]string{TaintKey: reason(b)}
	patch.Spec.Taints = append(slices.Clone(n.Spec.Taints), taint)
	text, _ := json.Marshal(patch) // never fails: the raw messages are from JSON
	return text
}
