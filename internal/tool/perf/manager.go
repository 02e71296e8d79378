package perf

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"net"
	"net/netip"
	"strconv"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/internal/tool/perf/internal/cmlink"
	"github.com/ibkit/ibkit/internal/tool/perf/internal/multicast"
	"github.com/ibkit/ibkit/internal/tool/perf/internal/port"
	"github.com/ibkit/ibkit/rdmacm"
)

// managed describes the listener of the connection manager at the server of a test.
type managed struct {
	Port  uint16 `json:"port"`
	Token []byte `json:"token"` // the private data of requests begins with it
}

// tokenSize is the size of a token, which keeps requests of other programs from a test.
const tokenSize = 16

// privateData returns the private data of the request for a queue pair: the token and its
// position.
func (m *managed) privateData(i int) []byte {
	return binary.BigEndian.AppendUint32(append([]byte(nil), m.Token...), uint32(i))
}

// position returns the position of the queue pair that a request is for.
func (m *managed) position(data []byte) (int, error) {
	if len(data) < tokenSize+4 || !bytes.Equal(data[:tokenSize], m.Token) {
		return 0, errors.New("the request is for another test")
	}
	return int(binary.BigEndian.Uint32(data[tokenSize:])), nil
}

// managerConfig returns the parameters of the connections of a test.
func (t *endpointTest) managerConfig() cmlink.Config {
	c := cmlink.Config{
		Type: t.Transport.qpType(), MinRNRTimer: minRNRTimer, ACKTimeout: &t.Timeout, Timeout: responseTime,
		Param: rdmacm.ConnParam{RetryCount: t.RetryCount, RNRRetryCount: t.RNRRetry},
	}
	if t.TOS != 0 {
		c.TOS = &t.TOS
	}
	if t.Op == Read || t.Op.Atomic() {
		c.Param.ResponderResources, c.Param.InitiatorDepth = t.maxDestRdAtomic(), t.maxDestRdAtomic()
	}
	return c
}

// managerAddr returns the address of a port for the connection manager: a GID of RoCE is
// an IP address. For InfiniBand it is an address of IPoIB, that of the control connection,
// and for iWARP it is the IP address of that connection too: GIDs are MAC addresses there.
func managerAddr(c port.Choice, gid netip.Addr, control net.Addr, number uint16) (rdmacm.Addr, error) {
	if !gid.IsValid() || c.Port.Context != nil && c.Port.Context.IWARP() {
		a, err := netip.ParseAddrPort(control.String())
		return rdmacm.IPAddr{AddrPort: netip.AddrPortFrom(a.Addr().Unmap(), number)}, err
	}
	ip := gid.Unmap()
	if ip.IsLinkLocalUnicast() && ip.Is6() {
		for _, e := range c.Port.GIDs {
			if e.Index == uint32(c.Index) {
				ip = ip.WithZone(strconv.FormatUint(uint64(e.Ifindex), 10))
			}
		}
	}
	return rdmacm.IPAddr{AddrPort: netip.AddrPortFrom(ip, number)}, nil
}

// dial connects the queue pairs of the client.
func (t *endpointTest) dial(ctx context.Context, control net.Conn, p *prepared) error {
	if p.Manager == nil || len(p.Manager.Token) != tokenSize || len(p.QueuePairs) != t.QueuePairs {
		return errMessage
	}
	remote, err := managerAddr(t.choice, p.Port.GID, control.RemoteAddr(), p.Manager.Port)
	if err != nil {
		return err
	}
	local, err := managerAddr(t.choice, t.choice.Local.Addr, control.LocalAddr(), 0)
	if err != nil {
		return err
	}
	c := t.managerConfig()
	if t.links, err = cmlink.Dial(ctx, t.endpoint, cmlink.Peer{Local: local, Remote: remote}, c, p.Manager.privateData, nil); err != nil {
		return err
	}
	if d := t.links.Datagram(0); t.Transport == UD && d != nil {
		if err := t.endpoint.SetDestination(d.Path); err != nil {
			return err
		}
	}
	return t.adoptPath()
}

// adoptPath checks the path that the connection manager has selected, and adopts its MTU.
func (t *endpointTest) adoptPath() error {
	selected, err := t.links.CheckPath(t.endpoint, t.requestedGID, ib.MTUOf(t.MTU))
	if selected != 0 && err == nil {
		t.mtu = selected
		if t.measurement != nil {
			t.measurement.MTU = selected.Bytes()
		}
	}
	return err
}

// join joins the group of a test: the server receives its datagrams, the client sends
// them.
func (t *endpointTest) join(ctx context.Context, control net.Conn) error {
	choice, err := sameFamily(t.choice, t.Multicast)
	if err != nil {
		return err
	}
	local, err := managerAddr(choice, choice.Local.Addr, control.LocalAddr(), 0)
	if err != nil {
		return err
	}
	if t.group, err = multicast.Manage(ctx, choice.Port, local, t.Multicast, t.leads); err != nil {
		return err
	}
	qp := t.endpoint.QPs()[0].QP
	if err := t.group.Init(qp); err != nil {
		return err
	}
	if t.leads {
		return t.endpoint.SetDestination(t.group.To.Path)
	}
	return t.group.Attach(qp)
}

// sameFamily returns the choice with a GID of the family of a group, which may differ from
// that of the peer's address.
func sameFamily(c port.Choice, group netip.Addr) (port.Choice, error) {
	if !c.Local.Addr.IsValid() || c.Local.Addr.Is4In6() == group.Is4() {
		return c, nil
	}
	for _, e := range c.Port.GIDs {
		if e.Type == c.Local.Type && e.GID.Is4In6() == group.Is4() && e.Index <= math.MaxUint8 {
			c.Index, c.Local.Addr = uint8(e.Index), e.GID
			return c, nil
		}
	}
	return c, fmt.Errorf("join group %v at %s: the port has no GID of this family", group, c.Port.Device)
}

// An acceptance accepts the queue pairs of a server in the background.
type acceptance struct {
	listener *cmlink.Listener
	managed  *managed
	stop     context.CancelFunc
	done     chan struct{}
	links    *cmlink.Links
	err      error
}

// listen starts to accept the queue pairs of a client.
func (t *endpointTest) listen(ctx context.Context, control net.Conn) (*acceptance, error) {
	local, err := managerAddr(t.choice, t.choice.Local.Addr, control.LocalAddr(), 0)
	if err != nil {
		return nil, err
	}
	a := &acceptance{managed: &managed{Token: make([]byte, tokenSize)}, done: make(chan struct{})}
	_, _ = rand.Read(a.managed.Token) // never fails
	if a.listener, err = cmlink.Listen(local, t.managerConfig()); err != nil {
		return nil, err
	}
	at, ok := a.listener.Addr().(rdmacm.IPAddr)
	if !ok {
		return nil, errors.Join(fmt.Errorf("listen at %v: want an IP address", a.listener.Addr()), a.listener.Close())
	}
	a.managed.Port = at.Port()
	ctx, a.stop = context.WithCancel(ctx)
	go func() {
		defer close(a.done)
		a.links, a.err = a.listener.Accept(ctx, t.endpoint, cmlink.Hooks{
			Check: func(r *rdmacm.Request) (int, error) { return a.managed.position(r.Param().PrivateData) },
		})
	}()
	return a, nil
}

// wait returns the connections of the queue pairs.
func (a *acceptance) wait(ctx context.Context) (*cmlink.Links, error) {
	select {
	case <-a.done:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	links := a.links
	a.links = nil
	return links, a.err
}

// orError returns the error of the acceptance if the client has failed because of it, and
// the client's error otherwise.
func (a *acceptance) orError(theirs error) error {
	if a == nil {
		return theirs
	}
	select {
	case <-a.done:
		if a.err != nil {
			return a.err
		}
	default:
	}
	return theirs
}

// close stops to accept queue pairs. It closes connections that wait has not returned.
func (a *acceptance) close() error {
	a.stop()
	<-a.done
	var err error
	if a.links != nil {
		err = a.links.Close()
	}
	return errors.Join(err, a.listener.Close())
}
