package lldp

import (
	"encoding/hex"
	"reflect"
	"strings"
	"testing"
)

// frame returns a frame from hexadecimal digits with spaces.
func frame(t testing.TB, digits string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.ReplaceAll(digits, " ", ""))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// The mandatory TLVs, a switch's names, PFC on priority 3 and the largest frame.
const switchFrame = "0207 04 0c42a1000102 " + // chassis: MAC address
	"040c 05 45746865726e6574 312f33 " + // port: interface name
	"0602 0078 " + // TTL
	"0806 7261636b2034 " + // port description
	"0a05 6c65616631 " + // system name
	"fe06 0080c20b 08 08 " + // 802.1Qbb: 8 priorities, enabled 3
	"fe06 00120f04 2400 " + // 802.3: 9,216 bytes
	"fe05 00120f01 03 " + // another
	"0000"

func TestParse(t *testing.T) {
	for _, test := range []struct {
		name, digits string
		want         Neighbour
	}{
		{"switch", switchFrame, Neighbour{
			Chassis: "0c:42:a1:00:01:02", Port: "Ethernet1/3", PortDescription: new("rack 4"), System: new("leaf1"), PFC: []int{3}, MaxFrame: new(uint16(9216)),
		}},
		{"mandatory only", "0204 07 616263 0407 03 020000000001 0602 0001 0000", Neighbour{Chassis: "abc", Port: "02:00:00:00:00:01"}},
		{"addresses", "0206 05 01 0a000001 0406 04 01 0a000002 0602 0001 0000", Neighbour{Chassis: "10.0.0.1", Port: "10.0.0.2"}},
		{"PFC off", "0202 07 61 0202 07 62 0402 05 63 fe06 0080c20b 08 00 0000", Neighbour{Chassis: "a", Port: "c", PFC: []int{}}},
		{"short PFC", "0202 07 61 0402 05 63 fe05 0080c20b 08 0000", Neighbour{Chassis: "a", Port: "c"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := Parse(frame(t, test.digits))
			if err != nil || !reflect.DeepEqual(*got, test.want) {
				t.Errorf("got %+v, error %v, want %+v", got, err, test.want)
			}
		})
	}
}

// Frames that end early, or lack the mandatory TLVs, are errors.
func TestParse_Invalid(t *testing.T) {
	for name, digits := range map[string]string{
		"empty": "", "no end": "0202 07 61 0402 05 63", "beyond the frame": "02ff 07", "no port": "0202 07 61 0000", "empty chassis": "0201 07 0402 05 63 0000",
	} {
		t.Run(name, func(t *testing.T) {
			if got, err := Parse(frame(t, digits)); err == nil {
				t.Errorf("got %+v, want an error", got)
			}
		})
	}
}

func FuzzParse(f *testing.F) {
	f.Add(frame(f, switchFrame))
	f.Fuzz(func(t *testing.T, b []byte) {
		if n, err := Parse(b); err == nil && (n.Chassis == "" || n.Port == "") {
			t.Errorf("got %+v", n)
		}
	})
}
