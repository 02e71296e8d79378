package counters_test

import (
	"bytes"
	"errors"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/internal/textfile"
	"github.com/ibkit/ibkit/internal/tool/counters"
)

func TestThresholds_Read(t *testing.T) {
	for _, test := range []struct {
		text string
		want string // error; "": SymbolErrors is limited to 8
	}{
		{"SymbolErrorCounter=8\n", ""},
		{"# comment\n\n  SymbolErrorCounter = 010  \r\n", ""},
		{"SymbolErrorCounter=0x8", ""},
		{"SymbolErrorCounter=5\nSymbolErrorCounter=8\n", ""},
		{"PortXmitWait=18446744073709551615\nSymbolErrorCounter=8\n", ""},
		{"SymbolErrorCounter 8\n", "x:1: got"},
		{"\n\nSymbolErrorCounter\n", "x:3: got"},
		{"SymbolErrorCounter=\n", "x:1: limit of SymbolErrorCounter: got \"\""},
		{"SymbolErrorCounter=1_0\n", "x:1: limit"},
		{"SymbolErrorCounter=0b1\n", "x:1: limit"},
		{"SymbolErrorCounter=-1\n", "x:1: limit"},
		{"SymbolErrorCounter=18446744073709551616\n", "x:1: limit"},
		{"SymbolErrorCounter=8\nPortXmitData=5\n", "x:2: unknown error counter \"PortXmitData\""},
		{"=5\n", "x:1: unknown error counter \"\""},
		{strings.Repeat("x", 1<<17), "x:1: "},
	} {
		t.Run(test.text, func(t *testing.T) {
			var l counters.Thresholds
			err := l.Read(strings.NewReader(test.text), "x")
			switch {
			case test.want == "" && (err != nil || l.Limit(counters.SymbolErrors) != 8):
				t.Errorf("%q: got %d, %v, want 8", test.text, l.Limit(counters.SymbolErrors), err)
			case test.want != "" && (err == nil || !strings.HasPrefix(err.Error(), test.want)):
				t.Errorf("%q: got error %v, want %q", test.text, err, test.want)
			}
		})
	}
}

func FuzzThresholds(f *testing.F) {
	f.Add("SymbolErrorCounter=8\n# x\nPortXmitWait=0x10\n")
	f.Add("=\n==\nVL15Dropped=1=2")
	f.Fuzz(func(t *testing.T, text string) {
		var l counters.Thresholds
		if err := l.Read(strings.NewReader(text), "x"); err != nil {
			var e *textfile.Error
			if !errors.As(err, &e) || e.Line < 1 {
				t.Errorf("got error %v, want one with a line", err)
			}
			return
		}
		for _, g := range l.Given {
			if !l.IsGiven(g.Counter) {
				t.Errorf("%v is not given", g.Counter)
			}
		}
	})
}

// baseline returns a baseline for a small fabric.
func baseline(t testing.TB, nodes []*counters.Node) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := counters.WriteBaseline(&b, nodes, false); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestReadBaseline_Errors(t *testing.T) {
	var good string
	synctest.Test(t, func(t *testing.T) {
		f := build(t, "single-switch:hosts=2")
		c, _, _ := scan(t, f, counters.CollectOptions{Attributes: counters.AllAttributes}, fabric.DiscoverOptions{})
		good = string(baseline(t, c.Nodes()))
	})
	if _, err := counters.ReadBaseline(strings.NewReader(good), "x"); err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(good, "\n")
	for _, test := range []struct{ name, text, want string }{
		{"empty", "", "x:1: the file is truncated"},
		{"other file", "hello\n", "x:1: not a baseline of ibkit counters: the first line is not \"ibkit counters baseline \" with a version"},
		{"binary file", "\x7fELF\x02\x01" + strings.Repeat("\x00", 1<<17), "x:1: not a baseline of ibkit counters"},
		{"newer version", strings.Replace(good, "baseline 1", "baseline 2", 1), "x:1: version: got 2, want 1"},
		{"cut line", good[:len(lines[0])+len(lines[1])+len(lines[2])-9], "x:3: "},
		{"port first", lines[0] + lines[2], "x:2: a port line precedes"},
		{"bad GUID", lines[0] + "node 0xg caps 0x0 caps2 0x0 \"a\"\n", "x:2: "},
		{"bad number", lines[0] + lines[1] + strings.Replace(lines[2], "port ", "port 300", 1), "x:3: port number"},
		{"number out of range", lines[0] + lines[1] + strings.Replace(lines[2], "port 1", "port 300", 1), `x:3: port number: got "300", want a number from 0 to 255`},
		{"bad value", lines[0] + lines[1] + strings.TrimSuffix(lines[2], "0\n") + "x\n", `got "x", want a number from 0 to 18446744073709551615`},
		{"bad mask", lines[0] + "node 0x1 caps 0x10000 caps2 0x0 \"a\"\n", `x:2: capability mask: got "0x10000", want a number from 0 to 65535`},
		{"bad time", lines[0] + lines[1] + strings.Replace(lines[2], ".", ",", 1), "x:3: time"},
		{"unknown word", lines[0] + "nodes\n", "x:2: got \"nodes\""},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := counters.ReadBaseline(strings.NewReader(test.text), "x")
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got error %v, want %q", err, test.want)
			}
		})
	}
}

// The valid lines of a damaged baseline are read, and the others are reported.
func TestReadBaseline_Damaged(t *testing.T) {
	var good string
	synctest.Test(t, func(t *testing.T) {
		f := build(t, "single-switch:hosts=2")
		c, _, _ := scan(t, f, counters.CollectOptions{Attributes: counters.AllAttributes}, fabric.DiscoverOptions{})
		good = string(baseline(t, c.Nodes()))
	})
	lines := strings.SplitAfter(good, "\n") // header, node, port, node, …
	for _, test := range []struct{ name, text, want string }{
		{"whole", good, ""},
		{"truncated", strings.Join(lines[:5], ""), "x:6: the file is truncated: the line \"end\" is missing"},
		{"cut line", strings.Join(lines[:4], "") + lines[4][:len(lines[4])-9], "x:5: number of values:"},
		{"missing line", lines[0] + lines[1] + strings.Join(lines[3:], ""), "x:" + strconv.Itoa(len(lines)-2) + ": number of port lines"},
		{"repeated", lines[0] + lines[1] + lines[2] + strings.Join(lines[2:], ""), "x:4: attribute extended: repeated, the first counts"},
		{"node", lines[0] + "node x\n" + strings.Join(lines[2:], ""), "x:2: got another form"},
		{"other line", lines[0] + "ibwarn: x\n" + strings.Join(lines[1:], ""), "x:2: got \"ibwarn: x\""},
		{"after the end", good + "node\n", "x:" + strconv.Itoa(len(lines)) + ": unexpected line after \"end\""},
	} {
		t.Run(test.name, func(t *testing.T) {
			b, err := counters.ReadBaseline(strings.NewReader(test.text), "x")
			if err != nil {
				t.Fatal(err)
			}
			if b.Partial != (test.want != "") || (len(b.Damage) > 0) != b.Partial {
				t.Fatalf("got partial %v, damage %v, want %q", b.Partial, b.Damage, test.want)
			}
			if b.Partial && !strings.HasPrefix(b.Damage[0].Error(), test.want) {
				t.Errorf("got %v, want %s", b.Damage[0], test.want)
			}
		})
	}
}

// A baseline is marked as partial if data was missing.
func TestBaseline_Partial(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := build(t, "single-switch:hosts=2")
		c, _, _ := scan(t, f, counters.CollectOptions{Attributes: counters.AllAttributes}, fabric.DiscoverOptions{})
		for _, want := range []bool{false, true} {
			var text bytes.Buffer
			if err := counters.WriteBaseline(&text, c.Nodes(), want); err != nil {
				t.Fatal(err)
			}
			if b, err := counters.ReadBaseline(&text, "x"); err != nil || b.Partial != want {
				t.Errorf("got partial %t, error %v, want %t", b.Partial, err, want)
			}
		}
	})
}

func FuzzBaseline(f *testing.F) {
	f.Add("ibkit counters baseline 1\nnode 0x0002c9030010a1b2 caps 0x1200 caps2 0x2 \"leaf1\"\nport 1 basic 1764000000.123456789 0 17 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0\nend 1\n")
	f.Add("ibkit counters baseline 1\nend 0\n")
	f.Add("ibkit counters baseline 1\npartial\nend 0\n")
	f.Fuzz(func(t *testing.T, text string) {
		_, err := counters.ReadBaseline(strings.NewReader(text), "x")
		var e *textfile.Error
		if err != nil && (!errors.As(err, &e) || e.Line < 1) {
			t.Errorf("got error %v, want one with a line", err)
		}
	})
}
