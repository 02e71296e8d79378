package lookup

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/sim"
	"github.com/ibkit/ibkit/umad"
)

// lossyPort is a port that drops the requests for which lose returns true.
type lossyPort struct {
	umad.Port
	lose func(*umad.Message) bool
}

func (p *lossyPort) Send(m *umad.Message) error {
	if p.lose(m) {
		return nil
	}
	return p.Port.Send(m)
}

// lossy returns a resolver at a port in the demo fabric that loses requests.
func lossy(t *testing.T, o Options, lose func(*umad.Message) bool) *Resolver {
	t.Helper()
	f, err := sim.Build("demo")
	if err != nil {
		t.Fatal(err)
	}
	p, err := f.Open("")
	if err != nil {
		t.Fatal(err)
	}
	o.Simulated = true
	c := umad.NewClient(&lossyPort{p, lose}, umad.ClientOptions{Attempts: 1, Timeout: 50 * time.Millisecond})
	return New(c, p.Attr(), o)
}

func isNodeRecord(m *umad.Message) bool {
	return m.MAD.Class() == mad.ClassSA && m.MAD.Attr() == mad.AttrNodeRecord
}

// absentGID and absentGUID are not in the demo fabric, and its subnet administration
// says so about a path to them.
const (
	absentGID  = "fe80::1:2:3:4"
	absentGUID = "0x0001000200030004"
)

// A subnet administration that does not answer the request for node records has
// not reported that a port does not exist.
func TestFind_RecordTimeout(t *testing.T) {
	t.Parallel()
	for _, address := range []string{absentGID, absentGUID} {
		t.Run("SA only/"+address, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				_, err := find(t, lossy(t, Options{Mode: ModeSA}, isNodeRecord), address)
				if not := (*NotFoundError)(nil); errors.As(err, &not) || !errors.Is(err, umad.ErrTimeout) {
					t.Errorf("got error %v, want %v", err, umad.ErrTimeout)
				}
			})
		})
		t.Run("all/"+address, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				_, err := find(t, lossy(t, Options{}, isNodeRecord), address)
				if not := (*NotFoundError)(nil); !errors.As(err, &not) || not.By != FromScan {
					t.Errorf("got error %v, want that the scan did not find the port", err)
				}
			})
		})
	}
}

// A search that is cancelled reports that, and a later one starts afresh.
func TestFind_Cancelled(t *testing.T) {
	isNodeInfo := func(m *umad.Message) bool { return m.MAD.Class().IsSMP() && m.MAD.Attr() == mad.AttrNodeInfo }
	tests := []struct {
		mode    Mode
		address string
		at      func(*umad.Message) bool
		number  int // request that the search is cancelled at, among the requests at
	}{
		{ModeAll, absentGID, isNodeRecord, 1},
		{ModeSA, absentGID, isNodeRecord, 1},
		{ModeAll, absentGUID, isNodeRecord, 1},
		{ModeAll, "name:nobody", isNodeRecord, 1},
		{ModeNodes, absentGID, isNodeInfo, 5},
		{ModeNodes, absentGUID, isNodeInfo, 5},
		{ModeNodes, "name:nobody", isNodeInfo, 5},
	}
	for _, tt := range tests {
		t.Run(fmt.Sprintf("%d/%s", tt.mode, tt.address), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				seen := 0
				r := lossy(t, Options{Mode: tt.mode}, func(m *umad.Message) bool {
					if tt.at(m) {
						if seen++; seen == tt.number {
							cancel()
						}
					}
					return ctx.Err() != nil && seen == tt.number
				})
				a, err := Parse(tt.address)
				if err != nil {
					t.Fatal(err)
				}
				_, err = r.Find(ctx, a)
				if not := (*NotFoundError)(nil); errors.As(err, &not) || !errors.Is(err, context.Canceled) {
					t.Errorf("got error %v, want %v", err, context.Canceled)
				}
				seen = tt.number + 1
				_, err = r.Find(t.Context(), a)
				if not := (*NotFoundError)(nil); !errors.As(err, &not) || not.Incomplete {
					t.Errorf("second search: got error %v, want that a complete search did not find it", err)
				}
			})
		})
	}
}

// The wait for a neighbour that is cancelled is not a host that does not answer.
func TestFind_NeighbourCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	r := New(nil, umad.PortAttr{LinkLayer: Ethernet}, Options{
		Sysfs: gidTable(t),
		NextHop: func(ctx context.Context, _ netip.Addr) (*NextHop, error) {
			cancel()
			return nil, errors.Join(ErrNoReply, ctx.Err())
		},
		LookupHost: func(context.Context, string) ([]netip.Addr, error) {
			return []netip.Addr{netip.MustParseAddr("192.0.2.7"), netip.MustParseAddr("192.0.2.8")}, nil
		},
	})
	for _, a := range []Address{{Kind: IP, IP: netip.MustParseAddr("192.0.2.7")}, {Kind: Name, Name: "peer"}} {
		_, err := r.Find(ctx, a)
		if misplaced := (*MisplacedError)(nil); errors.As(err, &misplaced) || !errors.Is(err, context.Canceled) {
			t.Errorf("%v: got error %v, want %v", a.Kind, err, context.Canceled)
		}
	}
}

// A host with ports that cannot be listed is not a host without RoCE ports.
func TestFind_UnreadableSysfs(t *testing.T) {
	root := t.TempDir()
	umad0 := filepath.Join(root, "class", "infiniband_mad", "umad0")
	if err := os.MkdirAll(filepath.Join(umad0, "ibdev"), 0o755); err != nil { // a directory instead of a file
		t.Fatal(err)
	}
	r := New(nil, umad.PortAttr{LinkLayer: Ethernet}, Options{
		Sysfs:   root,
		NextHop: func(context.Context, netip.Addr) (*NextHop, error) { return network["192.0.2.7"], nil },
	})
	for _, address := range []string{"192.0.2.7", "fe80::2:c900:10:401", "route:0"} {
		a, err := Parse(address)
		if err != nil {
			t.Fatal(err)
		}
		if ports, err := r.Find(t.Context(), a); err == nil || !strings.Contains(err.Error(), "ibdev") {
			t.Errorf("%s: got %v, error %v, want the error of sysfs", address, ports, err)
		}
	}
}

// LID 0 and a multicast group's LID are not found, like other addresses without a port.
func TestFind_MulticastLID(t *testing.T) {
	r := at(t, "demo", Options{}, nil)
	for _, address := range []string{"0", "0x0", "0-3", "0xc000", "49150-49152", "0xffff", "0xc000,0,1"} {
		t.Run(address, func(t *testing.T) {
			if lines, err := find(t, r, address); err == nil || !strings.Contains(err.Error(), "is not the LID of a port") {
				t.Errorf("got %q, error %v, want an error about the LID", lines, err)
			}
		})
	}
}
