package verbs

import (
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/ibkit/ibkit/internal/sysfs"
	"github.com/ibkit/ibkit/internal/uapi"
)

// irdmaContext is the response to GET_CONTEXT of generation 2: completions have two entries
// of 32 bytes, and the shadow area is registered by itself.
var irdmaContext = uapi.IRDMAAllocUcontextResp{
	DBMmapKey: 4096, FeatureFlags: 3, MaxHWWQFrags: 13, MaxHWReadSGEs: 13, MaxHWInline: 101, MaxHWRQQuanta: 32768, MaxHWWQQuanta: 32768,
	MaxHWCQSize: 1<<20 - 1, MaxHWSQChunk: 8, HWRev: 2, CompMask: uapi.IRDMAUseRawAttr,
}

// openIRDMA opens a device with a kernel that creates objects.
func openIRDMA(t *testing.T) (*Context, *fake, *maker) {
	t.Helper()
	f, m := newMaker(t)
	f.driver = DriverIRDMA
	f.answer = func(c call) error {
		if c.Is(uapi.ObjectDevice, uapi.MethodGetContext) && !c.Probe {
			if in := uapi.Decode[uapi.IRDMAAllocUcontextReq](c.Memory(uapi.AttrUHWIn)); in.UserspaceVer != 5 || in.CompMask != uapi.IRDMAUseRawAttr|uapi.IRDMAFormatV2 {
				t.Errorf("got request %+v", in)
			}
			err := contexts(m.answer)(c)
			c.Set(uapi.AttrUHWOut, uapi.Bytes(&irdmaContext))
			return err
		}
		err := m.answer(c)
		switch {
		case c.Is(uapi.ObjectCQ, uapi.MethodCQCreate):
			c.Set(uapi.AttrUHWOut, uapi.Bytes(&uapi.IRDMACreateCQResp{CQID: 5, CQSize: 18}))
		case c.Is(uapi.ObjectQP, uapi.MethodQPCreate):
			c.Set(uapi.AttrUHWOut, uapi.Bytes(&uapi.IRDMACreateQPResp{QPID: 7, ActualSQSize: 256, ActualRQSize: 16, QPCaps: 7}))
		}
		return err
	}
	f.maps = func(_ int64, length int) ([]byte, error) { return make([]byte, length), nil }
	return openKernel(t, f), f, m
}

// Queue memory is registered before the queue is created, and until it is destroyed; the
// command has the entries, and the queue the completions.
func TestIRDMA(t *testing.T) {
	c, _, m := openIRDMA(t)
	pd := must(c.AllocPD())(t)
	m.made, m.closed = nil, nil
	cq := must(c.CreateCQ(CQInit{Entries: 8}))(t)
	last := m.last(uapi.ObjectCQ, uapi.MethodCQCreate)
	if got := binary.NativeEndian.Uint32(last.Attr(uapi.AttrCreateCQCQE).Data[:]); got != 18 || cq.Entries() != 8 {
		t.Errorf("got %d entries in the command and a capacity of %d, want 18 and 8", got, cq.Entries())
	}
	qp := must(pd.CreateQP(QPInit{Type: QPTypeRC, SendCQ: cq, RecvCQ: cq, Cap: QPCap{MaxSendWR: 8, MaxRecvWR: 8, MaxSendSGE: 1, MaxRecvSGE: 1}}))(t)
	if want := []uint16{uapi.ObjectPD, uapi.ObjectMR, uapi.ObjectMR, uapi.ObjectCQ, uapi.ObjectMR, uapi.ObjectQP}; !slices.Equal(m.made, want) {
		t.Errorf("created objects of kinds %v, want %v", m.made, want)
	}
	for _, o := range []closer{qp, cq} {
		if err := o.Close(); err != nil {
			t.Error(err)
		}
	}
	if want := []uint16{uapi.ObjectQP, uapi.ObjectMR, uapi.ObjectCQ, uapi.ObjectMR, uapi.ObjectMR}; !slices.Equal(m.closed, want) {
		t.Errorf("destroyed objects of kinds %v, want %v", m.closed, want)
	}
}

// The type of the node decides for a driver with devices of both kinds.
func TestIsIWARP(t *testing.T) {
	for _, test := range []struct {
		driver DriverID
		kind   string
		want   bool
	}{
		{DriverIRDMA, "1: CA", false}, {DriverIRDMA, "4: RNIC", true}, {DriverIRDMA, "", false}, {DriverSIW, "", true}, {DriverMLX5, "4: RNIC", false},
	} {
		t.Run(test.driver.String()+test.kind, func(t *testing.T) {
			root := t.TempDir()
			if test.kind != "" {
				dir := filepath.Join(root, "class/infiniband/dev0")
				if err := errors.Join(os.MkdirAll(dir, 0o700), os.WriteFile(filepath.Join(dir, "node_type"), []byte(test.kind), 0o600)); err != nil {
					t.Fatal(err)
				}
			}
			if got := isIWARP(sysfs.FS(root), test.driver, "dev0"); got != test.want {
				t.Errorf("%v, type %q: got %v, want %v", test.driver, test.kind, got, test.want)
			}
		})
	}
}
