package verbs

import (
	"errors"
	"net/netip"
	"slices"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/internal/uapi"
)

// fullDevice has a different number in each field.
var fullDevice = uapi.ExQueryDeviceResp{
	Base: uapi.QueryDeviceResp{
		FWVersion: 22<<32 | 31<<16 | 1014, NodeGUID: [8]byte{1, 2, 3, 4, 5, 6, 7, 8},
		SysImageGUID: [8]byte{8, 7, 6, 5, 4, 3, 2, 1}, MaxMRSize: 1 << 40, PageSizeCap: 0xfffff000, VendorID: 0x2c9,
		VendorPartID: 4123, HWVersion: 5, DeviceCapFlags: 1<<10 | 1<<15, MaxQP: 6, MaxQPWR: 7, MaxSGE: 8, MaxSGERd: 9,
		MaxCQ: 10, MaxCQE: 11, MaxMR: 12, MaxPD: 13, MaxQPRdAtom: 14, MaxEERdAtom: 15, MaxResRdAtom: 16,
		MaxQPInitRdAtom: 17, MaxEEInitRdAtom: 18, AtomicCap: 1, MaxEE: 20, MaxRDD: 21, MaxMW: 22, MaxRawIPv6QP: 23,
		MaxRawEthyQP: 24, MaxMcastGrp: 25, MaxMcastQPAttach: 26, MaxTotalMcastQPAttach: 27, MaxAH: 28, MaxFMR: 29,
		MaxMapPerFMR: 30, MaxSRQ: 31, MaxSRQWR: 32, MaxSRQSGE: 33, MaxPKeys: 34, LocalCAAckDelay: 35, PhysPortCnt: 2,
	},
	ResponseLength: uapi.ExQueryDeviceRespSize,
	ODP:            uapi.ODPCaps{General: 3, RC: 0x1f, UC: 0x100, UD: 1},
	TimestampMask:  1<<63 - 1, HCACoreClock: 156250, DeviceCapFlagsEx: 1<<36 | 1<<40 | 1<<10,
	RSS:         uapi.RSSCaps{SupportedQPTypes: 1 << 8, MaxRWQIndirectionTables: 36, MaxRWQIndirectionTableSize: 37},
	MaxWQTypeRQ: 38, RawPacketCaps: 0xf,
	TM:           uapi.TMCaps{MaxRndvHdrSize: 39, MaxNumTags: 40, Flags: 1, MaxOps: 41, MaxSGE: 42},
	CQModeration: uapi.CQModerationCaps{MaxCount: 43, MaxPeriod: 44},
	MaxDMSize:    45, XRCODP: 2,
}

var fullAttr = DeviceAttr{
	FW:       FWVersion{22<<32 | 31<<16 | 1014, DriverMLX5},
	NodeGUID: 0x0102030405060708, SysImageGUID: 0x0807060504030201, MaxMRSize: 1 << 40, PageSizeCap: 0xfffff000,
	VendorID: 0x2c9, VendorPartID: 4123, HWVersion: 5, Caps: 1<<10 | 1<<15, MaxQP: 6, MaxQPWR: 7, MaxSGE: 8,
	MaxSGERd: 9, MaxCQ: 10, MaxCQE: 11, MaxMR: 12, MaxPD: 13, MaxQPRdAtom: 14, MaxEERdAtom: 15, MaxResRdAtom: 16,
	MaxQPInitRdAtom: 17, MaxEEInitRdAtom: 18, AtomicCap: 1, MaxEE: 20, MaxRDD: 21, MaxMW: 22, MaxRawIPv6QP: 23,
	MaxRawEthyQP: 24, MaxMcastGroup: 25, MaxMcastQPAttach: 26, MaxTotalMcastQPAttach: 27, MaxAH: 28, MaxFMR: 29,
	MaxMapPerFMR: 30, MaxSRQ: 31, MaxSRQWR: 32, MaxSRQSGE: 33, MaxPKeys: 34, LocalCAAckDelay: 35, PhysPortCount: 2,

	ODP:           &ODPCaps{General: 3, RC: 0x1f, UC: 0x100, UD: 1},
	TimestampMask: new(uint64(1<<63 - 1)),
	CoreClock:     new(uint64(156250)),
	CapsEx:        new(DeviceCapsEx(1<<36 | 1<<40 | 1<<10)),
	RSS:           &RSSCaps{QPTypes: 1 << 8, MaxRWQIndirectionTables: 36, MaxRWQIndirectionTableSize: 37},
	MaxWQTypeRQ:   new(uint32(38)),
	RawPacket:     new(RawPacketCaps(0xf)),
	TagMatching:   &TagMatchingCaps{MaxRndvHdrSize: 39, MaxNumTags: 40, Flags: 1, MaxOps: 41, MaxSGE: 42},
	CQModeration:  &CQModerationCaps{MaxCount: 43, MaxPeriod: 44},
	MaxDMSize:     new(uint64(45)),
	XRCODP:        new(ODPTransport(2)),
	TSO:           &TSOCaps{Max: 46, QPTypes: 1 << 4},
	RxHash:        &RxHashCaps{Function: 1, Fields: 0xff},
	PacketPacing:  &PacketPacingCaps{Min: 47, Max: 48, QPTypes: 1 << 2},
}

func TestQueryDevice(t *testing.T) {
	c, _ := openFake(t, DriverMLX5, func(c call) error {
		if cmd, _ := c.Command(); cmd != uapi.CmdExQueryDevice {
			t.Errorf("got command %#x, want %#x", cmd, uapi.CmdExQueryDevice)
		}
		if in, out := c.Attr(uapi.AttrCoreIn), c.Attr(uapi.AttrCoreOut); in.Len != 8 || out.Len != 304 {
			t.Errorf("got structures of %d and %d bytes, want 8 and 304", in.Len, out.Len)
		}
		c.Set(uapi.AttrCoreOut, uapi.Bytes(&fullDevice))
		c.Set(uapi.AttrUHWOut, uapi.Bytes(&uapi.MLX5QueryDeviceResp{
			ResponseLength: 200, MaxTSO: 46, TSOQPTypes: 1 << 4, RxHashFieldsMask: 0xff, RxHashFunction: 1,
			QPRateLimitMin: 47, QPRateLimitMax: 48, PacketPacingQPType: 1 << 2,
		}))
		return nil
	})
	got, err := c.QueryDevice()
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(fullAttr, got); d != "" {
		t.Error(d)
	}
	if fw := got.FW.String(); fw != "22.31.1014" {
		t.Errorf("got firmware %s, want 22.31.1014", fw)
	}
}

// The response length determines the fields that an older kernel supports.
func TestQueryDeviceShort(t *testing.T) {
	c, _ := openFake(t, DriverMLX4, func(c call) error {
		short := fullDevice
		short.ResponseLength = 232 // up to device_cap_flags_ex
		c.Set(uapi.AttrCoreOut, uapi.Bytes(&short))
		c.Set(uapi.AttrUHWOut, uapi.Bytes(&uapi.MLX4QueryDeviceResp{ResponseLength: 40, RxHashFieldsMask: 3}))
		return nil
	})
	got, err := c.QueryDevice()
	if err != nil {
		t.Fatal(err)
	}
	want := fullAttr
	want.FW.Driver = DriverMLX4
	want.RSS, want.MaxWQTypeRQ, want.RawPacket, want.TagMatching = nil, nil, nil, nil
	want.CQModeration, want.MaxDMSize, want.XRCODP, want.TSO, want.PacketPacing = nil, nil, nil, nil, nil
	want.RxHash = &RxHashCaps{Fields: 3}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// A driver without the extended command supports the old command.
func TestQueryDeviceOld(t *testing.T) {
	c, _ := openFake(t, DriverMTHCA, func(c call) error {
		if cmd, _ := c.Command(); cmd != uapi.CmdQueryDevice {
			return unix.EOPNOTSUPP
		}
		if out := c.Attr(uapi.AttrCoreOut); out.Len != 176 {
			t.Errorf("got room for %d bytes, want 176", out.Len)
		}
		c.Set(uapi.AttrCoreOut, uapi.Bytes(&fullDevice.Base))
		return nil
	})
	got, err := c.QueryDevice()
	if err != nil {
		t.Fatal(err)
	}
	if got.MaxSRQSGE != 33 || got.ODP != nil || got.XRCODP != nil || got.FW.String() != "22.31.1014" {
		t.Errorf("got %+v, want the fields of the old command only", got)
	}
}

var (
	fullPort = uapi.QueryPortRespEx{
		Legacy: uapi.QueryPortResp{
			CapFlags: 1 << 26, MaxMsgSize: 1 << 30, BadPKeyCntr: 1, QKeyViolCntr: 2, GIDTableLen: 3, PKeyTableLen: 4,
			LID: 5, SMLID: 6, State: 4, MaxMTU: 5, ActiveMTU: 3, LMC: 7, MaxVLNum: 2, SMSL: 8, SubnetTimeout: 9,
			InitTypeReply: 10, ActiveWidth: 2, ActiveSpeed: 128, PhysState: 5, LinkLayer: 1, Flags: 1,
		},
		CapFlags2: 11,
	}
	fullPortAttr = PortAttr{
		State: ib.PortActive, MaxMTU: 5, ActiveMTU: 3, SMLID: 6, LID: 5, LMC: 7, LinkLayer: ib.LinkLayerInfiniBand,
		MaxMsgSize: 1 << 30, Caps: 1 << 26, Caps2: 11, MaxVL: 2, BadPKeys: 1, QKeyViols: 2, SMSL: 8, PKeyTableLen: 4,
		GIDTableLen: 3, SubnetTimeout: 9, InitTypeReply: 10, ActiveWidth: 2, ActiveSpeed: 128, PhysState: 5,
		GRHRequired: true,
	}
)

func TestQueryPort(t *testing.T) {
	resp := fullPort
	c, _ := openFake(t, DriverMLX5, func(c call) error {
		if !c.Is(uapi.ObjectDevice, uapi.MethodQueryPort) || c.Number(uapi.AttrQueryPortPortNum) != 2 {
			t.Errorf("got request %+v, want QUERY_PORT of port 2", c)
		}
		c.Set(uapi.AttrQueryPortResp, uapi.Bytes(&resp))
		return nil
	})
	got, err := c.QueryPort(2)
	if d := cmp.Diff(fullPortAttr, got); d != "" || err != nil {
		t.Error(d, err)
	}
	// XDR does not fit into the old field's 8 bits.
	resp.ActiveSpeedEx = 256
	want := fullPortAttr
	want.ActiveSpeed = 256
	got, err = c.QueryPort(2)
	if d := cmp.Diff(want, got); d != "" || err != nil {
		t.Error(d, err)
	}
}

func TestQueryPortOld(t *testing.T) {
	c, _ := openFake(t, DriverMLX5, func(c call) error {
		if cmd, ok := c.Command(); !ok || cmd != uapi.CmdQueryPort {
			return unix.EPROTONOSUPPORT
		}
		if in := uapi.Decode[uapi.QueryPort](c.Memory(uapi.AttrCoreIn)); in.PortNum != 2 {
			t.Errorf("got port %d, want 2", in.PortNum)
		}
		c.Set(uapi.AttrCoreOut, uapi.Bytes(&fullPort.Legacy))
		return nil
	})
	want := fullPortAttr
	want.Caps2 = 0
	got, err := c.QueryPort(2)
	if d := cmp.Diff(want, got); d != "" || err != nil {
		t.Error(d, err)
	}
	// The command has 8 bits for the port.
	if _, err := c.QueryPort(258); !errors.Is(err, ErrUnknownMethod) {
		t.Errorf("got error %v, want %v", err, ErrUnknownMethod)
	}
}

func TestPortSpeed(t *testing.T) {
	c, _ := openFake(t, DriverMLX5, func(c call) error {
		c.Set(uapi.AttrQueryPortSpeedResp, uapi.Bytes(new(uint64(8000))))
		return nil
	})
	if got, err := c.PortSpeed(1); got != 8000 || err != nil {
		t.Errorf("got %d, error %v, want 8000", got, err)
	}
}

func TestCompCounterCaps(t *testing.T) {
	c, _ := openFake(t, DriverMLX5, func(c call) error {
		c.Set(uapi.AttrQueryCompCounterCapsMaxCounters, uapi.Bytes(new(uint32(4))))
		c.Set(uapi.AttrQueryCompCounterCapsMaxValue, uapi.Bytes(new(uint64(5))))
		c.Set(uapi.AttrQueryCompCounterCapsSupportedQPAttachOps, uapi.Bytes(new(uint32(0x41))))
		return nil
	})
	got, err := c.CompCounterCaps()
	if want := (CompCounterCaps{4, 5, 0x41}); got != want || err != nil {
		t.Errorf("got %v, error %v, want %v", got, err, want)
	}
	if names, rest := got.AttachOps.Names(); !slices.Equal(names, []string{"QP_ATTACH_SEND"}) || rest != 0x40 {
		t.Errorf("got %v, rest %#x, want QP_ATTACH_SEND, 0x40", names, rest)
	}
}

func gidEntries(n int) []byte {
	var b []byte
	for i := range n {
		b = append(b, uapi.Bytes(&uapi.GIDEntry{GID: [16]byte{0xfe, 0x80, 15: byte(i)}, Index: uint32(i), PortNum: 1, Type: 2, NetdevIfindex: 7})...)
	}
	return b
}

// The kernel rejects a table that is too short, so GIDTable repeats the request with
// a longer one.
func TestGIDTable(t *testing.T) {
	for _, entries := range []int{0, 1, 63, 64, 65, 1000, maxGIDs} {
		t.Run(strconv.Itoa(entries), func(t *testing.T) {
			c, f := openFake(t, DriverMLX5, func(c call) error {
				if size := c.Number(uapi.AttrQueryGIDTableEntrySize); size != 32 {
					t.Errorf("got entries of %d bytes, want 32", size)
				}
				if c.Attr(uapi.AttrQueryGIDTableFlags).Len != 4 {
					t.Errorf("got flags of %d bytes, want 4", c.Attr(uapi.AttrQueryGIDTableFlags).Len)
				}
				if len(c.Memory(uapi.AttrQueryGIDTableRespEntries)) < 32*entries {
					return unix.EINVAL
				}
				c.Set(uapi.AttrQueryGIDTableRespEntries, gidEntries(entries))
				c.Set(uapi.AttrQueryGIDTableRespNumEntries, uapi.Bytes(new(uint64(entries))))
				return nil
			})
			got, err := c.GIDTable()
			if err != nil || len(got) != entries || len(f.calls) > 4 {
				t.Fatalf("got %d entries, error %v, in %d calls, want %d in at most 4", len(got), err, len(f.calls), entries)
			}
			want := GIDEntry{netip.MustParseAddr("fe80::"), 0, 1, GIDTypeRoCEv2, 7}
			if entries > 0 && got[0] != want {
				t.Errorf("got %v, want %v", got[0], want)
			}
		})
	}
}

// EINVAL for a table with the maximum length has another cause.
func TestGIDTableRefused(t *testing.T) {
	c, f := openFake(t, DriverMLX5, refuse(unix.EINVAL))
	if _, err := c.GIDTable(); !errors.Is(err, unix.EINVAL) || len(f.calls) != 4 {
		t.Errorf("got error %v after %d calls, want %v after 4", err, len(f.calls), unix.EINVAL)
	}
}

func TestGID(t *testing.T) {
	c, _ := openFake(t, DriverMLX5, func(c call) error {
		if c.Number(uapi.AttrQueryGIDEntryPort) != 1 {
			t.Errorf("got port %d, want 1", c.Number(uapi.AttrQueryGIDEntryPort))
		}
		if c.Number(uapi.AttrQueryGIDEntryGIDIndex) != 0 {
			return unix.ENODATA
		}
		c.Set(uapi.AttrQueryGIDEntryRespEntry, gidEntries(1))
		return nil
	})
	if got, err := c.GID(1, 0); err != nil || got.Ifindex != 7 || got.Type.String() != "RoCE v2" {
		t.Errorf("got %v, error %v, want interface 7, RoCE v2", got, err)
	}
	if _, err := c.GID(1, 3); !errors.Is(err, unix.ENODATA) || err.Error() != "query GID 3 of port 1 of dev0 (DEVICE QUERY_GID_ENTRY): no data available" {
		t.Errorf("got error %v, want %v of GID 3", err, unix.ENODATA)
	}
}

func TestHandles(t *testing.T) {
	have := make([]uint32, 1000)
	for i := range have {
		have[i] = uint32(i)
	}
	c, f := openFake(t, DriverMLX5, func(c call) error {
		if c.Number(uapi.AttrInfoObjectID) != uapi.ObjectMR || c.Attr(uapi.AttrInfoTotalHandles).Len != 4 {
			t.Errorf("got request %+v, want MRs", c)
		}
		n := min(len(have), len(c.Memory(uapi.AttrInfoHandlesList))/4)
		for i := range n {
			copy(c.Memory(uapi.AttrInfoHandlesList)[4*i:], uapi.Bytes(&have[i]))
		}
		c.Set(uapi.AttrInfoTotalHandles, uapi.Bytes(new(uint32(n))))
		return nil
	})
	got, err := c.Handles(uapi.ObjectMR)
	if err != nil || !slices.Equal(got, have) || len(f.calls) != 2 {
		t.Errorf("got %d handles, error %v, in %d calls, want %d in 2", len(got), err, len(f.calls), len(have))
	}
}

// A count that exceeds the room is ignored.
func TestHostileCounts(t *testing.T) {
	c, _ := openFake(t, DriverMLX5, func(c call) error {
		for _, a := range c.Attrs {
			if a.Len > 8 || c.Is(uapi.ObjectDevice, uapi.MethodInfoHandles) && a.Len == 4 ||
				c.Is(uapi.ObjectDevice, uapi.MethodQueryGIDTable) && a.ID == uapi.AttrQueryGIDTableRespNumEntries {
				for i := range c.Memory(a.ID) {
					c.Memory(a.ID)[i] = 0xff
				}
			}
		}
		return nil
	})
	if got, err := c.GIDTable(); err != nil || len(got) != firstGIDs {
		t.Errorf("got %d GIDs, error %v, want %d", len(got), err, firstGIDs)
	}
	if got, err := c.Handles(0); err != nil || len(got) != maxHandles {
		t.Errorf("got %d handles, error %v, want %d", len(got), err, maxHandles)
	}
}
