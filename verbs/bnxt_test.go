package verbs

import (
	"encoding/binary"
	"slices"
	"testing"
	"unsafe"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/internal/uapi"
)

// bnxtContext is the response to GET_CONTEXT of generation p5.
var bnxtContext = uapi.BNXTContextResp{PgSize: 4096, CQESz: 32, MaxCQD: 65535, CompMask: uapi.BNXTHaveChip, ChipID0: 0x1750}

// bnxtDoorbells is the offset of the doorbells, in the response to ALLOC_PD.
const bnxtDoorbells = 0x5000

// openBNXT opens a device with a kernel that creates objects. It returns the doorbells.
func openBNXT(t *testing.T) (*Context, *maker, *uint64) {
	t.Helper()
	f, m := newMaker(t)
	f.driver = DriverBNXTRE
	doorbell := new(uint64)
	f.answer = func(c call) error {
		if c.Is(uapi.ObjectDevice, uapi.MethodGetContext) && !c.Probe {
			if in := c.Attr(uapi.AttrUHWIn).Data; binary.NativeEndian.Uint64(in[:]) != uapi.BNXTReqPow2|uapi.BNXTReqVariableWQE {
				t.Errorf("got request %#x", in)
			}
			err := contexts(m.answer)(c)
			c.Set(uapi.AttrUHWOut, uapi.Bytes(&bnxtContext))
			return err
		}
		err := m.answer(c)
		switch cmd, isCommand := c.Command(); {
		case isCommand && cmd == uapi.CmdAllocPD:
			c.Set(uapi.AttrUHWOut, uapi.Bytes(&uapi.BNXTPDResp{PDID: 1, DPI: 1, DBR: bnxtDoorbells}))
		case c.Is(uapi.ObjectCQ, uapi.MethodCQCreate):
			c.Set(uapi.AttrUHWOut, uapi.Bytes(&uapi.BNXTCQResp{CQID: 5, Phase: 1}))
		case c.Is(uapi.ObjectQP, uapi.MethodQPCreate):
			c.Set(uapi.AttrUHWOut, uapi.Bytes(&uapi.BNXTQPResp{QPID: 7}))
		case c.Is(uapi.ObjectSRQ, uapi.MethodSRQCreate):
			c.Set(uapi.AttrUHWOut, uapi.Bytes(&uapi.BNXTSRQResp{SRQID: 9}))
		}
		return err
	}
	f.maps = func(offset int64, length int) ([]byte, error) {
		if offset != bnxtDoorbells || length != 4096 {
			t.Errorf("got mapping of %d bytes at %#x", length, offset)
		}
		words := make([]uint64, length/8)
		doorbell = &words[0]
		return unsafe.Slice((*byte)(unsafe.Pointer(doorbell)), length), nil
	}
	c := openKernel(t, f)
	must(c.CreateCQ(CQInit{Entries: 4}))(t)
	return c, m, doorbell
}

// The doorbells are mapped with the first queue, from a protection domain that the context
// keeps. The command has twice the entries.
func TestBNXT(t *testing.T) {
	c, m, _ := openBNXT(t)
	m.made = nil
	cq := must(c.CreateCQ(CQInit{Entries: 8}))(t)
	last := m.last(uapi.ObjectCQ, uapi.MethodCQCreate)
	if got := binary.NativeEndian.Uint32(last.Attr(uapi.AttrCreateCQCQE).Data[:]); got != 16 || cq.Entries() != 8 {
		t.Errorf("got %d entries in the command and a capacity of %d, want 16 and 8", got, cq.Entries())
	}
	if want := []uint16{uapi.ObjectCQ}; !slices.Equal(m.made, want) {
		t.Errorf("second queue: created objects of kinds %v, want %v", m.made, want)
	}
	if err := cq.Resize(20); err != nil || cq.Entries() != 20 {
		t.Errorf("Resize: got error %v and a capacity of %d, want 20", err, cq.Entries())
	}
	if core := uapi.Decode[uapi.ResizeCQ](m.cores[len(m.cores)-1]); core.CQE != 40 {
		t.Errorf("Resize: got %d entries in the command, want 40", core.CQE)
	}
	if err := (queueDevice{c}).PollCQ(9); err != nil {
		t.Error(err)
	}
	if core := uapi.Decode[uapi.PollCQ](m.cores[len(m.cores)-1]); core.CQHandle != 9 || core.NE != 1 {
		t.Errorf("got %+v", core)
	}
}

// A connected queue pair numbers its packets from the number and with the packet size that the
// kernel has.
func TestBNXT_PacketNumbers(t *testing.T) {
	c, m, _ := openBNXT(t)
	cq := must(c.CreateCQ(CQInit{Entries: 4}))(t)
	pd := must(c.AllocPD())(t)
	qp := must(pd.CreateQP(QPInit{Type: QPTypeRC, SendCQ: cq, RecvCQ: cq, Cap: QPCap{MaxSendWR: 8, MaxRecvWR: 8, MaxSendSGE: 1, MaxRecvSGE: 1}}))(t)
	in := uapi.Decode[uapi.BNXTQPReq](m.last(uapi.ObjectQP, uapi.MethodQPCreate).Memory(uapi.AttrUHWIn))
	param := DefaultParam
	param.PSN = 0x1000
	if err := qp.Connect(RemoteQP{QPN: 1, PSN: 2, MTU: ib.MTU2048, Path: Path{Port: 1}}, param); err != nil {
		t.Fatal(err)
	}
	if n, err := qp.PostSend([]SendWR{{Opcode: OpWrite, SGEs: []SGE{{Length: 3 * 2048}}}}); n != 1 || err != nil {
		t.Fatal(n, err)
	}
	const behind = 256 * 128 // bytes of work requests
	table := *(**uint32)(unsafe.Pointer(new(uintptr(in.QPSVA + behind))))
	words := unsafe.Slice((*byte)(unsafe.Pointer(table)), 8)
	first, next := binary.LittleEndian.Uint32(words)&0xffffff, binary.LittleEndian.Uint32(words[4:])
	if first != 0x1000 || next != 0x1003 {
		t.Errorf("got the numbers %#x and %#x, want 0x1000 and 0x1003", first, next)
	}
}

// A shared receive queue is armed after the driver has the limit.
func TestBNXT_Limit(t *testing.T) {
	c, _, doorbell := openBNXT(t)
	pd := must(c.AllocPD())(t)
	s := must(pd.CreateSRQ(SRQInit{MaxWR: 4, MaxSGE: 1}))(t)
	if n, err := s.PostRecv(make([]RecvWR, 3)); n != 3 || err != nil {
		t.Fatal(n, err)
	}
	if err := s.SetLimit(2); err != nil {
		t.Fatal(err)
	}
	var b [8]byte
	binary.NativeEndian.PutUint64(b[:], *doorbell)
	if got, want := binary.LittleEndian.Uint64(b[:]), uint64(3<<60|1<<58|9<<32|2); got != want {
		t.Errorf("got doorbell %#x, want %#x", got, want)
	}
}
