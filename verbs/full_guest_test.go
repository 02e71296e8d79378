//go:build inguest

package verbs_test

import (
	"context"
	"errors"
	"net/netip"
	"os"
	"os/exec"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/verbs"
)

// TestFull requires module ibfull's device, which reports attributes that
// Soft-RoCE lacks. Its driver has no number, and it can be removed while it is
// open.
func TestFull(t *testing.T) {
	c, err := verbs.Open("ibfull0", node)
	if err != nil {
		t.Fatal(err)
	}
	if c.Driver() != 0 || c.CompVectors() != 5 {
		t.Errorf("got driver %v, %d vectors, want unknown, 5", c.Driver(), c.CompVectors())
	}
	got, err := c.QueryDevice()
	if err != nil {
		t.Fatal(err)
	}
	want := verbs.DeviceAttr{
		FW:       verbs.FWVersion{Raw: 1<<32 | 2<<16 | 3},
		NodeGUID: 0x0002c90300001234, SysImageGUID: 0x0002c90300001235, VendorID: 0x1405,
		MaxQP: 16, MaxQPWR: 1024, MaxSGE: 4, MaxCQ: 16, MaxCQE: 1024, MaxPD: 16, MaxPKeys: 1, PhysPortCount: 1,
		Caps:          1 << 10,
		ODP:           &verbs.ODPCaps{General: 1, RC: 1<<0 | 1<<3, UC: 1 << 1, UD: 1 << 2},
		TimestampMask: new(uint64(1<<63 - 1)),
		CoreClock:     new(uint64(156250)),
		CapsEx:        new(verbs.DeviceCapsEx(1<<36 | 1<<10)),
		RSS:           &verbs.RSSCaps{QPTypes: 1 << 8, MaxRWQIndirectionTables: 101, MaxRWQIndirectionTableSize: 102},
		MaxWQTypeRQ:   new(uint32(103)),
		RawPacket:     new(verbs.RawPacketCaps(1 << 1)),
		TagMatching:   &verbs.TagMatchingCaps{MaxRndvHdrSize: 104, MaxNumTags: 105, Flags: 1, MaxOps: 106, MaxSGE: 107},
		CQModeration:  &verbs.CQModerationCaps{MaxCount: 108, MaxPeriod: 109},
		MaxDMSize:     new(uint64(110)),
		XRCODP:        new(verbs.ODPTransport(1 << 5)),
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	p, err := c.QueryPort(1)
	if err != nil {
		t.Fatal(err)
	}
	wantPort := verbs.PortAttr{
		State: ib.PortActive, MaxMTU: 5, ActiveMTU: 4, SMLID: 1, LID: 7, LMC: 2, LinkLayer: ib.LinkLayerInfiniBand,
		MaxMsgSize: 1 << 20, Caps2: 0x1234, MaxVL: 4, PKeyTableLen: 1, GIDTableLen: 1, ActiveWidth: 2, ActiveSpeed: 128,
		PhysState: 5,
	}
	if d := cmp.Diff(wantPort, p); d != "" {
		t.Error(d)
	}
	table, err := c.GIDTable()
	wantGID := verbs.GIDEntry{GID: netip.MustParseAddr("fe80::2:c903:0:1234"), Port: 1, Type: verbs.GIDTypeIB}
	if err != nil || !slices.Equal(table, []verbs.GIDEntry{wantGID}) {
		t.Errorf("got GIDs %v, error %v, want %v", table, err, wantGID)
	}

	events, err := c.Events()
	if err != nil {
		t.Fatal(err)
	}
	pd := must(c.AllocPD())(t)
	mr := dmaBuf(t, pd)
	channel := must(c.NewCompChannel())(t)
	if _, err := c.CreateCQ(verbs.CQInit{Entries: 1, Channel: channel}); !errors.Is(err, verbs.ErrNoProvider) {
		t.Errorf("CQ without a provider: got error %v, want %v", err, verbs.ErrNoProvider)
	}
	if out, err := exec.Command("rmmod", "ibfull").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var types []verbs.EventType
	for {
		e, err := events.Next(ctx)
		if errors.Is(err, verbs.ErrDeviceRemoved) {
			t.Log(err)
			break
		}
		if err != nil {
			t.Fatalf("got error %v after %v, want %v", err, types, verbs.ErrDeviceRemoved)
		}
		types = append(types, e.Type)
	}
	if !slices.Equal(types, []verbs.EventType{verbs.EventDeviceFatal}) {
		t.Errorf("got events %v, want DEVICE_FATAL", types)
	}
	if _, err := channel.Wait(ctx); !errors.Is(err, verbs.ErrDeviceRemoved) {
		t.Errorf("wait for completions: got error %v, want %v", err, verbs.ErrDeviceRemoved)
	}
	for name, query := range map[string]func() error{
		"presence": c.CheckPresent,
		"PD":       func() error { _, err := c.AllocPD(); return err },
		"device":   func() error { _, err := c.QueryDevice(); return err },
		"port":     func() error { _, err := c.QueryPort(1); return err },
		"GIDs":     func() error { _, err := c.GIDTable(); return err },
	} {
		if err := query(); !errors.Is(err, verbs.ErrDeviceRemoved) {
			t.Errorf("%s of a removed device: got error %v, want %v", name, err, verbs.ErrDeviceRemoved)
		}
	}
	for _, object := range []interface{ Close() error }{mr, pd} {
		if err := object.Close(); err != nil {
			t.Errorf("Close of an object of a removed device: got error %v", err)
		}
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
}

// dmaBuf registers a file that the driver treats as a dma-buf, and returns an open
// region.
func dmaBuf(t *testing.T, pd *verbs.PD) *verbs.MR {
	t.Helper()
	const access = verbs.AccessLocalWrite | verbs.AccessRemoteWrite
	mr := must(pd.RegisterDMABuf(int(os.Stdin.Fd()), 3<<12, 5<<12, 7<<12, access))(t)
	if mr.LKey() != 3|5<<16 || mr.RKey() != 7|uint32(access)<<16 || mr.Addr() != 7<<12 || mr.Len() != 5<<12 || mr.Bytes() != nil {
		t.Errorf("got MR with LKey %#x, RKey %#x, %d bytes at %#x, %d bytes mapped", mr.LKey(), mr.RKey(), mr.Len(), mr.Addr(), len(mr.Bytes()))
	}
	if sge := mr.SGE(1, 2); sge != (verbs.SGE{Addr: 7<<12 + 1, Length: 2, LKey: mr.LKey()}) {
		t.Errorf("got SGE %+v, want 2 bytes at %#x", sge, 7<<12+1)
	}
	if err := mr.Close(); err != nil {
		t.Error(err)
	}
	if _, err := pd.RegisterDMABuf(1<<20, 0, 4096, 0, 0); !errors.Is(err, unix.EBADF) {
		t.Errorf("invalid file: got error %v, want %v", err, unix.EBADF)
	}
	if _, err := pd.RegisterDMABuf(int(os.Stdin.Fd()), 1, 4096, 2, 0); !errors.Is(err, unix.EINVAL) {
		t.Errorf("offset and address differ within the page: got error %v, want %v", err, unix.EINVAL)
	}
	return must(pd.RegisterDMABuf(int(os.Stdin.Fd()), 0, 4096, 0, access))(t)
}
