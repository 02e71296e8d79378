package hostlist_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/ibkit/ibkit/internal/hostlist"
)

func TestExpand(t *testing.T) {
	for list, want := range map[string]string{
		"":                        "",
		"a":                       "a",
		"a,b c\nd":                "a b c d",
		"node[01-03,10],login1":   "node01 node02 node03 node10 login1",
		"n[8-11]":                 "n8 n9 n10 n11",
		"n[08-11]-ib":             "n08-ib n09-ib n10-ib n11-ib",
		"r[1-2]n[1-2]":            "r1n1 r1n2 r2n1 r2n2",
		"[1-2]":                   "1 2",
		"10.0.0.[1-2]":            "10.0.0.1 10.0.0.2",
		"n[a,b]":                  "na nb",
		"n[000999-001001]":        "n000999 n001000 n001001",
		"fe80::1,host-0-[0-1]-x1": "fe80::1 host-0-0-x1 host-0-1-x1",
	} {
		t.Run(list, func(t *testing.T) {
			if got, err := hostlist.Expand(list); err != nil || strings.Join(got, " ") != want {
				t.Errorf("got %q, %v, want %q", got, err, want)
			}
		})
	}
}

func TestExpand_invalid(t *testing.T) {
	for list, want := range map[string]string{
		"n[1-3":               `missing "]"`,
		"n1]":                 `unexpected ']'`,
		"n[[1]]":              `unexpected '['`,
		"n[3-1]":              "1 is below 3",
		"n[1-]":               "want two numbers",
		"n[a-c]":              "want two numbers",
		"n[]":                 "empty range",
		"n[1,,2]":             "empty range",
		"n[0-999999999]":      "more than 131072 hosts",
		"[1-999][1-999]":      "more than 131072 hosts",
		"[0-99999],[0-99999]": "more than 131072 hosts",
	} {
		t.Run(list, func(t *testing.T) {
			if got, err := hostlist.Expand(list); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("got %d hosts, %v, want %s", len(got), err, want)
			}
		})
	}
}

func TestCompress(t *testing.T) {
	for list, want := range map[string]string{
		"node01 node02 node03 a": "node[01-03],a",
		"n9 n10 n11":             "n9,n[10-11]",
		"b a1 a3":                "b,a1,a3",
	} {
		t.Run(list, func(t *testing.T) {
			names := strings.Fields(list)
			got := hostlist.Compress(names)
			if got != want {
				t.Errorf("got %q, want %q", got, want)
			}
			if back, err := hostlist.Expand(got); err != nil || !slices.Equal(back, names) {
				t.Errorf("got %q, %v back, want %q", back, err, names)
			}
		})
	}
}

func FuzzExpand(f *testing.F) {
	f.Add("node[01-18,20],login1")
	f.Add("r[1-2]n[1-2]")
	f.Fuzz(func(t *testing.T, list string) {
		if hosts, err := hostlist.Expand(list); err == nil && len(hosts) > hostlist.Most {
			t.Errorf("got %d hosts, want at most %d", len(hosts), hostlist.Most)
		}
	})
}

func TestCompare(t *testing.T) {
	names := strings.Fields("n10 a n2 n1 n02 b1x3 b1x10")
	slices.SortFunc(names, hostlist.Compare)
	if got, want := strings.Join(names, " "), "a b1x3 b1x10 n1 n02 n2 n10"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
