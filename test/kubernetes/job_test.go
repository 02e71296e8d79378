//go:build kubernetes

package kubernetes

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A job is an Indexed Job from packaging/kubernetes, in a namespace of its own.
type job struct {
	*cluster
	namespace string
}

// A variant selects manifests and changes them.
type variant struct {
	directory string // below packaging/kubernetes
	taint     bool
	pods      int
	patch     string // further JSON patches of the Job
	args      []string
}

// text returns the kustomization in a directory.
func (v variant) text(t *testing.T, dir, namespace string) string {
	t.Helper()
	manifests, err := filepath.Abs("../../packaging/kubernetes")
	if err != nil {
		t.Fatal(err)
	}
	if manifests, err = filepath.Rel(dir, manifests); err != nil {
		t.Fatal(err)
	}
	text := "namespace: " + namespace + "\nresources: [" + filepath.Join(manifests, v.directory) + "]\n"
	if v.taint {
		text += "components: [" + filepath.Join(manifests, "taint") + "]\n"
	}
	text += "patches:\n- target: {kind: Job}\n  patch: |-\n"
	for _, path := range []string{"completions", "parallelism"} {
		text += fmt.Sprintf("    - {op: replace, path: /spec/%s, value: %d}\n", path, v.pods)
	}
	const args = "/spec/template/spec/containers/0/args/"
	text += fmt.Sprintf("    - {op: replace, path: %s2, value: --ranks=%d}\n", args, v.pods)
	for _, arg := range append([]string{"--sim=" + fabric}, v.args...) {
		text += fmt.Sprintf("    - {op: add, path: %s-, value: %q}\n", args, arg)
	}
	return text + v.patch
}

// startJob starts a Job. The test removes its namespace.
func (c *cluster) startJob(t *testing.T, v variant) *job {
	t.Helper()
	dir := t.TempDir()
	name := strings.ToLower(strings.NewReplacer("/", "-", "_", "-").Replace(t.Name()))
	j := &job{c, name}
	if err := os.WriteFile(filepath.Join(dir, "kustomization.yaml"), []byte(v.text(t, dir, name)), 0o600); err != nil {
		t.Fatal(err)
	}
	c.must(t, "create", "namespace", name)
	t.Cleanup(func() {
		if _, err := c.kubectl(context.Background(), "delete", "namespace", name, "--wait=false"); err != nil {
			t.Error(err)
		}
	})
	c.must(t, "apply", "--server-side", "--validate=strict", "-k", dir)
	return j
}

// kubectl runs a command in the Job's namespace.
func (j *job) must(t *testing.T, args ...string) string {
	t.Helper()
	return j.cluster.must(t, append([]string{"--namespace", j.namespace}, args...)...)
}

// A pod is a part of a pod's object.
type pod struct {
	Metadata struct {
		Name   string
		Labels map[string]string
	}
	Spec   struct{ NodeName string }
	Status struct {
		Conditions        []condition
		ContainerStatuses []struct {
			State struct {
				Terminated *struct {
					ExitCode int
					Message  string
				}
			}
		}
	}
}

// A condition is a condition of a pod.
type condition struct{ Type string }

// end returns the exit code and the message of a pod that ended, or -1.
func (p pod) end() (code int, message string) {
	if len(p.Status.ContainerStatuses) == 0 || p.Status.ContainerStatuses[0].State.Terminated == nil {
		return -1, ""
	}
	end := p.Status.ContainerStatuses[0].State.Terminated
	return end.ExitCode, end.Message
}

// isEvicted reports whether a pod was evicted.
func (p pod) isEvicted() bool {
	return slices.ContainsFunc(p.Status.Conditions, func(c condition) bool { return c.Type == "DisruptionTarget" })
}

// pods returns the pods of the Job with an index, or all with -1.
func (j *job) pods(t *testing.T, index int) []pod {
	t.Helper()
	var list struct{ Items []pod }
	if err := json.Unmarshal([]byte(j.must(t, "get", "pods", "-o", "json")), &list); err != nil {
		t.Fatal(err)
	}
	return slices.DeleteFunc(list.Items, func(p pod) bool {
		return index >= 0 && p.Metadata.Labels["batch.kubernetes.io/job-completion-index"] != fmt.Sprint(index)
	})
}

// wait waits for a condition of the Job, and returns its message.
func (j *job) wait(t *testing.T, condition string) string {
	t.Helper()
	j.must(t, "wait", "--for=condition="+condition, "--timeout=10m", "job/ibkit-mesh")
	return j.must(t, "get", "job", "ibkit-mesh", "-o", `jsonpath={.status.conditions[?(@.type=="`+condition+`")].message}`)
}

// checkVerdict checks the exit code of the coordinator, its termination message and its output.
func (j *job) checkVerdict(t *testing.T, code int, message, output string) {
	t.Helper()
	pods := slices.DeleteFunc(j.pods(t, 0), pod.isEvicted)
	if len(pods) != 1 {
		t.Fatalf("got %d pods with index 0, want one: a verdict is not repeated", len(pods))
	}
	if gotCode, got := pods[0].end(); gotCode != code || !strings.Contains(got, message) {
		t.Errorf("got exit code %d and message %q, want %d and %q", gotCode, got, code, message)
	}
	if got := j.must(t, "logs", pods[0].Metadata.Name); !strings.Contains(got, output) {
		t.Errorf("got %s, want %q", got, output)
	}
}

// A node is the part of a node's object that its users change.
type node struct {
	Metadata struct {
		Name                string
		Labels, Annotations map[string]string
	}
	Spec struct {
		Unschedulable bool
		Taints        []struct{ Key, Value, Effect string }
	}
}

// nodes returns all nodes as text.
func (c *cluster) nodes(t *testing.T) map[string]string {
	t.Helper()
	var list struct{ Items []node }
	if err := json.Unmarshal([]byte(c.must(t, "get", "nodes", "-o", "json")), &list); err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	for _, n := range list.Items {
		maps.DeleteFunc(n.Metadata.Annotations, func(key, _ string) bool { return strings.HasPrefix(key, "virtual-kubelet.io/") })
		all[n.Metadata.Name] = fmt.Sprintf("%+v", n)
	}
	return all
}
