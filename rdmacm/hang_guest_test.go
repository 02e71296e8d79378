//go:build inguest

package rdmacm_test

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"testing"
	"time"

	"github.com/ibkit/ibkit/rdmacm"
)

// TestHang connects to port 7471 up to the step that IBKIT_HANG names, and waits there
// until the process is killed. It does not run without the step.
func TestHang(t *testing.T) {
	step := os.Getenv("IBKIT_HANG")
	if step == "" {
		t.Fatal("IBKIT_HANG is not set")
	}
	reached := func(at string) {
		if at == step {
			fmt.Println("hanging")
			<-time.After(time.Hour)
		}
	}
	peer := rdmacm.IPAddr{AddrPort: netip.MustParseAddrPort(address + ":7471")}
	c, id := resolved(t, rdmacm.PortSpaceTCP, peer)
	reached("address")
	must(t, id.ResolveRoute(time.Second))
	next(t, c, rdmacm.EventRouteResolved)
	reached("route")
	var own queuePair
	qp, err := own.setup(context.Background(), id)
	must(t, err)
	param := rdmacm.DefaultParam
	param.QPN = qp.Number()
	must(t, id.Connect(peer, param))
	reached("connect")
	next(t, c, rdmacm.EventConnectResponse)
	reached("response")
	if step == "reject" {
		must(t, id.Reject([]byte("changed my mind")))
		reached("reject")
	}
	must(t, errors.Join(id.ReadyQP(qp, nil), id.Establish()))
	reached("establish")
	must(t, id.Disconnect())
	reached("disconnect")
	t.Errorf("unknown step %q", step)
}
