//go:build inguest

package rdmacm_test

import (
	"errors"
	"fmt"
	"net/netip"
	"os/exec"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ibkit/ibkit/rdmacm"
	"github.com/ibkit/ibkit/verbs"
)

// next returns the next event and checks its type.
func next(t *testing.T, c *rdmacm.Channel, want rdmacm.EventType) rdmacm.Event {
	t.Helper()
	e, err := c.Next(withTimeout(t))
	if err != nil || e.Type != want {
		t.Fatalf("got %v, %v, want %v", e.Type, err, want)
	}
	return e
}

// resolved returns a channel and an ID with its address resolved.
func resolved(t *testing.T, space rdmacm.PortSpace, peer rdmacm.IPAddr) (*rdmacm.Channel, *rdmacm.ID) {
	t.Helper()
	c, err := rdmacm.NewChannel()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	id, err := c.NewID(space, 0)
	if err != nil {
		t.Fatal(err)
	}
	local := rdmacm.IPAddr{AddrPort: netip.MustParseAddrPort(address + ":0")}
	if err := id.ResolveAddr(local, peer, time.Second); err != nil {
		t.Fatal(err)
	}
	next(t, c, rdmacm.EventAddrResolved)
	return c, id
}

// TryNext does not wait.
func TestGuestTryNext(t *testing.T) {
	leaves(t)
	c, id := resolved(t, rdmacm.PortSpaceTCP, rdmacm.IPAddr{AddrPort: netip.MustParseAddrPort(address + ":1")})
	if e, ok, err := c.TryNext(); ok || err != nil {
		t.Errorf("got %v, %v, %v, want no event", e, ok, err)
	}
	if err := id.ResolveRoute(time.Second); err != nil {
		t.Fatal(err)
	}
	var e rdmacm.Event
	var ok bool
	var err error
	for end := time.Now().Add(time.Minute); !ok && err == nil && time.Now().Before(end); {
		e, ok, err = c.TryNext()
	}
	if err != nil || e.ID != id || e.Type != rdmacm.EventRouteResolved {
		t.Errorf("got %v, %v, want %v", e.Type, err, rdmacm.EventRouteResolved)
	}
}

// A multicast group's members learn its destination.
func TestGuestMulticast(t *testing.T) {
	leaves(t)
	group := rdmacm.IPAddr{AddrPort: netip.MustParseAddrPort("239.1.2.3:0")}
	c, id := resolved(t, rdmacm.PortSpaceUDP, group)
	g, err := id.Join(group, rdmacm.JoinFull)
	if err != nil {
		t.Fatal(err)
	}
	e := next(t, c, rdmacm.EventMulticastJoin)
	if to := e.Datagram; e.Group != g || e.ID != id || to == nil || to.QPN != 0xffffff || to.QKey == 0 || to.Path.DGID.String() != "::ffff:239.1.2.3" {
		t.Errorf("got %+v of group %p, want QP 0xffffff and the GID of the group", e.Datagram, e.Group)
	}
	if err := g.Leave(); err != nil {
		t.Error(err)
	}
}

// The port space IPoIB has IPoIB interfaces only (cma.c, cma_acquire_dev_by_src_ip).
func TestGuestIPoIB(t *testing.T) {
	leaves(t)
	c, err := rdmacm.NewChannel()
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	id, err := c.NewID(rdmacm.PortSpaceIPoIB, 0)
	if err != nil {
		t.Fatal(err)
	}
	local := rdmacm.IPAddr{AddrPort: netip.MustParseAddrPort(address + ":0")}
	group := rdmacm.IPAddr{AddrPort: netip.MustParseAddrPort("239.1.2.3:0")}
	if err := id.ResolveAddr(local, group, time.Second); !errors.Is(err, unix.EINVAL) {
		t.Errorf("got %v, want %v", err, unix.EINVAL)
	}
}

// An ID keeps its events when it moves to another channel.
func TestGuestMigrate(t *testing.T) {
	leaves(t)
	_, id := resolved(t, rdmacm.PortSpaceTCP, rdmacm.IPAddr{AddrPort: netip.MustParseAddrPort(address + ":1")})
	to, err := rdmacm.NewChannel()
	if err != nil {
		t.Fatal(err)
	}
	defer to.Close()
	if err := errors.Join(id.ResolveRoute(time.Second), id.Migrate(to)); err != nil {
		t.Fatal(err)
	}
	if e := next(t, to, rdmacm.EventRouteResolved); e.ID != id {
		t.Errorf("got ID %p, want %p", e.ID, id)
	}
}

// connected returns both connection ends.
func connected(t *testing.T) (client, server *rdmacm.Conn) {
	t.Helper()
	l, port := listen(t, rdmacm.ListenConfig{})
	var ours, theirs queuePair
	t.Cleanup(func() { _, _ = ours.close(), theirs.close() })
	accepted := make(chan *rdmacm.Conn, 1)
	go func() {
		defer close(accepted)
		r, err := l.Accept(withTimeout(t))
		if err != nil {
			t.Error(err)
			return
		}
		qp, err := theirs.setup(t.Context(), r.ID())
		if err != nil {
			t.Error(err)
			return
		}
		c, err := r.Accept(withTimeout(t), qp, nil)
		if err != nil {
			t.Error(err)
			return
		}
		accepted <- c
	}()
	client, err := rdmacm.Dialer{Setup: ours.setup}.Dial(withTimeout(t), fmt.Sprintf("%s:%d", address, port))
	if err != nil {
		t.Fatal(err)
	}
	if server = <-accepted; server == nil {
		t.FailNow()
	}
	t.Cleanup(func() { _, _ = client.Close(), server.Close() })
	return client, server
}

// After a connection's end, the kernel reports when its queue pair numbers can be
// used again.
func TestGuestTimewait(t *testing.T) {
	leaves(t)
	client, server := connected(t)
	// awaitExit returns when a queue pair's numbers can be used again.
	awaitExit := func(c *rdmacm.Conn) error {
		for {
			e, err := c.Next(withTimeout(t))
			if err != nil || e.Type == rdmacm.EventTimewaitExit {
				return err
			}
			if e.Type != rdmacm.EventDisconnected {
				t.Errorf("got %v", e.Type)
			}
		}
	}
	ended := make(chan error)
	go func() { ended <- awaitExit(server) }()
	err := client.Disconnect(withTimeout(t))
	if err == nil {
		err = awaitExit(client)
	}
	if err := errors.Join(err, <-ended); err != nil {
		t.Error(err)
	}
}

// TestRemoval removes a connection's device. It runs in its own guest.
func TestRemoval(t *testing.T) {
	client, server := connected(t)
	removal := exec.Command("rdma", "link", "delete", "rxe0")
	if err := removal.Start(); err != nil {
		t.Fatal(err)
	}
	for _, c := range []*rdmacm.Conn{client, server} {
		e, err := c.Next(withTimeout(t))
		// After the event the kernel destroys the ID by itself, which disconnects the peer
		// (ucma.c, ucma_close_id). This may precede the peer ID's removal, and the
		// confirmation fails.
		if e.Type == rdmacm.EventDisconnected && (err == nil || errors.Is(err, unix.ENXIO)) {
			e, err = c.Next(withTimeout(t))
		}
		if err != nil || e.Type != rdmacm.EventDeviceRemoval || !errors.Is(e.Err(), verbs.ErrDeviceRemoved) {
			t.Errorf("got %v, %v, want %v", e.Type, err, rdmacm.EventDeviceRemoval)
		}
	}
	// The removal waits until all IDs and contexts are closed.
	if err := errors.Join(client.Close(), server.Close()); err != nil {
		t.Error(err)
	}
	if left := strings.Join(ids(t), ""); left != "" {
		t.Errorf("got IDs %q, want none", left)
	}
}

// TestAddressChange moves an ID's address to another network device. It runs in its own
// guest. The kernel reports a bond failover only (cma.c,
// cma_netdev_callback).
func TestAddressChange(t *testing.T) {
	leaves(t)
	command := func(args ...string) {
		t.Helper()
		if out, err := exec.CommandContext(t.Context(), args[0], args[1:]...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %v: %s", args, err, out)
		}
	}
	command("ip", "link", "add", "bond7", "type", "bond", "mode", "active-backup", "fail_over_mac", "active")
	for _, name := range []string{"member7", "member8"} {
		command("ip", "link", "add", name, "type", "dummy")
		command("ip", "link", "set", name, "master", "bond7")
	}
	command("ip", "address", "add", "10.7.0.1/24", "dev", "bond7")
	command("ip", "link", "set", "bond7", "up")
	command("rdma", "link", "add", "rxe7", "type", "rxe", "netdev", "bond7")
	c, err := rdmacm.NewChannel()
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	id, err := c.NewID(rdmacm.PortSpaceTCP, 0)
	if err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(time.Minute); ; { // the address becomes a device GID later
		err := id.Bind(rdmacm.IPAddr{AddrPort: netip.MustParseAddrPort("10.7.0.1:0")})
		if err == nil {
			break
		}
		if !errors.Is(err, unix.ENODEV) || time.Now().After(end) {
			t.Fatal(err)
		}
	}
	command("ip", "link", "set", "bond7", "type", "bond", "active_slave", "member8")
	e := next(t, c, rdmacm.EventAddrChange)
	var ended *rdmacm.EventError
	if e.ID != id || !errors.As(e.Err(), &ended) || ended.Error() != "address moved to another device" {
		t.Errorf("got ID %p and error %v, want %p and a move", e.ID, e.Err(), id)
	}
}
