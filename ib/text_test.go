package ib

import (
	"encoding"
	"reflect"
	"testing"
)

// kinds has a new value of each type, from the integer v, and its type's
// bit count.
var kinds = map[string]struct {
	bits int
	of   func(v uint64) encoding.TextMarshaler
}{
	"GUID":      {64, func(v uint64) encoding.TextMarshaler { return GUID(v) }},
	"GID":       {64, func(v uint64) encoding.TextMarshaler { return MakeGID(v, GUID(v*v)) }},
	"LID":       {16, func(v uint64) encoding.TextMarshaler { return LID(v) }},
	"MTU":       {8, func(v uint64) encoding.TextMarshaler { return MTU(v) }},
	"VLCap":     {8, func(v uint64) encoding.TextMarshaler { return VLCap(v) }},
	"LinkWidth": {8, func(v uint64) encoding.TextMarshaler { return LinkWidth(v) }},
	"Speed":     {16, func(v uint64) encoding.TextMarshaler { return Speed(v) }},
	"Rate":      {8, func(v uint64) encoding.TextMarshaler { return Rate(v) }},
	"PortState": {8, func(v uint64) encoding.TextMarshaler { return PortState(v) }},
	"PhysState": {8, func(v uint64) encoding.TextMarshaler { return PhysState(v) }},
	"LinkLayer": {8, func(v uint64) encoding.TextMarshaler { return LinkLayer(v) }},
}

// parsed returns the value of m's type with the given text.
func parsed(m encoding.TextMarshaler, text []byte) (any, error) {
	v := reflect.New(reflect.TypeOf(m))
	err := v.Interface().(encoding.TextUnmarshaler).UnmarshalText(text)
	return v.Elem().Interface(), err
}

// TestText_RoundTrip formats and parses all values in the small types and a
// sample in the others.
func TestText_RoundTrip(t *testing.T) {
	for name, kind := range kinds {
		t.Run(name, func(t *testing.T) {
			seen := map[string]any{}
			step := uint64(1)
			if kind.bits > 16 {
				step = 0x0001_0003_0007_001d
			}
			for i := range uint64(1) << min(kind.bits, 16) {
				m := kind.of(i * step)
				text, err := m.MarshalText()
				if err != nil {
					t.Fatal(err)
				}
				if other, ok := seen[string(text)]; ok && other != m {
					t.Fatalf("%q: text of two values", text)
				}
				seen[string(text)] = m
				if got, err := parsed(m, text); err != nil || got != any(m) {
					t.Fatalf("%q: got %v, %v, want %v", text, got, err, m)
				}
			}
		})
	}
}

func TestText_Invalid(t *testing.T) {
	for name, kind := range kinds {
		for _, text := range []string{"", "x", "?(", "?()", "?(256)", "?(-9)", "?(09)", "none,SDR", "4X or", "undefined (2)", "undefined (256)", "1X or undefined (64)", "SDR,,DDR", "0x1", "100 Gb/sec ", "1 "} {
			if name == "GUID" && text == "0x1" || name == "LID" && text == "0x1" {
				continue
			}
			t.Run(name+" "+text, func(t *testing.T) {
				if got, err := parsed(kind.of(0), []byte(text)); err == nil {
					t.Errorf("got %v, want an error", got)
				}
			})
		}
	}
}

func TestText_IgnoresCase(t *testing.T) {
	for text, want := range map[string]encoding.TextMarshaler{
		"active": PortActive, "LINKUP": PhysLinkUp, "ethernet": LinkLayerEthernet, "hdr,ndr": HDR | NDR,
		"4x": Width4X, "100 gb/SEC": Rate100, "vl0-7": VLs8, "None": Speed(0),
	} {
		t.Run(text, func(t *testing.T) {
			if got, err := parsed(want, []byte(text)); err != nil || got != any(want) {
				t.Errorf("got %v, %v, want %v", got, err, want)
			}
		})
	}
}

// FuzzText parses any text as each type; text that is accepted formats to text
// that parses to the same value.
func FuzzText(f *testing.F) {
	for _, s := range []string{
		"0x0002c90300fed670", "0002:c903:00fe:d670", ":::", "fe80::1", "::ffff:10.1.0.2", "49152", "4096", "VL0-14",
		"1X or 4X", "undefined (32)", "SDR,DDR,0x200", "none", "100 Gb/sec", "?(9)", "Active", "LinkUp", "Ethernet",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for name, kind := range kinds {
			v, err := parsed(kind.of(0), []byte(s))
			if err != nil {
				continue
			}
			text, err := v.(encoding.TextMarshaler).MarshalText()
			if err != nil {
				t.Fatal(err)
			}
			if again, err := parsed(kind.of(0), text); err != nil || again != v {
				t.Errorf("%s %q: got %v, %v after a round trip, want %v", name, s, again, err, v)
			}
		}
	})
}
