package mad

import (
	"encoding/hex"
	"os"
	"strconv"
	"strings"
	"testing"
)

// TestPerfAgainstTshark compares counters with the Wireshark dissector's fields for the
// same packets. The dissector has the classic names, but lacks counters that were added
// to the specification later.
func TestPerfAgainstTshark(t *testing.T) {
	unknown := map[string]int{"portcounters": 3, "portcountersext": 15}
	random := loadGolden(t, "libibmad")
	for name, want := range unknown {
		file := "testdata/tshark/perf-" + name
		a, _ := decodeDump(t, random[name+"-1"])
		var p Packet
		p.PutGMP(Header{
			BaseVersion: 1, Class: ClassPM, ClassVersion: 1, Method: MethodGetResp,
			TID: 0x0102030405060708, Attr: a.Spec().ID,
		})
		if err := Encode(a, p.Data()); err != nil {
			t.Fatal(err)
		}
		given, err := os.ReadFile(file + ".hex")
		if err != nil {
			t.Fatal(err)
		}
		if got := hex.EncodeToString(p[:]); got != strings.TrimSpace(string(given)) {
			t.Fatalf("%s: built\n%s\ntshark was given\n%s", name, got, given)
		}
		fields, err := os.ReadFile(file + ".fields")
		if err != nil {
			t.Fatal(err)
		}
		theirs := map[string]string{}
		for line := range strings.Lines(string(fields)) {
			field, value, _ := strings.Cut(strings.TrimSpace(line), " ")
			theirs[field[strings.IndexByte(field, '.')+1:]] = value
		}
		missing := 0
		Visit(a, func(field string, _ int, v uint64) uint64 {
			text, ok := theirs[strings.ToLower(field)]
			if !ok {
				missing++
			} else if n, err := strconv.ParseUint(text, 0, 64); err != nil || n != v {
				t.Errorf("%s of %s: got %d, tshark has %s", field, name, v, text)
			}
			delete(theirs, strings.ToLower(field))
			return v
		})
		if missing != want || len(theirs) > 0 {
			t.Errorf("%s: tshark has none of %d fields, want %d; not compared: %v", name, missing, want, theirs)
		}
	}
}
