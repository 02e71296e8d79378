package verbs

import (
	"errors"
	"fmt"
	"io/fs"
	"math/bits"
	"net/netip"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/internal/uapi"
	"github.com/ibkit/ibkit/verbs/provider"
)

// Each attribute sets its own bit, which has the attribute name.
func TestQPAttrMask(t *testing.T) {
	fields := reflect.VisibleFields(reflect.TypeFor[QPAttr]())
	var all qpAttrMask
	for _, field := range fields {
		t.Run(field.Name, func(t *testing.T) {
			var a QPAttr
			value := reflect.New(field.Type.Elem())
			if value.Elem().CanUint() {
				value.Elem().SetUint(1)
			}
			reflect.ValueOf(&a).Elem().FieldByIndex(field.Index).Set(value)
			core, mask := a.core()
			known, rest := names(mask, qpAttrNames)
			if bits.OnesCount32(uint32(mask)) != 1 || rest != 0 || !slices.Equal(known, []string{field.Name}) {
				t.Errorf("got mask %#x, %v, want one bit, %s", mask, known, field.Name)
			}
			if value.Elem().CanUint() && core == (uapi.ModifyQP{}) {
				t.Error("got an empty structure")
			}
			all |= mask
		})
	}
	if len(fields) != len(qpAttrNames) || bits.OnesCount32(uint32(all)) != len(fields) {
		t.Errorf("got %d attributes, %d names, mask %#x, want equal numbers", len(fields), len(qpAttrNames), all)
	}
	if _, mask := (QPAttr{}).core(); mask != 0 {
		t.Errorf("no attributes: got mask %#x, want 0", mask)
	}
}

// The masks that the specification requires, with libibverbs values.
func TestTransitionMasks(t *testing.T) {
	for _, test := range []struct {
		kind     QPType
		from, to QPState
		needs    qpAttrMask // including the state
	}{
		{QPTypeRC, QPStateReset, QPStateInit, 0x39},
		{QPTypeUC, QPStateReset, QPStateInit, 0x39},
		{QPTypeUD, QPStateReset, QPStateInit, 0x71},
		{QPTypeRC, QPStateInit, QPStateRTR, 0x129181 | 0x8000},
		{QPTypeUC, QPStateInit, QPStateRTR, 0x101181},
		{QPTypeUD, QPStateInit, QPStateRTR, 0x1},
		{QPTypeRC, QPStateRTR, QPStateRTS, 0x12e01},
		{QPTypeUC, QPStateRTR, QPStateRTS, 0x10001},
		{QPTypeUD, QPStateRTR, QPStateRTS, 0x10001},
		{QPTypeSRD, QPStateReset, QPStateInit, 0x71},
		{QPTypeSRD, QPStateInit, QPStateRTR, 0x1},
		{QPTypeSRD, QPStateRTR, QPStateRTS, 0x10001},
	} {
		t.Run(fmt.Sprintf("%v from %v to %v", test.kind, test.from, test.to), func(t *testing.T) {
			needs := transitions[test.kind][stateChange{test.from, test.to}].needs | maskState
			if needs != test.needs {
				t.Errorf("got %#x, want %#x", needs, test.needs)
			}
		})
	}
}

func TestTransitions(t *testing.T) {
	for _, test := range []struct {
		kind     QPType
		from, to QPState
		mask     qpAttrMask
		want     string
	}{
		{QPTypeRC, QPStateReset, QPStateInit, 0x38, ""},
		{QPTypeRC, QPStateRTS, QPStateReset, 0, ""},
		{QPTypeRC, QPStateInit, QPStateError, 0, ""},
		{QPTypeRC, QPStateReset, QPStateReset, 0, ""},
		{QPTypeRC, QPStateReset, QPStateError, 0, "RC QP from RESET to ERR: no such transition"},
		{QPTypeRC, QPStateInit, QPStateError, maskPort, "RC QP from INIT to ERR does not allow Port"},
		{QPTypeUD, QPStateSQE, QPStateRTS, 0, ""},
		{QPTypeRC, QPStateRTS, QPStateRTS, maskAccess, ""},
		{QPTypeRC, QPStateReset, QPStateInit, 0x30, "RC QP from RESET to INIT requires Access"},
		{QPTypeUD, QPStateReset, QPStateInit, 0x30, "UD QP from RESET to INIT requires QKey"},
		{QPTypeSRD, QPStateRTR, QPStateRTS, maskSQPSN | maskRNRRetry, ""},
		{QPTypeSRD, QPStateReset, QPStateInit, 0x39, "SRD QP from RESET to INIT requires QKey"},
		{QPTypeUD, QPStateReset, QPStateInit, 0x78, "UD QP from RESET to INIT does not allow Access"},
		{QPTypeRC, QPStateRTS, QPStateReset, maskPort, "RC QP from RTS to RESET does not allow Port"},
		{QPTypeRC, QPStateSQE, QPStateRTS, 0, "RC QP from SQE to RTS: no such transition"},
		{QPTypeUC, QPStateRTR, QPStateSQD, 0, "UC QP from RTR to SQD: no such transition"},
		{QPTypeRawPacket, QPStateReset, QPStateInit, 0, "raw packet QP from RESET to INIT: no such transition"},
		{QPTypeRC, QPStateRTS, 9, 0, "RC QP from RTS to state 9: no such transition"},
	} {
		t.Run(fmt.Sprintf("%v from %v to %v with %#x", test.kind, test.from, test.to, uint32(test.mask)), func(t *testing.T) {
			err := checkTransition(test.kind, false, test.from, test.to, test.mask)
			text := ""
			if err != nil {
				text = err.Error()
			}
			if text != test.want || errors.Is(err, ErrState) != strings.HasSuffix(text, "no such transition") {
				t.Errorf("got %q, want %q", text, test.want)
			}
		})
	}
}

// A change that is not allowed does not reach the kernel.
func TestModify(t *testing.T) {
	c, _, m := openMaker(t)
	pd, cq := must(c.AllocPD())(t), must(c.CreateCQ(CQInit{Entries: 1}))(t)
	qp := must(pd.CreateQP(QPInit{Type: QPTypeUD, SendCQ: cq, RecvCQ: cq}))(t)
	m.cores = nil
	var wrong *TransitionError
	if err := qp.Modify(QPStateRTS, QPAttr{SQPSN: new(uint32)}); !errors.As(err, &wrong) || len(m.cores) != 0 {
		t.Errorf("got error %v after %d commands, want a TransitionError after 0", err, len(m.cores))
	}
	if err := qp.Modify(QPStateInit, QPAttr{PKeyIndex: new(uint16(3)), Port: new(uint8(1)), QKey: new(uint32(7))}); err != nil {
		t.Fatal(err)
	}
	want := uapi.ModifyQP{QPHandle: qp.handle, AttrMask: 0x71, PKeyIndex: 3, PortNum: 1, QKey: 7, State: 1}
	if got := uapi.Decode[uapi.ModifyQP](m.cores[0]); len(m.cores[0]) != 112 || got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if qp.State() != QPStateInit {
		t.Errorf("got state %v, want %v", qp.State(), QPStateInit)
	}
	if n, err := qp.PostRecv([]RecvWR{{}}); n != 1 || err != nil {
		t.Errorf("got %d posted, error %v, want 1", n, err)
	}
	if n, err := qp.PostSend([]SendWR{{}}); n != 0 || !errors.Is(err, ErrState) {
		t.Errorf("got %d posted, error %v, want 0 and %v", n, err, ErrState)
	}
}

func TestMulticast(t *testing.T) {
	c, _, m := openMaker(t)
	pd, cq := must(c.AllocPD())(t), must(c.CreateCQ(CQInit{Entries: 1}))(t)
	qp := must(pd.CreateQP(QPInit{Type: QPTypeUD, SendCQ: cq, RecvCQ: cq, BlockMulticastLoopback: true}))(t)
	if got := m.last(uapi.ObjectQP, uapi.MethodQPCreate).Number(uapi.AttrCreateQPFlags); got != 1<<1 {
		t.Errorf("flags: got %#x, want 0x2", got)
	}
	gid := ib.GID{0: 0xff, 15: 1}
	for name, call := range map[string]func(ib.GID, ib.LID) error{"attach": qp.AttachMulticast, "detach": qp.DetachMulticast} {
		t.Run(name, func(t *testing.T) {
			m.cores = nil
			if err := call(gid, 0xc001); err != nil {
				t.Fatal(err)
			}
			want := uapi.AttachMcast{GID: gid, QPHandle: qp.handle, MLID: 0xc001}
			if got := uapi.Decode[uapi.AttachMcast](m.cores[0]); got != want {
				t.Errorf("got %+v, want %+v", got, want)
			}
		})
	}
	if err := qp.Close(); err != nil {
		t.Fatal(err)
	}
	if err := qp.AttachMulticast(gid, 0); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("after Close: got %v, want %v", err, fs.ErrClosed)
	}
}

func TestQPStatus(t *testing.T) {
	r := uapi.QueryQPResp{
		Dest:      uapi.QPDest{DGID: [16]byte{0xfe, 0x80, 15: 1}, FlowLabel: 2, SGIDIndex: 3, HopLimit: 4, TrafficClass: 5, SL: 6, IsGlobal: 1, PortNum: 1},
		AltDest:   uapi.QPDest{DLID: 8, PortNum: 7},
		MaxSendWR: 9, MaxInline: 10, QKey: 11, RQPSN: 12, SQPSN: 13, DestQPNum: 14, AccessFlags: 1, PKeyIndex: 15, AltPKeyIndex: 16,
		State: 3, CurState: 2, PathMTU: 4, PathMigState: 1, SQDraining: 1, MaxRdAtomic: 17, MaxDestRdAtomic: 18, MinRNRTimer: 19,
		PortNum: 1, Timeout: 20, RetryCnt: 21, RNRRetry: 22, AltPortNum: 23, AltTimeout: 24, SQSigAll: 1,
	}
	want := QPStatus{
		State: QPStateRTS, CurState: QPStateRTR, Cap: QPCap{MaxSendWR: 9, MaxInline: 10}, Access: AccessLocalWrite,
		PKeyIndex: 15, Port: 1, QKey: 11,
		Path:    Path{DGID: netip.MustParseAddr("fe80::1"), FlowLabel: 2, SGIDIndex: 3, HopLimit: 4, TrafficClass: 5, SL: 6, Port: 1},
		PathMTU: 4, Timeout: 20, RetryCount: 21, RNRRetry: 22, RQPSN: 12, SQPSN: 13, MaxRdAtomic: 17, MaxDestRdAtomic: 18,
		MinRNRTimer: 19, PathMigState: 1, DestQPN: 14,
		AltPath: AltPath{Path: Path{DLID: 8, Port: 23}, PKeyIndex: 16, Timeout: 24}, SQDraining: true, SignalAll: true,
	}
	if d := cmp.Diff(want, qpStatus(r), cmp.Comparer(func(a, b netip.Addr) bool { return a == b })); d != "" {
		t.Error(d)
	}
}

// A path has the same meaning for a queue pair and an address handle.
func TestPath(t *testing.T) {
	for _, p := range []Path{
		{DGID: netip.MustParseAddr("::ffff:10.0.0.1"), SGIDIndex: 1, FlowLabel: 2, HopLimit: 3, TrafficClass: 4, SL: 5, Port: 1},
		{DLID: 1, SL: 2, SrcPathBits: 3, StaticRate: 4, Port: 5},
	} {
		d, ah := destOf(p), ahAttrOf(p)
		if got := pathOf(d); got != p {
			t.Errorf("got %+v, want %+v", got, p)
		}
		if ah.GRH.DGID != d.DGID || ah.GRH.SGIDIndex != d.SGIDIndex || ah.GRH.HopLimit != d.HopLimit || ah.GRH.FlowLabel != d.FlowLabel ||
			ah.GRH.TrafficClass != d.TrafficClass || ah.DLID != d.DLID || ah.SL != d.SL || ah.SrcPathBits != d.SrcPathBits ||
			ah.StaticRate != d.StaticRate || ah.IsGlobal != d.IsGlobal || ah.PortNum != d.PortNum {
			t.Errorf("got %+v for the AH, want %+v", ah, d)
		}
	}
	// Without a GRH, its fields are not set.
	if d := destOf(Path{SGIDIndex: 1, HopLimit: 3, DLID: 7}); d != (uapi.QPDest{DLID: 7}) {
		t.Errorf("without a GRH: got %+v, want only the DLID", d)
	}
}

// The reason follows the kernel's error.
func TestExplainPath(t *testing.T) {
	gid := uapi.GIDEntry{GID: netip.MustParseAddr("::ffff:10.0.0.1").As16(), Type: uint32(GIDTypeRoCEv2)}
	layer, flags := ib.LinkLayerEthernet, uint8(0)
	c, _ := openFake(t, DriverRXE, func(call call) error {
		switch {
		case call.Is(uapi.ObjectDevice, uapi.MethodQueryPort) && call.Number(uapi.AttrQueryPortPortNum) == 1:
			call.Set(uapi.AttrQueryPortResp, uapi.Bytes(&uapi.QueryPortRespEx{Legacy: uapi.QueryPortResp{LinkLayer: uint8(layer), Flags: flags}}))
			return nil
		case !call.Is(uapi.ObjectDevice, uapi.MethodQueryGIDEntry):
			return unix.EINVAL
		case call.Number(uapi.AttrQueryGIDEntryGIDIndex) == 1:
			call.Set(uapi.AttrQueryGIDEntryRespEntry, uapi.Bytes(&gid))
			return nil
		case call.Number(uapi.AttrQueryGIDEntryGIDIndex) == 2:
			return unix.ENODATA
		}
		return unix.EINVAL
	})
	for want, f := range map[provider.Network]uint8{provider.InfiniBand: 0, provider.GlobalInfiniBand: 1} {
		layer, flags = ib.LinkLayerInfiniBand, f
		if got, err := (queueDevice{c}).Network(1, 0); got != want || err != nil {
			t.Errorf("port with flags %d: got network %d, error %v, want %d", f, got, err, want)
		}
	}
	flags = 1
	const text = "invalid argument (a path from port 1 needs a GID)"
	if err := c.explainPath(Path{Port: 1}, unix.EINVAL); err.Error() != text {
		t.Errorf("GRH required: got %q, want %q", err, text)
	}
	flags = 0
	v4, v6 := netip.MustParseAddr("10.0.0.2"), netip.MustParseAddr("fe80::1")
	for i, test := range []struct {
		path  Path
		layer ib.LinkLayer
		err   error
		want  string
	}{
		{Path{Port: 2}, ib.LinkLayerEthernet, unix.EINVAL, "invalid argument (no port 2)"},
		{Path{Port: 1}, ib.LinkLayerEthernet, unix.EINVAL, "invalid argument (a path over Ethernet needs a GID)"},
		{Path{Port: 1}, ib.LinkLayerInfiniBand, unix.EINVAL, "invalid argument"},
		{Path{Port: 1, DGID: v4, SGIDIndex: 2}, ib.LinkLayerEthernet, unix.ENODATA, "no data available (GID 2 of port 1 is empty)"},
		{Path{Port: 1, DGID: v4, SGIDIndex: 3}, ib.LinkLayerEthernet, unix.EINVAL, "invalid argument (port 1 has no GID 3)"},
		{Path{Port: 1, DGID: v4, SGIDIndex: 1}, ib.LinkLayerEthernet, unix.EINVAL, "invalid argument"},
		{
			Path{Port: 1, DGID: v6, SGIDIndex: 1}, ib.LinkLayerEthernet, unix.EINVAL,
			"invalid argument (GID 1 is ::ffff:10.0.0.1 and cannot reach fe80::1: both must be IPv4 or both IPv6)",
		},
		{Path{Port: 2}, ib.LinkLayerEthernet, unix.ENETUNREACH, "network is unreachable"},
	} {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			layer = test.layer
			if err := c.explainPath(test.path, test.err); !errors.Is(err, test.err) || err.Error() != test.want {
				t.Errorf("%+v: got %q, want %q", test.path, err, test.want)
			}
		})
	}
}

func TestCheckAccess(t *testing.T) {
	for access, ok := range map[Access]bool{
		0: true, AccessRemoteRead: true, AccessRemoteWrite: false, AccessRemoteAtomic | AccessRemoteRead: false,
		AccessRemoteWrite | AccessRemoteAtomic | AccessLocalWrite: true,
	} {
		t.Run(fmt.Sprintf("%#x", uint32(access)), func(t *testing.T) {
			if err := checkAccess(access); (err == nil) != ok || err != nil && !errors.Is(err, unix.EINVAL) {
				t.Errorf("got error %v, want %v", err, !ok)
			}
		})
	}
}
