package mad

import (
	"encoding/hex"
	"strings"
	"testing"
)

// TestRMPP reads and writes the header as it is laid out in the specification's table
// 164: version, type, response time and flags, status, segment, length.
func TestRMPP(t *testing.T) {
	for _, test := range []struct {
		header RMPP
		want   string
	}{
		{RMPP{}, "00000000" + "00000000" + "00000000"},
		{RMPP{1, RMPPData, 0, RMPPActive | RMPPFirst, 0, 1, 440}, "01010300" + "00000001" + "000001b8"},
		{RMPP{1, RMPPData, NoRespTime, RMPPActive | RMPPLast, 0, 0x01020304, 132}, "0101fd00" + "01020304" + "00000084"},
		{RMPP{1, RMPPAck, 0, RMPPActive, 0, 64, 128}, "01020100" + "00000040" + "00000080"},
		{RMPP{1, RMPPAbort, 0, RMPPActive, RMPPTooManyRetries, 0, 0}, "0104017e" + "00000000" + "00000000"},
	} {
		t.Run(test.want, func(t *testing.T) {
			var p Packet
			for i := range p {
				p[i] = 0xee
			}
			p.SetRMPP(test.header)
			if got := hex.EncodeToString(p[24:36]); got != test.want {
				t.Errorf("%+v: got %s, want %s", test.header, got, test.want)
			}
			if got := p.RMPP(); got != test.header {
				t.Errorf("got %+v, want %+v", got, test.header)
			}
			if p[23] != 0xee || p[36] != 0xee {
				t.Error("written beyond the header")
			}
		})
	}
}

func TestRMPPNames(t *testing.T) {
	for got, want := range map[string]string{
		RMPPAbort.String():               "ABORT",
		RMPPType(9).String():             "?(9)",
		(RMPPActive | RMPPLast).String(): "active,last",
		RMPPNoResources.String():         "resources exhausted",
		RMPPStatus(5).String():           "reserved status 5",
		RMPPStatus(130).String():         "class's status 130",
		RMPPStatus(200).String():         "vendor's status 200",
		RMPPBadSegment.String():          "inconsistent first flag and segment number",
	} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	for class, want := range map[Class]bool{ClassSA: true, 0x32: true, 0x10: true, ClassPM: false, ClassSMPDirected: false, 0x0a: false} {
		if class.HasRMPP() != want {
			t.Errorf("%v: RMPP %v", class, !want)
		}
	}
}

func TestSAHeader(t *testing.T) {
	h := SAHeader{SMKey: 0x0102030405060708, AttributeOffset: 14, ComponentMask: 0x1112131415161718}
	r := LinkRecord{FromLID: 1, FromPort: 2, ToPort: 3, ToLID: 4}
	var p Packet
	p.PutGMP(Header{Class: ClassSA})
	p.SetSA(h)
	if err := Encode(&r, p.Data()); err != nil {
		t.Fatal(err)
	}
	const want = "000000000000000000000000" + "0102030405060708" + "000e0000" + "1112131415161718" + "0001020300040000"
	if got := hex.EncodeToString(p[24:64]); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	var back LinkRecord
	if err := Decode(&back, p.Data()); err != nil || back != r || p.SA() != h {
		t.Errorf("got %+v, %+v, %v", p.SA(), back, err)
	}
	if err := Encode(&PathRecord{SL: 16}, p.Data()); err == nil || !strings.Contains(err.Error(), "SL: value 16 does not fit") {
		t.Errorf("got error %v", err)
	}
	if got := SARecordOffset(&NodeRecord{}); got != 14 {
		t.Errorf("node records are %d words apart", got)
	}
}

// FuzzSA reads and writes the headers and all subnet administration
// records in any packet.
func FuzzSA(f *testing.F) {
	f.Add(make([]byte, Size))
	f.Add([]byte(strings.Repeat("\xff", Size)))
	f.Fuzz(func(t *testing.T, b []byte) {
		var p, q Packet
		copy(p[:], b)
		q = p
		q.SetRMPP(p.RMPP())
		q.SetSA(p.SA())
		if q[46] = p[46]; q[47] != 0 {
			t.Error("reserved bits are kept")
		}
		if q[47] = p[47]; q != p {
			t.Errorf("headers came back as % x", q[:56])
		}
		_, _ = p.RMPP().Status.String(), p.RMPP().Flags.String()
		for id := range saAttributes {
			a := ClassSA.NewAttribute(id)
			if a == nil {
				continue
			}
			if err := Decode(a, p[56:]); err != nil {
				t.Fatal(err)
			}
			if err := Encode(a, q[56:]); err != nil {
				t.Errorf("%s: %v", AttributeName(a), err)
			}
			if c := p.SA().ComponentMask.Bits(a); len(c) != a.Spec().Size {
				t.Errorf("%s: %d bytes of bits", AttributeName(a), len(c))
			}
		}
	})
}
