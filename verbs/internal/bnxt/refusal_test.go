package bnxt

import (
	"encoding/binary"
	"errors"
	"net/netip"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/ibkit/ibkit/internal/uapi"
	"github.com/ibkit/ibkit/verbs/provider"
)

// A response that contradicts the request is an error, and a refusal leaves no mapping behind.
func TestInconsistent(t *testing.T) {
	f := newFake(t, thor, 0)
	c := f.newCQ(t, 8)
	f.number = 1 << 20
	attr := rc(c)
	q, err := f.device.NewQP(attr, answer(f, &f.qp, uapi.BNXTQPResp{QPID: f.number}))
	if !errors.Is(err, provider.ErrCorrupt) || q.Close() != nil {
		t.Errorf("QP: got error %v, want %v", err, provider.ErrCorrupt)
	}
	bad, err := f.device.NewCQ(provider.CQAttr{Entries: 8}, answer(f, &f.cq, uapi.BNXTCQResp{CQID: f.number}))
	if !errors.Is(err, provider.ErrCorrupt) || bad.Close() != nil {
		t.Errorf("CQ: got error %v, want %v", err, provider.ErrCorrupt)
	}
	s, err := f.device.NewSRQ(provider.SRQAttr{MaxWR: 4, MaxSGE: 1}, answer(f, &f.srq, uapi.BNXTSRQResp{SRQID: f.number}))
	if !errors.Is(err, provider.ErrCorrupt) || s.Close() != nil {
		t.Errorf("SRQ: got error %v, want %v", err, provider.ErrCorrupt)
	}
	f.err = errors.New("refused")
	for name, create := range map[string]func() error{
		"QP": func() error { _, err := f.device.NewQP(attr, answer(f, &f.qp, 0)); return err },
		"CQ": func() error { _, err := f.device.NewCQ(provider.CQAttr{Entries: 8}, answer(f, &f.cq, 0)); return err },
		"SRQ": func() error {
			_, err := f.device.NewSRQ(provider.SRQAttr{MaxWR: 4, MaxSGE: 1}, answer(f, &f.srq, 0))
			return err
		},
		"AH": func() error {
			var none uint32
			_, err := f.NewAH(provider.Path{DGID: netip.IPv6Loopback()}, 0, answer(f, &none, 0))
			return err
		},
	} {
		if err := create(); !errors.Is(err, f.err) {
			t.Errorf("%s: got error %v, want %v", name, err, f.err)
		}
	}
	for name, change := range map[string]func(*uapi.BNXTContextResp){
		"chip":     func(r *uapi.BNXTContextResp) { r.ChipID0 = 0x1899 },
		"mode":     func(r *uapi.BNXTContextResp) { r.Mode, r.CompMask = 2, r.CompMask|uapi.BNXTHaveMode },
		"entry":    func(r *uapi.BNXTContextResp) { r.CQESz = 64 },
		"page":     func(r *uapi.BNXTContextResp) { r.PgSize = 5000 },
		"no limit": func(r *uapi.BNXTContextResp) { r.MaxCQD = 0 },
	} {
		r := response(thor, 0)
		change(&r)
		if _, err := New(f, uapi.Bytes(&r)); !errors.Is(err, provider.ErrCorrupt) && !errors.Is(err, errors.ErrUnsupported) {
			t.Errorf("%s: got error %v", name, err)
		}
	}
}

// Capacities that the layout has no room for are refused before the command.
func TestRefused(t *testing.T) {
	f := newFake(t, older, 0)
	c := f.newCQ(t, 8)
	for name, test := range map[string]struct {
		change func(*provider.QPAttr)
		want   error
	}{
		"UC":                   {func(a *provider.QPAttr) { a.Transport = provider.UC }, provider.ErrOpcode},
		"datagrams":            {func(a *provider.QPAttr) { a.Transport = provider.UD }, errors.ErrUnsupported},
		"work requests":        {func(a *provider.QPAttr) { a.Cap.MaxSendWR = 65536 - 128 }, unix.EINVAL},
		"more work requests":   {func(a *provider.QPAttr) { a.Cap.MaxSendWR = 1<<32 - 1 }, unix.EINVAL},
		"receives":             {func(a *provider.QPAttr) { a.Cap.MaxRecvWR = 65536 }, unix.EINVAL},
		"SGEs":                 {func(a *provider.QPAttr) { a.Cap.MaxSendSGE = 7 }, unix.EINVAL},
		"inline data":          {func(a *provider.QPAttr) { a.Cap.MaxInline = 97 }, unix.EINVAL},
		"receives with SGEs":   {func(a *provider.QPAttr) { a.Cap.MaxRecvSGE = 7 }, unix.EINVAL},
		"largest queue is not": {func(a *provider.QPAttr) { a.Cap.MaxSendWR, a.Cap.MaxRecvWR = 65536-129, 65535 }, nil},
	} {
		t.Run(name, func(t *testing.T) {
			attr := rc(c)
			test.change(&attr)
			q, err := f.device.NewQP(attr, answer(f, &f.qp, uapi.BNXTQPResp{}))
			if !errors.Is(err, test.want) || (err == nil && q.Close() != nil) {
				t.Errorf("got error %v, want %v", err, test.want)
			}
		})
	}
	if _, err := f.device.NewCQ(provider.CQAttr{Entries: 65536}, nil); !errors.Is(err, unix.EINVAL) {
		t.Errorf("CQ: got error %v, want %v", err, unix.EINVAL)
	}
	if _, err := f.device.NewSRQ(provider.SRQAttr{MaxWR: 1 << 20}, nil); !errors.Is(err, unix.EINVAL) {
		t.Errorf("SRQ: got error %v, want %v", err, unix.EINVAL)
	}
	if _, err := f.device.NewSRQ(provider.SRQAttr{MaxWR: 1, MaxSGE: 7}, nil); !errors.Is(err, provider.ErrSGEs) {
		t.Errorf("SRQ of 7 SGEs: got error %v, want %v", err, provider.ErrSGEs)
	}
	if _, err := f.device.NewSRQ(provider.SRQAttr{CQ: c}, nil); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("SRQ of XRC: got error %v, want %v", err, errors.ErrUnsupported)
	}
}

func TestPostSend_Refused(t *testing.T) {
	f := newFake(t, thor, 0)
	c := f.newCQ(t, 8)
	connected := f.newQP(t, rc(c))
	attr := rc(c)
	attr.Transport = provider.UD
	datagrams := f.newQP(t, attr)
	for name, test := range map[string]struct {
		q    *qp
		wr   provider.SendWR
		want error
	}{
		"bind":               {connected, provider.SendWR{Opcode: provider.OpBindMW}, provider.ErrOpcode},
		"unknown operation":  {connected, provider.SendWR{Opcode: 200}, provider.ErrOpcode},
		"write of datagram":  {datagrams, provider.SendWR{Opcode: provider.OpWrite}, provider.ErrOpcode},
		"inline":             {connected, provider.SendWR{Opcode: provider.OpSend, Flags: provider.SendInline, Inline: make([]byte, 97)}, provider.ErrInline},
		"inline read":        {connected, provider.SendWR{Opcode: provider.OpRead, Flags: provider.SendInline}, provider.ErrInline},
		"SGEs":               {connected, provider.SendWR{Opcode: provider.OpSend, SGEs: make([]provider.SGE, 3)}, provider.ErrSGEs},
		"length":             {connected, provider.SendWR{Opcode: provider.OpSend, SGEs: []provider.SGE{{Length: 1 << 31}}}, provider.ErrLength},
		"atomic":             {connected, provider.SendWR{Opcode: provider.OpFetchAdd, SGEs: []provider.SGE{{Length: 4}}}, provider.ErrLength},
		"no address handle":  {datagrams, provider.SendWR{Opcode: provider.OpSend}, provider.ErrAH},
		"address of another": {datagrams, provider.SendWR{Opcode: provider.OpSend, AH: provider.NewDestination(1)}, provider.ErrAH},
	} {
		t.Run(name, func(t *testing.T) {
			if n, err := test.q.PostSend([]provider.SendWR{test.wr}); n != 0 || !errors.Is(err, test.want) || f.bell() != 0 {
				t.Errorf("got %d posted and error %v, want %v and no doorbell", n, err, test.want)
			}
		})
	}
	if n, err := connected.PostRecv([]provider.RecvWR{{SGEs: make([]provider.SGE, 3)}}); n != 0 || !errors.Is(err, provider.ErrSGEs) {
		t.Errorf("receive: got %d posted and error %v, want %v", n, err, provider.ErrSGEs)
	}
}

// A queue pair without SGEs posts in either mode.
func TestPost_NoSGEs(t *testing.T) {
	for _, properties := range []uint64{0, uapi.BNXTHaveMode} {
		f := newFake(t, thor2, properties)
		attr := rc(f.newCQ(t, 8))
		attr.Cap.MaxSendSGE, attr.Cap.MaxRecvSGE, attr.Cap.MaxInline = 0, 0, 0
		q := f.newQP(t, attr)
		postSends(t, q, 0, 1)
		if n, err := q.PostRecv(make([]provider.RecvWR, 100)); n != int(q.Cap().MaxRecvWR) || !errors.Is(err, provider.ErrFull) {
			t.Errorf("got %d posted and error %v, want %d and %v", n, err, q.Cap().MaxRecvWR, provider.ErrFull)
		}
	}
}

// The kernel writes an address handle's number to the shared page.
func TestNewAH(t *testing.T) {
	f := newFake(t, thor, 0)
	write := func(number uint32) provider.Create {
		return func(in, out []byte) (provider.Created, error) {
			if len(in)+len(out) != 0 {
				t.Errorf("got %d and %d bytes for the driver, want none", len(in), len(out))
			}
			binary.NativeEndian.PutUint32(f.shared[uapi.BNXTAVIDOffset:], number)
			return provider.Created{}, nil
		}
	}
	path := provider.Path{DGID: netip.MustParseAddr("::ffff:10.0.0.1")}
	if got, err := f.NewAH(path, 0, write(0xabcde)); err != nil || *got.(*ah) != (ah{0xabcde}) {
		t.Errorf("got %+v and error %v", got, err)
	}
	if _, err := f.NewAH(path, 0, write(1<<20)); !errors.Is(err, provider.ErrCorrupt) {
		t.Errorf("number of 21 bits: got error %v, want %v", err, provider.ErrCorrupt)
	}
	if _, err := f.NewAH(provider.Path{}, 0, nil); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("without a GID: got error %v, want %v", err, errors.ErrUnsupported)
	}
	if err := f.device.Close(); err != nil || f.mapped != 0 {
		t.Errorf("Close: got error %v and %d mappings", err, f.mapped)
	}
}
