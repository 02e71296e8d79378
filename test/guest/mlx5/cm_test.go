//go:build guest

package mlx5_test

import (
	"testing"

	"github.com/ibkit/ibkit/internal/testenv"
	"github.com/ibkit/ibkit/test/guest"
	"github.com/ibkit/ibkit/test/guest/internal/peers"
	"github.com/ibkit/ibkit/test/guest/internal/verbstest"
)

// TestManager connects RC and XRC queue pairs with the connection manager, with Debian's
// programs at both ends, at one end, and ibkit at both. The output is the same as Debian's.
func TestManager(t *testing.T) {
	t.Parallel()
	s := spec(t)
	s.Devices = []guest.Device{{Name: "rxe0", Link: guest.Dummy}} // for the network device
	s.Tools = append(s.Tools, "ip", "rdma", "rdma_xclient", "rdma_xserver", "rdma_client", "rdma_server", "ucmatose")
	g := guest.New(t, s)
	g.Must(t, "rdma", "link", "delete", "rxe0")
	host := g.Ports[0].Addr.String()
	reload(t, g, "netdev="+g.Ports[0].Netdev, "cm=1", "strict=1")
	peers.Managed(t, g, host, testenv.Cases([]peers.Pair{
		{Server: "rdma_server", Client: "rdma_client -s HOST"},
		{Server: "ucmatose -c 3 -C 2", Client: "ucmatose -s HOST -c 3 -C 2"},
		{Server: "rdma_xserver -c x", Client: "rdma_xclient -s HOST -c x"},
	}, []peers.Pair{
		{Server: "rdma_xserver", Client: "rdma_xclient -s HOST"},
		{Server: "rdma_xserver -c X -p 99", Client: "rdma_xclient -s HOST -c X -p 99"},
	}...), peers.Identical)
	verbstest.CheckKernel(t, g)
}
