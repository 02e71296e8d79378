package rxe

import (
	"errors"
	"net/netip"
	"testing"
	"unsafe"

	"github.com/ibkit/ibkit/internal/uapi"
	"github.com/ibkit/ibkit/verbs/provider"
)

// A device is the kernel's queue part, on plain memory.
type device struct {
	provider.Device                   // the methods that other drivers use
	rings           map[uint64][]byte // by offset
	mapped          int               // rings that are mapped
	bells           int               // doorbells
	brief           bool              // of the last doorbell
	armed           []bool            // solicited only
	err             error             // doorbell error

	gid netip.Addr // invalid: GID fails
	mac [6]byte
}

var errNoRing, errNoGID = errors.New("no such ring"), errors.New("no such GID")

func (d *device) GID(uint8, uint8) (netip.Addr, error) {
	if !d.gid.IsValid() {
		return d.gid, errNoGID
	}
	return d.gid, nil
}

func (d *device) MAC(provider.Path) ([6]byte, error) { return d.mac, nil }

func (d *device) Map(offset uint64, length int) ([]byte, error) {
	b := d.rings[offset]
	if b == nil || length > len(b) {
		return nil, errNoRing
	}
	d.mapped++
	return b[:length], nil
}

func (d *device) Unmap([]byte) error {
	d.mapped--
	return nil
}

func (d *device) Doorbell(uint32) provider.Doorbell { return (*bell)(d) }

func (d *device) Notifier(uint32) provider.Notifier { return (*notifier)(d) }

type bell device

func (b *bell) Ring(brief bool) error {
	b.bells++
	b.brief = brief
	return b.err
}

type notifier device

func (n *notifier) Arm(solicitedOnly bool) error {
	n.armed = append(n.armed, solicitedOnly)
	return nil
}

// Ring offsets and queue capacities.
const (
	sqOffset, rqOffset, cqOffset, srqOffset = 1 << 12, 2 << 12, 3 << 12, 4 << 12

	slots     = 16
	sgeCount  = 4
	inlineMax = 64
)

var queueCap = provider.QPCap{MaxSendWR: slots - 1, MaxRecvWR: slots - 1, MaxSendSGE: sgeCount, MaxRecvSGE: sgeCount, MaxInline: inlineMax}

// newDevice returns a device with all ring kinds.
func newDevice() *device {
	return &device{rings: map[uint64][]byte{
		sqOffset: plain(slots, 9), rqOffset: plain(slots, 7), cqOffset: plain(slots, 6), srqOffset: plain(slots, 7),
	}}
}

// info returns a ring's mapping.
func (d *device) info(offset uint64) uapi.RXEMMInfo {
	return uapi.RXEMMInfo{Offset: offset, Size: uint32(len(d.rings[offset]))}
}

// answer returns a Create with a fixed response.
func answer[T any](resp T, created provider.Created) provider.Create {
	return func(in, out []byte) (provider.Created, error) {
		if len(in) != 0 || len(out) != int(unsafe.Sizeof(resp)) {
			return provider.Created{}, errors.New("unexpected size of the driver's data")
		}
		copy(out, uapi.Bytes(&resp))
		return created, nil
	}
}

func (d *device) newCQ(t testing.TB) *cq {
	t.Helper()
	q, err := New(d).NewCQ(provider.CQAttr{}, answer(uapi.RXECreateCQResp{MI: d.info(cqOffset)}, provider.Created{Handle: 5}))
	if err != nil {
		t.Fatal(err)
	}
	return q.(*cq)
}

func (d *device) newQP(t testing.TB, transport provider.Transport, shared bool) *qp {
	t.Helper()
	resp := uapi.RXECreateQPResp{SQMI: d.info(sqOffset), RQMI: d.info(rqOffset)}
	attr := provider.QPAttr{Transport: transport, Cap: queueCap}
	if shared {
		attr.SRQ, resp.RQMI = &srq{}, uapi.RXEMMInfo{}
	}
	q, err := New(d).NewQP(attr, answer(resp, provider.Created{Handle: 7, Number: 17, Cap: queueCap}))
	if err != nil {
		t.Fatal(err)
	}
	return q.(*qp)
}

func (d *device) newSRQ(t testing.TB) *srq {
	t.Helper()
	resp := uapi.RXECreateSRQResp{MI: d.info(srqOffset)}
	q, err := New(d).NewSRQ(provider.SRQAttr{}, answer(resp, provider.Created{MaxWR: slots - 1, MaxSGE: sgeCount}))
	if err != nil {
		t.Fatal(err)
	}
	return q.(*srq)
}

// Close unmaps each ring once.
func TestClose(t *testing.T) {
	d := newDevice()
	queues := []interface{ Close() error }{
		d.newCQ(t), d.newQP(t, provider.RC, false), d.newQP(t, provider.UD, true), d.newSRQ(t),
	}
	if d.mapped != 5 {
		t.Errorf("got %d rings mapped, want 5", d.mapped)
	}
	for _, q := range queues {
		if err := q.Close(); err != nil {
			t.Error(err)
		}
	}
	if d.mapped != 0 {
		t.Errorf("got %d rings mapped, want 0", d.mapped)
	}
}

// A failed New… leaves no mapping.
func TestNewFails(t *testing.T) {
	refused := errors.New("refused")
	refuse := func([]byte, []byte) (provider.Created, error) { return provider.Created{}, refused }
	d := newDevice()
	p := New(d)
	attr := provider.QPAttr{Transport: provider.RC, Cap: queueCap}
	created := provider.Created{Cap: queueCap, MaxSGE: sgeCount}
	larger := created
	larger.Cap.MaxSendSGE, larger.Cap.MaxRecvSGE, larger.MaxSGE = 100, 100, 100
	sq, rq := d.info(sqOffset), d.info(rqOffset)
	short := uapi.RXEMMInfo{Offset: cqOffset, Size: 400}
	none := uapi.RXEMMInfo{Offset: 99, Size: 4096}
	for name, test := range map[string]struct {
		make func() (any, error)
		want error
	}{
		"CQ refused": {func() (any, error) { return p.NewCQ(provider.CQAttr{}, refuse) }, refused},
		"CQ not mapped": {func() (any, error) {
			return p.NewCQ(provider.CQAttr{}, answer(uapi.RXECreateCQResp{MI: none}, created))
		}, errNoRing},
		"CQ too short": {func() (any, error) {
			return p.NewCQ(provider.CQAttr{}, answer(uapi.RXECreateCQResp{MI: short}, created))
		}, provider.ErrCorrupt},
		"QP refused": {func() (any, error) { return p.NewQP(attr, refuse) }, refused},
		"QP of an invalid type": {
			func() (any, error) { return p.NewQP(provider.QPAttr{Transport: 8}, refuse) }, provider.ErrOpcode,
		},
		"send queue not mapped": {
			func() (any, error) { return p.NewQP(attr, answer(uapi.RXECreateQPResp{SQMI: none, RQMI: rq}, created)) }, errNoRing,
		},
		"receive queue not mapped": {
			func() (any, error) { return p.NewQP(attr, answer(uapi.RXECreateQPResp{SQMI: sq, RQMI: none}, created)) }, errNoRing,
		},
		"slots too small": {
			func() (any, error) { return p.NewQP(attr, answer(uapi.RXECreateQPResp{SQMI: sq, RQMI: rq}, larger)) }, provider.ErrCorrupt,
		},
		"SRQ refused": {func() (any, error) { return p.NewSRQ(provider.SRQAttr{}, refuse) }, refused},
		"SRQ too small": {
			func() (any, error) {
				return p.NewSRQ(provider.SRQAttr{}, answer(uapi.RXECreateSRQResp{MI: rq}, larger))
			}, provider.ErrCorrupt,
		},
		"AH refused":          {func() (any, error) { return p.NewAH(provider.Path{}, 0, refuse) }, refused},
		"AH without a number": {func() (any, error) { return p.NewAH(provider.Path{}, 0, answer(uapi.RXECreateAHResp{}, created)) }, errNoGID},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := test.make(); !errors.Is(err, test.want) {
				t.Errorf("got error %v, want %v", err, test.want)
			}
		})
	}
	if d.mapped != 0 {
		t.Errorf("got %d rings mapped, want 0", d.mapped)
	}
}
