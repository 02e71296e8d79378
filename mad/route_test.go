package mad

import (
	"strings"
	"testing"
)

func TestParseRoute(t *testing.T) {
	for s, want := range map[string]Route{
		"0":         "",
		"0,1,3":     "\x01\x03",
		"0, 255, 2": "\xff\x02",
		"0,0x10":    "\x10",
	} {
		if got, err := ParseRoute(s); err != nil || got != want {
			t.Errorf("%q: got %v, %v", s, got, err)
		}
	}
	for s, want := range map[string]string{
		"":                                    `element 1: "" is not a port number`,
		"1,2":                                 "element 1 is the local node and must be 0, not 1",
		"0,2,0":                               "element 3: no link leaves by port 0",
		"0,256":                               `element 2: "256" is not a port number`,
		"0,1,":                                `element 3: "" is not a port number`,
		"0" + strings.Repeat(",1", MaxHops+1): "64 hops, at most 63 are possible",
	} {
		if got, err := ParseRoute(s); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, %v, want %q", s, got, err, want)
		}
	}
}

func TestRoute(t *testing.T) {
	var local Route
	r := local.Append(1).Append(200)
	if r.String() != "0,1,200" || r.Hops() != 2 || r.Parent() != local.Append(1) || local.Parent() != local {
		t.Errorf("got %v of %d hops behind %v", r, r.Hops(), r.Parent())
	}
	if text, err := r.MarshalText(); err != nil || string(text) != "0,1,200" {
		t.Errorf("got %s, %v", text, err)
	}
}

func FuzzParseRoute(f *testing.F) {
	for _, s := range []string{"0", "0,1,3", "0,0x10", "", "0,,1", "1", "0,-1", "0,1" + strings.Repeat(",2", 70)} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		r, err := ParseRoute(s)
		if err != nil {
			return
		}
		if again, err := ParseRoute(r.String()); err != nil || again != r || r.Hops() > MaxHops {
			t.Errorf("%q is %v, which reads as %v, %v", s, r, again, err)
		}
	})
}
