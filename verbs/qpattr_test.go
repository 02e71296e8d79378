package verbs

import (
	"errors"
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
)

// Each attribute sets a bit of its own, which has the attribute's name.
func TestQPAttrMask(t *testing.T) {
	fields := reflect.VisibleFields(reflect.TypeFor[QPAttr]())
	var all qpAttrMask
	for _, field := range fields {
		var a QPAttr
		value := reflect.New(field.Type.Elem())
		if value.Elem().CanUint() {
			value.Elem().SetUint(1)
		}
		reflect.ValueOf(&a).Elem().FieldByIndex(field.Index).Set(value)
		core, mask := a.core()
		known, rest := names(mask, qpAttrNames)
		if bits.OnesCount32(uint32(mask)) != 1 || rest != 0 || !slices.Equal(known, []string{field.Name}) {
			t.Errorf("%s: mask %#x, %v", field.Name, mask, known)
		}
		if value.Elem().CanUint() && core == (uapi.ModifyQP{}) {
			t.Errorf("%s: not in the structure", field.Name)
		}
		all |= mask
	}
	if len(fields) != len(qpAttrNames) || bits.OnesCount32(uint32(all)) != len(fields) {
		t.Errorf("%d attributes, %d names, mask %#x", len(fields), len(qpAttrNames), all)
	}
	if _, mask := (QPAttr{}).core(); mask != 0 {
		t.Errorf("nothing sets %#x", mask)
	}
}

// The masks that the specification wants, as programs of libibverbs have them.
func TestTransitionMasks(t *testing.T) {
	for _, test := range []struct {
		kind     QPType
		from, to QPState
		needs    qpAttrMask // with the state
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
	} {
		needs := transitions[test.kind][stateChange{test.from, test.to}].needs | maskState
		if needs != test.needs {
			t.Errorf("%v from %v to %v needs %#x, want %#x", test.kind, test.from, test.to, needs, test.needs)
		}
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
		{QPTypeUD, QPStateReset, QPStateInit, 0x78, "UD QP from RESET to INIT does not allow Access"},
		{QPTypeRC, QPStateRTS, QPStateReset, maskPort, "RC QP from RTS to RESET does not allow Port"},
		{QPTypeRC, QPStateSQE, QPStateRTS, 0, "RC QP from SQE to RTS: no such transition"},
		{QPTypeUC, QPStateRTR, QPStateSQD, 0, "UC QP from RTR to SQD: no such transition"},
		{QPTypeRawPacket, QPStateReset, QPStateInit, 0, "raw packet QP from RESET to INIT: no such transition"},
		{QPTypeRC, QPStateRTS, 9, 0, "RC QP from RTS to state 9: no such transition"},
	} {
		err := checkTransition(test.kind, test.from, test.to, test.mask)
		text := ""
		if err != nil {
			text = err.Error()
		}
		if text != test.want || errors.Is(err, ErrState) != strings.HasSuffix(text, "no such transition") {
			t.Errorf("%v from %v to %v with %#x: %q, want %q", test.kind, test.from, test.to, test.mask, text, test.want)
		}
	}
}

// What is refused here the kernel never sees.
func TestModify(t *testing.T) {
	c, _, m := openMaker(t)
	pd, cq := must(c.AllocPD())(t), must(c.CreateCQ(CQInit{Entries: 1}))(t)
	qp := must(pd.CreateQP(QPInit{Type: QPTypeUD, SendCQ: cq, RecvCQ: cq}))(t)
	m.cores = nil
	var wrong *TransitionError
	if err := qp.Modify(QPStateRTS, QPAttr{SQPSN: new(uint32)}); !errors.As(err, &wrong) || len(m.cores) != 0 {
		t.Errorf("%v; the kernel saw %d commands", err, len(m.cores))
	}
	if err := qp.Modify(QPStateInit, QPAttr{PKeyIndex: new(uint16(3)), Port: new(uint8(1)), QKey: new(uint32(7))}); err != nil {
		t.Fatal(err)
	}
	want := uapi.ModifyQP{QPHandle: qp.handle, AttrMask: 0x71, PKeyIndex: 3, PortNum: 1, QKey: 7, State: 1}
	if got := decode[uapi.ModifyQP](m.cores[0]); len(m.cores[0]) != 112 || got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	if qp.State() != QPStateInit {
		t.Errorf("state %v", qp.State())
	}
	if n, err := qp.PostRecv([]RecvWR{{}}); n != 1 || err != nil {
		t.Errorf("posted %d: %v", n, err)
	}
	if n, err := qp.PostSend([]SendWR{{}}); n != 0 || !errors.Is(err, ErrState) {
		t.Errorf("posted %d: %v", n, err)
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

// A path means the same to a queue pair and to an address handle.
func TestPath(t *testing.T) {
	for _, p := range []Path{
		{DGID: netip.MustParseAddr("::ffff:10.0.0.1"), SGIDIndex: 1, FlowLabel: 2, HopLimit: 3, TrafficClass: 4, SL: 5, Port: 1},
		{DLID: 1, SL: 2, SrcPathBits: 3, StaticRate: 4, Port: 5},
	} {
		d, ah := p.dest(), p.ahAttr()
		if got := pathOf(d); got != p {
			t.Errorf("%+v, want %+v", got, p)
		}
		if ah.GRH.DGID != d.DGID || ah.GRH.SGIDIndex != d.SGIDIndex || ah.GRH.HopLimit != d.HopLimit || ah.GRH.FlowLabel != d.FlowLabel ||
			ah.GRH.TrafficClass != d.TrafficClass || ah.DLID != d.DLID || ah.SL != d.SL || ah.SrcPathBits != d.SrcPathBits ||
			ah.StaticRate != d.StaticRate || ah.IsGlobal != d.IsGlobal || ah.PortNum != d.PortNum {
			t.Errorf("%+v, %+v", d, ah)
		}
	}
	// Without a GRH there are none of its fields.
	if d := (Path{SGIDIndex: 1, HopLimit: 3, DLID: 7}).dest(); d != (uapi.QPDest{DLID: 7}) {
		t.Errorf("%+v", d)
	}
}

// What is wrong with a path is said after the kernel's error.
func TestRefusedPath(t *testing.T) {
	gid := uapi.GIDEntry{GID: netip.MustParseAddr("::ffff:10.0.0.1").As16(), Type: uint32(GIDTypeRoCEv2)}
	layer := ib.LinkLayerEthernet
	c, _ := openFake(t, DriverRXE, func(call call) error {
		switch {
		case call.is(uapi.ObjectDevice, uapi.MethodQueryPort) && call.number(uapi.AttrQueryPortPortNum) == 1:
			call.set(uapi.AttrQueryPortResp, bytesOf(&uapi.QueryPortRespEx{Legacy: uapi.QueryPortResp{LinkLayer: uint8(layer)}}))
			return nil
		case !call.is(uapi.ObjectDevice, uapi.MethodQueryGIDEntry):
			return unix.EINVAL
		case call.number(uapi.AttrQueryGIDEntryGIDIndex) == 1:
			call.set(uapi.AttrQueryGIDEntryRespEntry, bytesOf(&gid))
			return nil
		case call.number(uapi.AttrQueryGIDEntryGIDIndex) == 2:
			return unix.ENODATA
		}
		return unix.EINVAL
	})
	v4, v6 := netip.MustParseAddr("10.0.0.2"), netip.MustParseAddr("fe80::1")
	for _, test := range []struct {
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
		layer = test.layer
		if err := c.explainPath(test.path, test.err); !errors.Is(err, test.err) || err.Error() != test.want {
			t.Errorf("%+v: %q, want %q", test.path, err, test.want)
		}
	}
}

func TestCheckAccess(t *testing.T) {
	for access, ok := range map[Access]bool{
		0: true, AccessRemoteRead: true, AccessRemoteWrite: false, AccessRemoteAtomic | AccessRemoteRead: false,
		AccessRemoteWrite | AccessRemoteAtomic | AccessLocalWrite: true,
	} {
		if err := checkAccess(access); (err == nil) != ok || err != nil && !errors.Is(err, unix.EINVAL) {
			t.Errorf("access %#x: %v", access, err)
		}
	}
}
