package mad

import (
	"bytes"
	"strings"
	"testing"
)

// TestEachBit sets the bits in each attribute, one after another. Each bit must come
// back as it was or, if reserved, not at all: a field that has a wrong width, overlaps
// another or leaves its word would show.
func TestEachBit(t *testing.T) {
	// Bits without a field. The start that a port's counters have in common leaves 8.
	const perf = PerfDataSize*8 - 24
	const cc = 8 * congestionDataSize
	reserved := map[string]int{
		"mepi":        DataSize*8 - 4*8,
		"nodeinfo":    DataSize*8 - 320,
		"portinfo":    3 + 3 + 1 + 3, // before LMC, RespTimeVal, LinkSpeedExtActive2, LinkSpeedExtEnabled
		"portinfoext": DataSize*8 - 176,
		"sl2vl":       DataSize*8 - 16*4,
		"sminfo":      DataSize*8 - 168,
		"switchinfo":  DataSize*8 - 160 + 11,
		"vlarb":       32 * 4,

		"noticecaps":   DataSize*8 - 3*16 - 1 - 32,
		"noticegid":    DataSize*8 - 128,
		"noticeimage":  DataSize*8 - 16 - 64,
		"noticekey":    DataSize*8 - 2*16 - 32 - 4 - 2*24 - 2*128,
		"noticemkey":   DataSize*8 - 2*16 - 8 - 16 - 32 - 64 - 8 - 30*8,
		"noticeport":   DataSize*8 - 16 - 8,
		"noticeswitch": DataSize*8 - 16,
		"noticeswkey":  DataSize*8 - 4*16 - 4 - 2*24 - 2*128 - 16 - 8,

		"arinfo":    DataSize*8 - 29 - 32 - 16 - 8 - 8 - 8 - 32 - 8 - 8 - 3 - 16,
		"arlft":     16 * 2,
		"hierarchy": 4 + 8,
		"plftinfo":  DataSize*8 - 3*8 - 7*16,
		"vscaps":    DataSize*8 - 4*32,

		"vsconfig":    64 + 8*MlnxDataSize - 64 - 18*96,
		"vsgeneral":   8*MlnxDataSize - 6*8 - 4*16 - 4*32 - 2*8 - 16*8,
		"vsgroups":    8*MlnxDataSize - 8 - 2*32,
		"vsgroupconf": 8*MlnxDataSize - 2*8,

		"sa-guidinfo":   8 + 32,
		"sa-inform":     16 + 3 + 8,
		"sa-informinfo": 48 + 16 + 3 + 8,
		"sa-lft":        32,
		"sa-link":       16,
		"sa-mcmember":   7 + 16,
		"sa-mft":        3 + 32,
		"sa-node":       16,
		"sa-path":       3 + 48,
		"sa-pkeys":      24,
		"sa-portinfo":   3 + 3 + 1 + 3, // as in PortInfo
		"sa-service":    16,
		"sa-sl2vl":      32,
		"sa-sminfo":     16 + 24,
		"sa-switchinfo": 16 + 11,
		"sa-vlarb":      32 + 32*4,

		"ccca":    cc - 32 - 16*40,
		"ccinfo":  cc - 24,
		"cckey":   cc - 64 - 1 - 2*16,
		"cclog":   8*congestionLogSize - 16, // all but the header: the type is not valid
		"ccport":  cc - 32*30,
		"ccsw":    cc - 32 - 2*256 - 2*4 - 8 - 2*16,
		"cctable": cc - 16 - 64*16,
		"cctime":  cc - 32,

		"classportinfo":   8, // before RedirectQP
		"extspeeds":       PerfDataSize*8 - 8 - 64 - 14*16 - 24*32,
		"flowctl":         perf - 2*32,
		"oprcv":           perf - 2*32,
		"portcounters":    perf - 320,
		"portcountersext": perf - 32 - 22*64,
		"rcvcc":           perf - 2*32,
		"rcverr":          perf - 6*16,
		"rcvsl":           perf - 16*32,
		"rsfec":           PerfDataSize*8 - 8 - 64 - 2*16 - 15*32,
		"samplesctl":      PerfDataSize*8 - 3*8 - 3 - 30 - 15 - 8 - 2 - 2*64 - 2*32 - 16*16 - 64,
		"slbecn":          perf - 16*32,
		"slfecn":          perf - 16*32,
		"swvlcong":        perf - 16*16,
		"vlflowctlerrors": perf - 16*2,
		"vlopdata":        perf - 16*32,
		"vloppackets":     perf - 16*16,
		"vltimecc":        perf - 15*32,
		"vlxmitwait":      perf - 16*16,
		"xmitcc":          perf - 32,
		"xmtdisc":         perf - 4*16,
		"xmtsl":           perf - 16*32,
	}
	for kind, empty := range attributes {
		lost := 0
		size := empty().Spec().Size
		for bit := range size * 8 {
			in, out := make([]byte, size), make([]byte, size)
			in[bit/8] = 0x80 >> (bit % 8)
			a := empty()
			if err := Decode(a, in); err != nil {
				t.Fatal(err)
			}
			if err := Encode(a, out); err != nil {
				t.Fatal(err)
			}
			switch {
			case bytes.Equal(out, in):
			case bytes.Equal(out, make([]byte, size)):
				lost++
			default:
				t.Errorf("%s: bit %d came back as % x", kind, bit, out)
			}
		}
		if lost != reserved[kind] {
			t.Errorf("%s: %d bits are not kept, want %d", kind, lost, reserved[kind])
		}
	}
}

// Update changes fields and no other bits.
func TestUpdate(t *testing.T) {
	for kind, empty := range attributes {
		size := empty().Spec().Size
		ones := bytes.Repeat([]byte{0xff}, size)
		data := bytes.Clone(ones)
		a := empty()
		if err := Decode(a, data); err != nil {
			t.Fatal(err)
		}
		if err := Update(a, data); err != nil || !bytes.Equal(data, ones) {
			t.Errorf("%s: after an update without changes: got error %v and\n% x", kind, err, data)
		}
	}
	data := bytes.Repeat([]byte{0xff}, DataSize)
	var info PortInfo
	if err := Decode(&info, data); err != nil {
		t.Fatal(err)
	}
	info.MKey, info.LMC, info.LinkSpeedExt2Enabled = 0, 5, 2
	want := bytes.Repeat([]byte{0xff}, DataSize)
	clear(want[:8])
	want[34], want[56] = 0xfd, 0xfa
	if err := Update(&info, data); err != nil || !bytes.Equal(data, want) {
		t.Errorf("got error %v and\n% x\nwant\n% x", err, data, want)
	}
	const short = "update PortInfo: 64 bytes wanted, got 63"
	if err := Update(&info, data[:63]); err == nil || err.Error() != short {
		t.Errorf("got error %v, want %s", err, short)
	}
}

func TestShortBuffer(t *testing.T) {
	const want = "decode PortInfo: 64 bytes wanted, got 63"
	if err := Decode(new(PortInfo), make([]byte, 63)); err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	if err := Encode(new(NodeInfo), nil); err == nil || err.Error() != "encode NodeInfo: 64 bytes wanted, got 0" {
		t.Errorf("got %v", err)
	}
}

func TestEncodeTooLarge(t *testing.T) {
	a := PortInfo{LMC: 8, LinkRoundTripLatency: 1 << 24}
	err := Encode(&a, make([]byte, DataSize))
	if want := "encode PortInfo: LMC: value 8 does not fit in 3 bits"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	if err := Encode(&PortInfo{LMC: 7}, make([]byte, DataSize)); err != nil {
		t.Errorf("an error stuck to the next encoding: %v", err)
	}
}

func TestDecodeDoesNotAllocate(t *testing.T) {
	var a PortInfo
	b := make([]byte, DataSize)
	if n := testing.AllocsPerRun(100, func() { _ = Decode(&a, b) }); n > 0 && !raceEnabled {
		t.Errorf("%v allocations a decoding", n)
	}
}

// TestPortInfoExtended pins the HDR and NDR mode offsets. libibmad 65 reads the modes
// from other offsets because their entries lack the bit offset conversion that the rest
// of the table has; ib_port_info_ext_t in iba_types.h shows the order.
func TestPortInfoExtended(t *testing.T) {
	b := make([]byte, DataSize)
	for i := range 22 {
		b[i] = byte(i)
	}
	var a PortInfoExtended
	if err := Decode(&a, b); err != nil {
		t.Fatal(err)
	}
	want := PortInfoExtended{
		0x00010203, 0x0405, 0x0607, 0x0809, 0x0a0b, 0x0c0d, 0x0e0f, 0x1011, 0x1213, 0x1415,
	}
	if a != want {
		t.Errorf("got %+v, want %+v", a, want)
	}
}

func TestNodeDescription(t *testing.T) {
	long := strings.Repeat("x", DataSize)
	for _, tt := range []struct{ in, raw, clean string }{
		{"node1 HCA-1", "node1 HCA-1", "node1 HCA-1"},
		{"a\x00b", "a", "a"},
		{"\x1b[31mred\x7f\n", "\x1b[31mred\x7f\n", " [31mred  "},
		{"größe\x9b", "größe\x9b", "gr    e "},
		{long + "y", long, long},
		{"", "", ""},
	} {
		t.Run(tt.in, func(t *testing.T) {
			d := NewNodeDescription(tt.in)
			if d.String() != tt.raw || d.Clean() != tt.clean {
				t.Errorf("%q: got %q and %q, want %q and %q", tt.in, d.String(), d.Clean(), tt.raw, tt.clean)
			}
		})
	}
	var out bytes.Buffer
	d := NewNodeDescription("Switch1")
	if err := Dump(&out, &d); err != nil || out.String() != "Node Description:.........................Switch1\n" {
		t.Errorf("got %q, %v", out.String(), err)
	}
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte{})
	f.Add(make([]byte, DataSize))
	f.Add(bytes.Repeat([]byte{0xff}, Size))
	f.Add(bytes.Repeat([]byte{0x10, 0x17}, Size/2)) // a device with an extended GeneralInfo
	f.Fuzz(func(t *testing.T, b []byte) {
		for kind, empty := range attributes {
			first := empty()
			if err := Decode(first, b); err != nil {
				if len(b) >= first.Spec().Size {
					t.Errorf("%s: %v", kind, err)
				}
				continue
			}
			again := make([]byte, first.Spec().Size)
			if err := Encode(first, again); err != nil {
				t.Fatalf("%s: what was decoded does not encode: %v", kind, err)
			}
			second := empty()
			if err := Decode(second, again); err != nil {
				t.Fatal(err)
			}
			var one, two bytes.Buffer
			if Dump(&one, first) != nil || Dump(&two, second) != nil || one.String() != two.String() {
				t.Errorf("%s: got\n%s\nafter encoding\n%s", kind, &one, &two)
			}
			for _, c := range one.Bytes() {
				if (c < ' ' || c > '~') && c != '\n' && c != '\t' {
					t.Errorf("%s: control byte %#x in the dump", kind, c)
				}
			}
		}
	})
}
