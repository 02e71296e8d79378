package rdmanl

import (
	"errors"
	"io"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/mdlayher/netlink"
	"github.com/mdlayher/netlink/nltest"
	"golang.org/x/sys/unix"
)

// nest encodes an attribute with nested attributes.
func nest(e *netlink.AttributeEncoder, attr uint16, build func(*netlink.AttributeEncoder)) {
	e.Nested(attr, func(e *netlink.AttributeEncoder) error {
		build(e)
		return nil
	})
}

// srqs encodes a response with a process's SRQ and a kernel SRQ.
func srqs(e *netlink.AttributeEncoder) {
	e.Uint32(attrDevIndex, 1)
	e.String(attrDevName, "mlx5_0")
	nest(e, attrResSRQ, func(e *netlink.AttributeEncoder) {
		nest(e, attrResSRQ+1, func(e *netlink.AttributeEncoder) {
			e.Uint32(attrResSRQN, 7)
			e.Uint8(attrResType, 1)
			e.Uint32(attrResPDN, 3)
			nest(e, attrResQP, func(e *netlink.AttributeEncoder) {
				nest(e, attrResQPEntry, func(e *netlink.AttributeEncoder) { e.Uint32(attrResQPN, 17) })
				nest(e, attrResQPEntry, func(e *netlink.AttributeEncoder) {
					e.Uint32(attrMinRange, 20)
					e.Uint32(attrMaxRange, 30)
				})
			})
			e.Uint32(attrResPID, 1234)
		})
		nest(e, attrResSRQ+1, func(e *netlink.AttributeEncoder) {
			e.Uint32(attrResSRQN, 8)
			e.String(attrResKernelName, "ib_isert")
		})
	})
}

// counters encodes a response with counters that are bound to queue pairs.
func counters(e *netlink.AttributeEncoder) {
	nest(e, attrStatCounter, func(e *netlink.AttributeEncoder) {
		nest(e, attrStatCounter+1, func(e *netlink.AttributeEncoder) {
			e.Uint32(attrPortIndex, 1)
			e.Uint32(attrStatCounterID, 4)
			e.Uint32(attrStatMode, 1)
			e.Uint8(attrResType, 2)
			nest(e, attrResQP, func(e *netlink.AttributeEncoder) {
				nest(e, attrResQPEntry, func(e *netlink.AttributeEncoder) { e.Uint32(attrResQPN, 178) })
			})
			nest(e, attrStatHWCounters, func(e *netlink.AttributeEncoder) {
				nest(e, attrStatHWCounter, func(e *netlink.AttributeEncoder) {
					e.String(attrStatHWName, "rx_write_requests")
					e.Uint64(attrStatHWValue, 1<<40)
				})
			})
		})
	})
}

func TestParseResources(t *testing.T) {
	got, err := parseResources(encode(t, srqs), attrResSRQ)
	want := []Resource{
		{PID: new(uint32(1234)), SRQN: new(uint32(7)), Type: new(uint8(1)), PDN: new(uint32(3)), QPs: []QPRange{{17, 17}, {20, 30}}},
		{SRQN: new(uint32(8)), KernelName: "ib_isert"},
	}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("got error %v, difference (-want +got):\n%s", err, diff)
	}
	if got := want[0].QPs[0].String() + "," + want[0].QPs[1].String(); got != "17,20-30" {
		t.Errorf("got ranges %s, want 17,20-30", got)
	}
}

func TestParseStatistics(t *testing.T) {
	got, err := parseStatistics(encode(t, counters), attrStatCounter)
	want := []Statistic{{
		Port: 1, CounterID: new(uint32(4)), Mode: new(uint32(1)), QPType: new(uint8(2)), QPs: []QPRange{{178, 178}},
		Counters: map[string]uint64{"rx_write_requests": 1 << 40},
	}}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("got error %v, difference (-want +got):\n%s", err, diff)
	}
}

// oldKernel is a kernel with a single device, which supports only the queries
// before Linux 4.16.
func oldKernel(t *testing.T) *Conn {
	t.Helper()
	c := nltest.Dial(func(request []netlink.Message) ([]netlink.Message, error) {
		r := request[0]
		r.Header.Flags = 0
		if r.Header.Type != nldev<<10|cmdGet {
			return nltest.Error(int(unix.EINVAL), []netlink.Message{r})
		}
		return nltest.Multipart([]netlink.Message{
			{Header: r.Header, Data: encode(t, device)}, {Header: netlink.Header{Sequence: r.Header.Sequence, PID: r.Header.PID}},
		})
	})
	t.Cleanup(func() { _ = c.Close() })
	return &Conn{c}
}

func TestResources_Unsupported(t *testing.T) {
	c := oldKernel(t)
	for kind := Contexts; kind <= CMIDs; kind++ {
		t.Run(kind.String(), func(t *testing.T) {
			if _, err := c.Resources(3, kind); !errors.Is(err, ErrUnsupported) || !errors.Is(err, unix.EINVAL) {
				t.Errorf("got %v, want %v", err, ErrUnsupported)
			}
			if _, err := c.Resources(4, kind); errors.Is(err, ErrUnsupported) || !errors.Is(err, unix.EINVAL) {
				t.Errorf("removed device: got %v, want EINVAL", err)
			}
		})
	}
	if s, err := c.PortStatistic(3, 1); s != nil || err != nil {
		t.Errorf("counters: got %v, %v, want none", s, err)
	}
	if all, err := c.BoundStatistics(3, QPs); all != nil || err != nil {
		t.Errorf("bound counters: got %v, %v, want none", all, err)
	}
}

// Links are added and deleted with the attributes that the kernel requires.
func TestLink(t *testing.T) {
	var sent []netlink.Message
	c := Conn{nltest.Dial(func(request []netlink.Message) ([]netlink.Message, error) {
		if len(request) == 0 {
			return nil, io.EOF
		}
		sent = append(sent, request...)
		return nltest.Error(0, request)
	})}
	defer c.Close()
	if err := errors.Join(c.AddLink("siw0", "siw", "lo"), c.DeleteLink(5)); err != nil {
		t.Fatal(err)
	}
	for i, want := range []netlink.Message{
		{Header: netlink.Header{Type: nldev<<10 | cmdNewLink}, Data: encode(t, func(e *netlink.AttributeEncoder) {
			e.String(attrDevName, "siw0")
			e.String(attrLinkType, "siw")
			e.String(attrNetdevName, "lo")
		})},
		{Header: netlink.Header{Type: nldev<<10 | cmdDelLink}, Data: encode(t, func(e *netlink.AttributeEncoder) { e.Uint32(attrDevIndex, 5) })},
	} {
		if sent[i].Header.Type != want.Header.Type || sent[i].Header.Flags != netlink.Request|netlink.Acknowledge {
			t.Errorf("got header %+v, want type %#x and an acknowledgement", sent[i].Header, want.Header.Type)
		}
		if diff := cmp.Diff(want.Data, sent[i].Data); diff != "" {
			t.Errorf("difference (-want +got):\n%s", diff)
		}
	}
}
