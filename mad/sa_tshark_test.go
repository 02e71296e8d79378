package mad

import (
	"encoding/hex"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/ibkit/ibkit/ib"
)

// saPackets are subnet administration packets that tshark was given, like
// [tsharkPackets].
func saPackets(t *testing.T) map[string]*Packet {
	path := PathRecord{
		DGID: ib.MakeGID(0x0102030405060708, 0x1112131415161718), SGID: ib.MakeGID(0x2122232425262728, 0x3132333435363738),
		DLID: 0x4142, SLID: 0x5152, RawTraffic: 1, FlowLabel: 0x61626, HopLimit: 0x71, TrafficClass: 0x81, Reversible: 1,
		NumbPath: 0x55, PKey: 0x9192, SL: 11, MTUSelector: 2, MTU: 5, RateSelector: 1, Rate: 17,
		LifeTimeSelector: 3, LifeTime: 18, Preference: 0xa1,
	}
	build := func(rmpp RMPP, a Attribute) *Packet {
		p := new(Packet)
		p.PutGMP(Header{BaseVersion: 1, Class: ClassSA, ClassVersion: 2, Method: MethodGetTableResp, TID: 5, Attr: a.Spec().ID})
		p.SetRMPP(rmpp)
		p.SetSA(SAHeader{SMKey: 0xc1c2c3c4c5c6c7c8, AttributeOffset: SARecordOffset(a), ComponentMask: 0xd1d2d3d4d5d6d7d8})
		if err := Encode(a, p.Data()); err != nil {
			t.Fatal(err)
		}
		return p
	}
	first := RMPP{1, RMPPData, 17, RMPPActive | RMPPFirst, 0, 1, 0x1234}
	return map[string]*Packet{
		"sa-path": build(first, &path),
		"sa-link": build(first, &LinkRecord{FromLID: 0x0102, FromPort: 3, ToPort: 4, ToLID: 0x0506}),
	}
}

// TestSAAgainstTshark compares the RMPP and subnet administration headers, and records,
// with the Wireshark dissector's fields for the same packets.
func TestSAAgainstTshark(t *testing.T) {
	for name, p := range saPackets(t) {
		file := "testdata/tshark/" + name
		if *update {
			if err := os.WriteFile(file+".hex", []byte(hex.EncodeToString(p[:])+"\n"), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(file + ".hex")
		if err != nil {
			t.Fatal(err)
		}
		if got := hex.EncodeToString(p[:]); got != strings.TrimSpace(string(want)) {
			t.Fatalf("%s: built\n%s\ntshark was given\n%s", name, got, want)
		}
		text, err := os.ReadFile(file + ".fields")
		if err != nil {
			t.Fatal(err)
		}
		ours := saFields(t, p)
		count := 0
		for line := range strings.Lines(string(text)) {
			field, value, _ := strings.Cut(strings.TrimSpace(line), " ")
			theirs, err := strconv.ParseUint(value, 0, 64)
			if err != nil {
				t.Fatalf("%s: %v", line, err)
			}
			if got, ok := ours[field]; !ok || got != theirs {
				t.Errorf("%s: %s: got %#x, tshark has %#x", name, field, got, theirs)
			}
			count++
		}
		if count != len(ours) {
			t.Errorf("%s: tshark has %d fields of %d", name, count, len(ours))
		}
	}
}

// saFields returns p's fields by the dissector's names.
func saFields(t *testing.T, p *Packet) map[string]uint64 {
	r, h := p.RMPP(), p.SA()
	f := map[string]uint64{
		"rmpp.rmppversion":   uint64(r.Version),
		"rmpp.rmpptype":      uint64(r.Type),
		"rmpp.rmppstatus":    uint64(r.Status),
		"rmpp.segmentnumber": uint64(r.Segment),
		"rmpp.payloadlength": uint64(r.Length),
		"sa.smkey":           uint64(h.SMKey),
		"sa.attributeoffset": uint64(h.AttributeOffset),
		"sa.componentmask":   uint64(h.ComponentMask),
	}
	switch p.Attr() {
	case AttrLinkRecord:
		var a LinkRecord
		if err := Decode(&a, p.Data()); err != nil {
			t.Fatal(err)
		}
		f["linkrecord.fromlid"], f["linkrecord.fromport"] = uint64(a.FromLID), uint64(a.FromPort)
		f["linkrecord.tolid"], f["linkrecord.toport"] = uint64(a.ToLID), uint64(a.ToPort)
	case AttrPathRecord:
		var a PathRecord
		if err := Decode(&a, p.Data()); err != nil {
			t.Fatal(err)
		}
		for name, v := range map[string]uint64{
			"dlid": uint64(a.DLID), "slid": uint64(a.SLID), "rawtraffic": uint64(a.RawTraffic), "flowlabel": uint64(a.FlowLabel),
			"hoplimit": uint64(a.HopLimit), "tclass": uint64(a.TrafficClass), "reversible": uint64(a.Reversible),
			"numbpath": uint64(a.NumbPath), "p_key": uint64(a.PKey), "sl": uint64(a.SL), "mtuselector": uint64(a.MTUSelector),
			"mtu": uint64(a.MTU), "rateselector": uint64(a.RateSelector), "rate": uint64(a.Rate),
			"packetlifetimeselector": uint64(a.LifeTimeSelector), "packetlifetime": uint64(a.LifeTime), "preference": uint64(a.Preference),
		} {
			f["pathrecord."+name] = v
		}
	}
	return f
}
