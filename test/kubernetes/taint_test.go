//go:build kubernetes

package kubernetes

import (
	"context"
	"maps"
	"slices"
	"strings"
	"testing"
)

// tolerated lets pods run on bad nodes.
const tolerated = `    - {op: add, path: /spec/template/spec/tolerations, value: [{key: ibkit.io/mesh, operator: Exists}]}
`

// TestMesh_Taint taints the slow node, once, and changes no other node.
func TestMesh_Taint(t *testing.T) {
	kubernetes.untaintAfter(t)
	for _, test := range []struct {
		name    string
		args    []string
		changed []string // nodes
		message string
		output  string
	}{
		{"slow-link", []string{"--fault=pod01-leaf001[5]=50%"}, nil, "slow-link pod01-leaf001[5]", ""},
		{"above-the-limit", []string{"--fault=host00005=50%", "--fault=host00006=50%", "--max-drain=1"}, nil, "slow-node host00006", "drain 2 hosts: want at most 1"},
		{"slow-node", []string{"--fault=host00005=50%"}, []string{"host00005"}, "slow-node host00005", "drained: host00005\n"},
		{"again", []string{"--fault=host00005=50%"}, nil, "slow-node host00005", "drained before: host00005\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			before := kubernetes.nodes(t)
			j := kubernetes.startJob(t, variant{directory: "base", taint: true, pods: nodeCount, patch: tolerated, args: test.args})
			j.wait(t, "Failed")
			j.checkVerdict(t, 3, test.message, test.output)
			if got := kubernetes.changed(t, before); !slices.Equal(got, test.changed) {
				t.Errorf("got nodes %q changed, want %q", got, test.changed)
			}
		})
	}
	const want = "slow-node:NoSchedule slow-node: 50 % of its class"
	if got := kubernetes.must(t, "get", "node", "host00005", "-o", `jsonpath={.spec.taints[?(@.key=="ibkit.io/mesh")].value}:{.spec.taints[0].effect} {.metadata.annotations.ibkit\.io/mesh}`); !strings.HasPrefix(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// changed returns the nodes with other labels, annotations or taints than before.
func (c *cluster) changed(t *testing.T, before map[string]string) (names []string) {
	t.Helper()
	after := c.nodes(t)
	for _, name := range slices.Sorted(maps.Keys(after)) {
		if after[name] != before[name] {
			names = append(names, name)
		}
	}
	return names
}

// untaintAfter removes all taints after the test.
func (c *cluster) untaintAfter(t *testing.T) {
	t.Cleanup(func() {
		for _, command := range []string{"taint", "annotate"} {
			if _, err := c.kubectl(context.Background(), command, "nodes", "host00005", "ibkit.io/mesh-"); err != nil {
				t.Error(err)
			}
		}
	})
}

// TestMesh_Rights checks that the service account may only read and patch nodes.
func TestMesh_Rights(t *testing.T) {
	j := kubernetes.startJob(t, variant{directory: "base", taint: true, pods: 1})
	for _, test := range []struct{ verb, resource, want string }{
		{"get", "nodes", "yes"}, {"patch", "nodes", "yes"}, {"update", "nodes", "no"}, {"delete", "nodes", "no"}, {"list", "nodes", "no"},
		{"patch", "nodes --subresource=status", "no"}, {"get", "pods", "no"}, {"delete", "pods", "no"}, {"get", "secrets", "no"}, {"create", "jobs.batch", "no"},
	} {
		t.Run(test.verb+" "+test.resource, func(t *testing.T) {
			args := []string{"--namespace", j.namespace, "auth", "can-i", test.verb, "--as=system:serviceaccount:" + j.namespace + ":ibkit-mesh"}
			out, err := kubernetes.kubectl(t.Context(), append(args, strings.Fields(test.resource)...)...)
			if got := strings.TrimSpace(out); got != test.want {
				t.Errorf("got %q, %v, want %s", got, err, test.want)
			}
		})
	}
}
