//go:build guest

package efa_test

import (
	"strings"
	"testing"

	"github.com/ibkit/ibkit/internal/testenv"
	"github.com/ibkit/ibkit/test/guest/internal/peers"
	"github.com/ibkit/ibkit/test/guest/internal/verbstest"
)

// TestSizes runs all sizes of the programs, which end at the adapter's limit for sends, and a
// mesh of two workers.
func TestSizes(t *testing.T) {
	t.Parallel()
	if !testenv.AllCases() { // 60 s
		return
	}
	g := verbstest.Boot(t, adapter("efa_reorder=1"))
	peers.Run(t, g, peers.Options{Address: address, Count: "10", Common: srd}, []peers.Test{
		{"ib_send_bw -c SRD -a", "--peer perftest --test send-bw --transport srd --size sweep"},
		{"ib_read_bw -c SRD -a", "--peer perftest --test read-bw --transport srd --size sweep"},
	})
	const token = "IBKIT_MESH_TOKEN=secret exec ibkit mesh "
	serve := g.MustStart(t, "sh", "-c", token+"serve --expect 2 --bind "+address+":18600 --transport srd --verify --iterations 100")
	if err := serve.AwaitOutput(t.Context(), "waiting for"); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"a", "b"} {
		g.MustStart(t, "sh", "-c", token+"run --join "+address+":18600 --name "+name)
	}
	r, err := serve.Wait(t.Context())
	if err != nil || !strings.Contains(r.Stdout, "2 flows between 2 ends: ") || !strings.Contains(r.Stdout, " 0 failed") {
		t.Errorf("mesh: got error %v, output %s%s, want two flows", err, r.Stdout, r.Stderr)
	}
	verbstest.CheckKernel(t, g)
}
