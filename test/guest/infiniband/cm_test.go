//go:build guest

package infiniband_test

import (
	"testing"

	"github.com/ibkit/ibkit/test/guest"
	"github.com/ibkit/ibkit/test/guest/ibports"
)

// TestCM connects two InfiniBand ports by GID, through the kernel's connection manager and
// the fabric's subnet administration.
func TestCM(t *testing.T) {
	t.Parallel()
	spec := ibports.Spec(t, "rdma")
	spec.Modules = append(spec.Modules, "rdma_ucm")
	spec.Programs = append(spec.Programs, guest.Program{Package: "github.com/ibkit/ibkit/rdmacm", Test: true})
	g := guest.New(t, spec)
	ibports.PlugIn(t, g, "demo", "node02", "node07")
	t.Log(g.Must(t, "rdmacm.test", "-test.v", "-test.run=^TestInfiniBand"))
}
