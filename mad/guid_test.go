package mad

import (
	"fmt"
	"strings"
	"testing"
)

func TestParseGUID(t *testing.T) {
	for s, want := range map[string]uint64{
		"0x0002c90300fed670":  0x0002c90300fed670,
		"0002C90300FED670":    0x0002c90300fed670,
		"2c90300fed670":       0x0002c90300fed670,
		"0002:c903:00fe:d670": 0x0002c90300fed670,
		"0:0:0:1":             1,
		"0Xff":                255,
		"ffffffffffffffff":    1<<64 - 1,
	} {
		if got, err := ParseGUID(s); err != nil || got != want {
			t.Errorf("%q: got %#x, %v", s, got, err)
		}
	}
	for s, want := range map[string]string{
		"":                   "position 1: digits are missing",
		"0x":                 "position 3: digits are missing",
		"0x12g4":             "position 5: 'g' is not a hexadecimal digit",
		"12345678901234567":  "position 17: more than 16 digits",
		"0002:c903:00fe":     "2 colons, expected none or 3",
		"0x0002:c903:0:1":    "3 colons",
		"0002::00fe:d670":    "position 6: no digits before the colon",
		"0002:c9030:00fe:1":  "position 10: more than 4 digits",
		"0002:c903:00fe:":    "position 16: digits are missing",
		"0x0000000000000000": "no node has GUID 0",
		" 0x1":               "position 1: ' ' is not",
		"-1":                 "position 1: '-' is not",
	} {
		if got, err := ParseGUID(s); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %#x, %v, want %q", s, got, err, want)
		}
	}
}

func FuzzParseGUID(f *testing.F) {
	for _, s := range []string{"0x0002c90300fed670", "0002:c903:00fe:d670", "", "0x", ":::", "0"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		guid, err := ParseGUID(s)
		if err != nil {
			return
		}
		if again, err := ParseGUID(fmt.Sprintf("0x%016x", guid)); err != nil || again != guid || guid == 0 {
			t.Errorf("%q is %#x, which reads as %#x, %v", s, guid, again, err)
		}
	})
}
