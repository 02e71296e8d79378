package main

import (
	"testing"
	"time"
)

func TestParseStat(t *testing.T) {
	const rest = " 69 69 0 -1 4194560 111 222 0 0 7 3 20 10 20 0 1 0 500 3000000 200 18446744073709551615"
	for name, c := range map[string]struct {
		text    string
		name    string
		user    bool
		session int
	}{
		"program":        {"80 (ibkit) S 70" + rest, "ibkit", true, 69},
		"odd name":       {"80 (a) b (c) S 70" + rest, "a) b (c", true, 69},
		"kernel thread":  {"80 (kworker/0:1) I 2" + rest, "kworker/0:1", false, 69},
		"kernel threads": {"2 (kthreadd) S 0" + rest, "kthreadd", false, 69},
	} {
		t.Run(name, func(t *testing.T) {
			p, user, err := parseStat(c.text)
			if err != nil || p.Args != c.name || user != c.user || p.session != c.session || p.CPU != 400*time.Millisecond {
				t.Errorf("got %+v, user space %v, %v, want %+v and 400 ms", p, user, err, c)
			}
		})
	}
	for _, text := range []string{"", "80 ibkit S", "80 (ibkit) S 1 2", "80 (ibkit) S x" + rest} {
		if p, _, err := parseStat(text); err == nil {
			t.Errorf("%q: got %+v, want an error", text, p)
		}
	}
}

func TestMarked(t *testing.T) {
	for text, want := range map[string]uint32{
		"A=b\x00GUEST_COMMAND=17\x00": 17, "GUEST_COMMAND=4294967295": 1<<32 - 1, "XGUEST_COMMAND=17\x00": 0, "GUEST_COMMAND=x\x00": 0, "": 0,
	} {
		if got := marked(text); got != want {
			t.Errorf("%q: got %d, want %d", text, got, want)
		}
	}
}
