package mad

import (
	"strings"
	"testing"
)

func TestParseRoute(t *testing.T) {
	for s, want := range map[string]Route{
		"0":         Local,
		"0,1,3":     RouteOf(1, 3),
		"0, 255, 2": RouteOf(255, 2),
		"0,0x10":    RouteOf(16),
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
	local := Local
	r := local.Append(1).Append(200)
	if r.String() != "0,1,200" || r.Hops() != 2 || r.Parent() != local.Append(1) || local.Parent() != local {
		t.Errorf("got %v of %d hops behind %v", r, r.Hops(), r.Parent())
	}
	if text, err := r.MarshalText(); err != nil || string(text) != "0,1,200" {
		t.Errorf("got %s, %v", text, err)
	}
}

// TestRoute_None: a route that was not found never becomes the local route.
func TestRoute_None(t *testing.T) {
	var none Route
	for name, got := range map[string]Route{
		"Append": none.Append(1), "Join": none.Join(Local), "Join with none": Local.Join(none), "Parent": none.Parent(),
	} {
		if got != none {
			t.Errorf("%s: got %v, want none", name, got)
		}
	}
	if none.Hops() != 0 || len(none.Ports()) != 0 || !none.IsNone() || none.String() != "none" {
		t.Errorf("got %v with %d hops", none, none.Hops())
	}
	again := Local
	if err := again.UnmarshalText([]byte("none")); err != nil || again != none {
		t.Errorf("got %v, %v, want none", again, err)
	}
}

func TestRoute_Join(t *testing.T) {
	if got := RouteOf(1, 2).Join(RouteOf(3)); got != RouteOf(1, 2, 3) {
		t.Errorf("got %v, want 0,1,2,3", got)
	}
	if got := RouteOf(1).Join(Local); got != RouteOf(1) {
		t.Errorf("got %v, want 0,1", got)
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
