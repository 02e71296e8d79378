package ib

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"strings"
	"testing"
)

func TestParseGUID(t *testing.T) {
	for s, want := range map[string]GUID{
		"0x0002c90300fed670":  0x0002c90300fed670,
		"0002C90300FED670":    0x0002c90300fed670,
		"2c90300fed670":       0x0002c90300fed670,
		"0002:c903:00fe:d670": 0x0002c90300fed670,
		"0:0:0:1":             1,
		"0Xff":                255,
		"ffffffffffffffff":    1<<64 - 1,
		"0":                   0,
	} {
		t.Run(s, func(t *testing.T) {
			if got, err := ParseGUID(s); err != nil || got != want {
				t.Errorf("got %v, %v, want %v", got, err, want)
			}
		})
	}
}

func TestParseGUID_Invalid(t *testing.T) {
	for s, want := range map[string]string{
		"":                  "position 1: digits are missing",
		"0x":                "position 3: digits are missing",
		"0x12g4":            "position 5: 'g' is not a hexadecimal digit",
		"1٣":                "position 2: '٣' is not a hexadecimal digit",
		"12345678901234567": "position 17: more than 16 digits",
		"0002:c903:00fe":    "got 2 colons, want 0, or 3 without 0x",
		"0x0002:c903:0:1":   "got 3 colons",
		"0002::00fe:d670":   "position 6: no digits before the colon",
		"0002:c9030:00fe:1": "position 10: more than 4 digits",
		"0002:c903:00fe:":   "position 16: digits are missing",
		" 0x1":              "position 1: ' ' is not",
		"-1":                "position 1: '-' is not",
	} {
		t.Run(s, func(t *testing.T) {
			got, err := ParseGUID(s)
			if err == nil || !strings.HasPrefix(err.Error(), fmt.Sprintf("parse GUID %q: ", s)) || !strings.Contains(err.Error(), want) {
				t.Errorf("got %v, %v, want error with %q", got, err, want)
			}
		})
	}
}

func TestFormat(t *testing.T) {
	for _, tt := range []struct{ format, guid, lid string }{
		{"%v", "0x0002c90300fed670", "49152"},
		{"%s", "0x0002c90300fed670", "49152"},
		{"%q", `"0x0002c90300fed670"`, `"49152"`},
		{"%20s", "  0x0002c90300fed670", "               49152"},
		{"%d", "783964692207216", "49152"},
		{"%x", "2c90300fed670", "c000"},
		{"0x%016x", "0x0002c90300fed670", "0x000000000000c000"},
		{"%#x", "0x2c90300fed670", "0xc000"},
		{"%X", "2C90300FED670", "C000"},
	} {
		t.Run(tt.format, func(t *testing.T) {
			if got := fmt.Sprintf(tt.format, GUID(0x0002c90300fed670)); got != tt.guid {
				t.Errorf("GUID: got %q, want %q", got, tt.guid)
			}
			if got := fmt.Sprintf(tt.format, LID(0xc000)); got != tt.lid {
				t.Errorf("LID: got %q, want %q", got, tt.lid)
			}
		})
	}
}

func TestGID(t *testing.T) {
	g := MakeGID(DefaultPrefix, 0x0002c90300fed671)
	if got, want := g.String(), "fe80::2:c903:fe:d671"; got != want {
		t.Errorf("String: got %s, want %s", got, want)
	}
	if g.Prefix() != DefaultPrefix || g.GUID() != 0x0002c90300fed671 {
		t.Errorf("halves: got %#x and %v, want %#x and 0x0002c90300fed671", g.Prefix(), g.GUID(), DefaultPrefix)
	}
	if got := GIDFrom(g.Addr()); got != g {
		t.Errorf("GIDFrom(Addr()): got %v, want %v", got, g)
	}
	if got, want := GIDFrom(netip.MustParseAddr("10.1.0.2")).String(), "::ffff:10.1.0.2"; got != want {
		t.Errorf("GID of an IPv4 address: got %s, want %s", got, want)
	}
	if got := GIDFrom(netip.Addr{}); !got.IsZero() {
		t.Errorf("GID of the invalid address: got %v, want ::", got)
	}
	if g.IsMulticast() || g.IsZero() || !(GID{0: 0xff, 1: 0x12}).IsMulticast() {
		t.Error("IsMulticast or IsZero: got a wrong class")
	}
}

func TestParseGID(t *testing.T) {
	for s, want := range map[string]string{
		"fe80:0000:0000:0000:0002:c903:00fe:d671": "fe80::2:c903:fe:d671",
		"::ffff:10.1.0.2":                         "::ffff:10.1.0.2",
		"FF12:401b::1":                            "ff12:401b::1",
		"::":                                      "::",
	} {
		t.Run(s, func(t *testing.T) {
			if got, err := ParseGID(s); err != nil || got.String() != want {
				t.Errorf("got %v, %v, want %s", got, err, want)
			}
		})
	}
	for _, s := range []string{"", "10.1.0.2", "fe80::1%eth0", "0x0002c90300fed670", "fe80::1/64"} {
		t.Run("invalid "+s, func(t *testing.T) {
			if got, err := ParseGID(s); err == nil || err.Error() != fmt.Sprintf("parse GID %q: not an IPv6 address without zone", s) {
				t.Errorf("got %v, %v, want an error", got, err)
			}
		})
	}
}

func TestParseLID(t *testing.T) {
	for s, want := range map[string]LID{"0": 0, "7": 7, "65535": PermissiveLID, "0xC000": MinMulticastLID, "010": 10} {
		t.Run(s, func(t *testing.T) {
			if got, err := ParseLID(s); err != nil || got != want {
				t.Errorf("got %v, %v, want %v", got, err, want)
			}
		})
	}
	for _, s := range []string{"", "0x", "65536", "-1", "+1", "c000", "0x10000"} {
		t.Run("invalid "+s, func(t *testing.T) {
			if got, err := ParseLID(s); err == nil || err.Error() != fmt.Sprintf("parse LID %q: not a number from 0 to 65535", s) {
				t.Errorf("got %v, %v, want an error", got, err)
			}
		})
	}
}

func TestLID_Ranges(t *testing.T) {
	for l, want := range map[LID][2]bool{
		0: {}, MinUnicastLID: {true, false}, MaxUnicastLID: {true, false},
		MinMulticastLID: {false, true}, MaxMulticastLID: {false, true}, PermissiveLID: {},
	} {
		if got := [2]bool{l.IsUnicast(), l.IsMulticast()}; got != want {
			t.Errorf("%d: got unicast, multicast %v, want %v", l, got, want)
		}
	}
}

// TestJSON checks address forms in JSON, which commands publish.
func TestJSON(t *testing.T) {
	type addresses struct {
		GUID GUID
		GID  *GID
		LID  LID
		Path map[LID]GUID
		None *LID
	}
	in := addresses{1, &GID{15: 1}, 7, map[LID]GUID{7: 2}, nil}
	text, err := json.Marshal(in)
	want := `{"GUID":"0x0000000000000001","GID":"::1","LID":7,"Path":{"7":"0x0000000000000002"},"None":null}`
	if err != nil || string(text) != want {
		t.Errorf("got %s, %v, want %s", text, err, want)
	}
	var out addresses
	if err := json.Unmarshal(text, &out); err != nil || fmt.Sprint(out.GUID, out.GID, out.LID, out.Path, out.None) != fmt.Sprint(in.GUID, in.GID, in.LID, in.Path, in.None) {
		t.Errorf("got %v, %v, want %v", out, err, in)
	}
	for _, bad := range []string{`65536`, `-1`, `""`, `1.5`} {
		if err := json.Unmarshal([]byte(bad), new(LID)); err == nil {
			t.Errorf("LID %s: got no error", bad)
		}
	}
}
