package mlx5

import (
	"encoding/binary"
	"errors"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/ibkit/ibkit/internal/uapi"
	"github.com/ibkit/ibkit/verbs/internal/queue"
	"github.com/ibkit/ibkit/verbs/provider"
)

// A fake is a device with doorbell pages in plain memory.
type fake struct {
	provider.Device
	t       testing.TB
	pages   [][]byte
	kinds   []uint64 // page types
	freed   []uint32 // page handles
	mapped  int
	refused error  // of Map
	length  uint32 // of a page that the kernel maps
	ids     uint32 // added to the page numbers
	node    *int
	network provider.Network
	err     error // from Call and create

	qp  uapi.MLX5CreateQP // last command data
	cq  uapi.MLX5CreateCQ
	srq uapi.MLX5CreateSRQ
}

func (f *fake) Call(_ string, object, method uint16, attrs ...provider.Attr) error {
	if object == uapi.MLX5ObjectUAR && method == uapi.MLX5MethodUARDestroy && len(attrs) == 1 {
		f.freed = append(f.freed, *attrs[0].Handle)
		return nil
	}
	if object != uapi.MLX5ObjectUAR || method != uapi.MLX5MethodUARAlloc || len(attrs) != 5 {
		f.t.Errorf("got object %#x, method %#x and %d attributes", object, method, len(attrs))
	}
	if f.err != nil {
		return f.err
	}
	f.kinds = append(f.kinds, *attrs[1].Constant)
	f.pages = append(f.pages, make([]byte, max(f.length, pageSize)))
	*attrs[0].Handle = uint32(len(f.pages))
	binary.NativeEndian.PutUint64(attrs[2].Out, uint64(len(f.pages)-1))
	binary.NativeEndian.PutUint32(attrs[3].Out, f.length)
	binary.NativeEndian.PutUint32(attrs[4].Out, f.ids+uint32(len(f.pages)+9))
	return nil
}

func (f *fake) Map(offset uint64, _ int) ([]byte, error) {
	if f.refused != nil {
		return nil, f.refused
	}
	f.mapped++
	return f.pages[offset], nil
}

func (f *fake) NUMANode() *int { return f.node }

func (f *fake) Unmap([]byte) error { f.mapped--; return nil }

func (f *fake) Network(_, _ uint8) (provider.Network, error) { return f.network, nil }

// supported is a current kernel and adapter's response to GET_CONTEXT.
var supported = uapi.MLX5AllocUcontextResp{
	BFRegSize: 512, CQEVersion: 1, ResponseLength: uapi.MLX5AllocUcontextRespSize, MaxSQDescSize: 1024, MaxRQDescSize: 512, MaxSendWQEBB: 32768, MaxRecvWR: 32768, MaxSRQRecvWR: 32768,
}

func newDevice(t testing.TB) (*fake, *device) {
	t.Helper()
	f := &fake{t: t, length: pageSize}
	response := supported
	p, err := New(f, uapi.Bytes(&response))
	if err != nil {
		t.Fatal(err)
	}
	return f, p.(*device)
}

// answer returns a create function that stores the driver's data and returns numbers.
func answer[T any](f *fake, into *T, created provider.Created, number uint32) provider.Create {
	return func(in, out []byte) (provider.Created, error) {
		if f.err != nil {
			return provider.Created{}, f.err
		}
		*into = uapi.Decode[T](in)
		binary.NativeEndian.PutUint32(out, number)
		return created, nil
	}
}

func (d *device) newCQ(t testing.TB, f *fake, entries uint32) *cq {
	t.Helper()
	q, err := d.NewCQ(provider.CQAttr{Entries: entries}, answer(f, &f.cq, provider.Created{CQE: queue.RoundUp(entries+1) - 1}, 0x80))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { q.Close() })
	return q.(*cq)
}

func (d *device) newQP(t testing.TB, f *fake, attr provider.QPAttr) *qp {
	t.Helper()
	q, err := d.NewQP(attr, answer(f, &f.qp, provider.Created{Number: 0x123}, 0))
	if err != nil {
		t.Fatal(err)
	}
	return q.(*qp)
}

func TestNew_Unsupported(t *testing.T) {
	for name, change := range map[string]func(*uapi.MLX5AllocUcontextResp){
		"completions of version 0": func(r *uapi.MLX5AllocUcontextResp) { r.CQEVersion = 0 },
		"static doorbell pages":    func(r *uapi.MLX5AllocUcontextResp) { r.TotBFRegs = 16 },
	} {
		t.Run(name, func(t *testing.T) {
			r := supported
			change(&r)
			if _, err := New(&fake{t: t}, uapi.Bytes(&r)); !errors.Is(err, errors.ErrUnsupported) || !strings.Contains(err.Error(), name) {
				t.Errorf("got error %v, want %v with %q", err, errors.ErrUnsupported, name)
			}
		})
	}
}

// Responses that contradict the queue layouts are named.
func TestNew_Corrupt(t *testing.T) {
	for name, change := range map[string]func(*uapi.MLX5AllocUcontextResp){
		"a response of 8 bytes":                    func(r *uapi.MLX5AllocUcontextResp) { r.ResponseLength = 8 },
		"doorbell registers of 100 bytes":          func(r *uapi.MLX5AllocUcontextResp) { r.BFRegSize = 100 },
		"doorbell registers of 2048 bytes":         func(r *uapi.MLX5AllocUcontextResp) { r.BFRegSize = 2048 },
		"doorbell registers of 32 bytes":           func(r *uapi.MLX5AllocUcontextResp) { r.BFRegSize = 32 },
		"work requests of at most 0 and 512 bytes": func(r *uapi.MLX5AllocUcontextResp) { r.MaxSQDescSize = 0 },
		"work requests of at most 1024 and 8":      func(r *uapi.MLX5AllocUcontextResp) { r.MaxRQDescSize = 8 },
		"send queues of at most 0 blocks":          func(r *uapi.MLX5AllocUcontextResp) { r.MaxSendWQEBB = 0 },
		"send queues of at most 65536 blocks":      func(r *uapi.MLX5AllocUcontextResp) { r.MaxSendWQEBB = 1 << 16 },
		"receive queues of at most 65536":          func(r *uapi.MLX5AllocUcontextResp) { r.MaxRecvWR = 1 << 16 },
	} {
		t.Run(name, func(t *testing.T) {
			r := supported
			change(&r)
			if _, err := New(&fake{t: t}, uapi.Bytes(&r)); !errors.Is(err, provider.ErrCorrupt) || !strings.Contains(err.Error(), name) {
				t.Errorf("got error %v, want %v with %q", err, provider.ErrCorrupt, name)
			}
		})
	}
	if _, err := New(&fake{t: t}, nil); err == nil {
		t.Error("got no error for an empty response")
	}
	// A later kernel may have a longer response.
	r := supported
	r.ResponseLength += 64
	if _, err := New(&fake{t: t}, append(uapi.Bytes(&r), make([]byte, 64)...)); err != nil {
		t.Errorf("longer response: got error %v", err)
	}
}

// A processor with 64 KiB pages maps larger pages, and the first 4 KiB are used. An
// adapter without write combining has a single register per page. Other lengths are errors.
func TestPages_Length(t *testing.T) {
	for length, valid := range map[uint32]bool{4096: true, 65536: true, 0: false, 2048: false, 5000: false} {
		f, d := newDevice(t)
		f.length = length
		r, err := d.newRegister()
		if (err == nil) != valid || err != nil && !errors.Is(err, provider.ErrCorrupt) {
			t.Errorf("%d bytes: got error %v, want %v", length, err, provider.ErrCorrupt)
		}
		if freed := slices.Equal(f.freed, []uint32{1}); freed == valid {
			t.Errorf("%d bytes: got pages %d freed, want page 1 if there is an error", length, f.freed)
		}
		if valid && (r.at != unsafe.Pointer(&f.pages[0][bfOffset]) || len(d.free) != 1) {
			t.Errorf("%d bytes: got another register, want the first one", length)
		}
	}
	f, d := newDevice(t)
	d.limits.BFRegSize = 0
	for i := range 2 {
		if r, err := d.newRegister(); err != nil || r.half != 0 || f.kinds[i] != uapi.MLX5UARTypeNC {
			t.Errorf("no write combining: got halves of %d bytes, pages of types %d, error %v", r.half, f.kinds, err)
		}
	}
	f, d = newDevice(t)
	f.refused = unix.ENOMEM
	if _, err := d.newRegister(); !errors.Is(err, unix.ENOMEM) || !slices.Equal(f.freed, []uint32{1}) {
		t.Errorf("no mapping: got error %v and pages %d freed, want %v and 1", err, f.freed, unix.ENOMEM)
	}
	// The completion queue command has 16 bits for a page's number.
	f, d = newDevice(t)
	f.ids = 1 << 16
	if _, err := d.NewCQ(provider.CQAttr{Entries: 1}, nil); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("page %#x: got error %v, want %v", f.ids, err, errors.ErrUnsupported)
	}
	// The kernel has fewer pages than queue pairs need.
	f.err = unix.ENOMEM
	if _, err := d.newRegister(); !errors.Is(err, unix.ENOMEM) {
		t.Errorf("no more pages: got error %v, want %v", err, unix.ENOMEM)
	}
}

// Two queue pairs share a page with write combining; completion queues use a single page
// without. Close unmaps all.
func TestPages(t *testing.T) {
	f, d := newDevice(t)
	cq := d.newCQ(t, f, 3)
	if f.cq.Flags != uapi.MLX5CQUARPageIndex || f.cq.UARPageIndex != 10 || f.cq.CQESize != 64 || f.cq.DBAddr != f.cq.BufAddr+4*64 {
		t.Errorf("CQ: got %+v", f.cq)
	}
	attr := provider.QPAttr{Transport: provider.RC, Cap: provider.QPCap{MaxSendWR: 1, MaxSendSGE: 1}, SendCQ: cq, RecvCQ: cq}
	var qps []*qp
	for i, page := range []uint32{11, 11, 12} {
		q := d.newQP(t, f, attr)
		if f.qp.BFRegIndex != page || f.qp.Flags != uapi.MLX5QPUARPageIndex || f.qp.UIdx != uint32(i) {
			t.Errorf("QP %d: got page %d, flags %#x, index %d, want page %d", i, f.qp.BFRegIndex, f.qp.Flags, f.qp.UIdx, page)
		}
		qps = append(qps, q)
	}
	if err := qps[1].Close(); err != nil {
		t.Fatal(err)
	}
	if q := d.newQP(t, f, attr); q.index != 1 || q.register.page == 0 || f.mapped != 3 {
		t.Errorf("after a Close: got index %d, page %d and %d pages, want index 1 and 3 pages", q.index, q.register.page, f.mapped)
	}
	if err := d.Close(); err != nil || f.mapped != 0 {
		t.Errorf("Close: got error %v and %d mapped pages", err, f.mapped)
	}
	if want := []uint64{uapi.MLX5UARTypeNC, uapi.MLX5UARTypeBF, uapi.MLX5UARTypeBF}; len(f.kinds) != 3 || [3]uint64(f.kinds) != [3]uint64(want) {
		t.Errorf("got pages of types %d, want %d", f.kinds, want)
	}
}

// Kernel errors are returned, and the next attempt succeeds.
func TestRefused(t *testing.T) {
	f, d := newDevice(t)
	refused := errors.New("refused")
	cq := d.newCQ(t, f, 1)
	attr := provider.QPAttr{Transport: provider.UD, Cap: provider.QPCap{MaxSendWR: 1, MaxRecvWR: 1}, SendCQ: cq, RecvCQ: cq}
	for name, create := range map[string]func() error{
		"QP": func() error { _, err := d.NewQP(attr, answer(f, &f.qp, provider.Created{}, 0)); return err },
		"CQ": func() error {
			_, err := d.NewCQ(provider.CQAttr{Entries: 1}, answer(f, &f.cq, provider.Created{CQE: 1}, 0))
			return err
		},
		"SRQ": func() error {
			_, err := d.NewSRQ(provider.SRQAttr{MaxWR: 1}, answer(f, &f.srq, provider.Created{MaxWR: 1}, 0))
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			f.err = refused
			if err := create(); !errors.Is(err, refused) {
				t.Errorf("got error %v, want %v", err, refused)
			}
			f.err = nil
			if err := create(); err != nil {
				t.Error(err)
			}
		})
	}
}

// A response that contradicts the request is an error. The queue that comes with it releases
// the memory and the user index once the kernel's object is destroyed.
func TestInconsistent(t *testing.T) {
	f, d := newDevice(t)
	c, err := d.NewCQ(provider.CQAttr{Entries: 4}, answer(f, &f.cq, provider.Created{CQE: 3}, 0x80))
	if q := c.(*cq); !errors.Is(err, provider.ErrCorrupt) || q.memory.Bytes() == nil || q.Close() != nil || q.memory.Bytes() != nil {
		t.Errorf("CQ: got error %v, want %v and memory until Close", err, provider.ErrCorrupt)
	}
	s, err := d.NewSRQ(provider.SRQAttr{MaxWR: 4, CQ: d.newCQ(t, f, 7)}, answer(f, &f.srq, provider.Created{MaxWR: 15}, 9))
	if q := s.(*srq); !errors.Is(err, provider.ErrCorrupt) || q.memory.Bytes() == nil || q.Close() != nil || q.memory.Bytes() != nil || d.users.Find(uint64(q.index)) != nil {
		t.Errorf("SRQ: got error %v, want %v and memory until Close", err, provider.ErrCorrupt)
	}
}

// Requests beyond the adapter name them's limits.
func TestLimits(t *testing.T) {
	f, d := newDevice(t)
	cq := d.newCQ(t, f, 1)
	qp := func(c provider.QPCap) func() error {
		return func() error {
			_, err := d.NewQP(provider.QPAttr{Transport: provider.RC, Cap: c, SendCQ: cq, RecvCQ: cq}, answer(f, &f.qp, provider.Created{}, 0))
			return err
		}
	}
	for name, test := range map[string]struct {
		create func() error
		want   string
	}{
		"send queue":        {qp(provider.QPCap{MaxSendWR: 1 << 20}), "the adapter has up to 32768"},
		"overflow":          {qp(provider.QPCap{MaxSendWR: 1<<32 - 1, MaxSendSGE: 30}), "the adapter has up to 32768"},
		"SGEs":              {qp(provider.QPCap{MaxSendWR: 1, MaxSendSGE: 64}), "the adapter has up to 1024"},
		"inline":            {qp(provider.QPCap{MaxSendWR: 1, MaxInline: 1024}), "the adapter has up to 1024"},
		"inline overflow":   {qp(provider.QPCap{MaxSendWR: 1, MaxInline: 1<<32 - 1}), "the adapter has up to 1024"},
		"receive queue":     {qp(provider.QPCap{MaxRecvWR: 1 << 20}), "the adapter has up to 32768"},
		"SGEs of a receive": {qp(provider.QPCap{MaxRecvWR: 1, MaxRecvSGE: 33}), "the adapter has up to 512"},
		"SGEs overflow":     {qp(provider.QPCap{MaxRecvWR: 1, MaxRecvSGE: 1 << 28}), "the adapter has up to 512"},
		"CQ":                {func() error { _, err := d.NewCQ(provider.CQAttr{Entries: 1 << 24}, nil); return err }, "completion queue of 16777216 entries"},
		"SRQ":               {func() error { _, err := d.NewSRQ(provider.SRQAttr{MaxWR: 1 << 16}, nil); return err }, "the adapter has up to 32767"},
		"SGEs of an SRQ":    {func() error { _, err := d.NewSRQ(provider.SRQAttr{MaxWR: 1, MaxSGE: 1<<32 - 1}, nil); return err }, "the adapter has up to 512"},
	} {
		t.Run(name, func(t *testing.T) {
			if err := test.create(); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got error %v, want %q in it", err, test.want)
			}
		})
	}
}
