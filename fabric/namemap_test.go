package fabric_test

import (
	"errors"
	"strings"
	"testing"
	"unicode"

	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/internal/textfile"
	"github.com/ibkit/ibkit/mad"
)

func TestNameMap(t *testing.T) {
	const file = `# names of a fabric

0x2c90300001234 "rack 1 leaf 3"
  0x1	"indented"
0x2 bare words  # and a comment
0x3 "cut#here"
0x4
0x5 # only a comment
0x6 ""
0x1 "second entry"
16 "decimal"
0x7#no blank
0x8 "größer"
`
	const own = "own name"
	m, err := fabric.ReadNameMap(strings.NewReader(file), "names")
	if err != nil {
		t.Fatal(err)
	}
	for guid, want := range map[ib.GUID]string{
		0x2c90300001234: "rack 1 leaf 3",
		1:               "indented",
		2:               "bare words",
		3:               "cut",
		4:               own,
		5:               own,
		6:               own,
		7:               own,
		8:               "größer",
		16:              "decimal",
		99:              own,
	} {
		if got := m.NameOf(guid, mad.NewNodeDescription(own)); got != want {
			t.Errorf("name of 0x%x: got %q, want %q", guid, got, want)
		}
	}
	n := &fabric.Node{GUID: 1, Desc: mad.NewNodeDescription(own)}
	if got := m.Name(n); got != "indented" {
		t.Errorf("got %q, want the mapped name", got)
	}
	if got := (*fabric.NameMap)(nil).Name(n); got != own {
		t.Errorf("the nil map: got %q, want the description", got)
	}
}

func TestNameMapErrors(t *testing.T) {
	const file = "0x1 \"one\"\nleaf 2\n\n0x1g \"x\"\n-3 \"minus\"\n0x10000000000000000 \"large\"\n0x9 \"nine\"\n1_0 \"Go\"\n"
	m, err := fabric.ReadNameMap(strings.NewReader(file), "names")
	if first, ok := errors.AsType[*textfile.Error](err); !ok || first.Line != 2 || first.File != "names" {
		t.Errorf("got %v, want line 2 of names first", err)
	}
	if want := `read node name map: names:2: got "leaf", want a node GUID such as 0x2c90300001234; 5 lines are invalid`; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	if got := m.NameOf(9, mad.NodeDescription{}); got != "nine" {
		t.Errorf("an entry behind malformed lines: got %q", got)
	}

	if _, err = fabric.ReadNameMap(strings.NewReader(strings.Repeat("0", 1<<20)), "names"); err == nil {
		t.Error("no error for an endless line")
	}
}

func FuzzReadNameMap(f *testing.F) {
	f.Fuzz(func(t *testing.T, file string) {
		m, _ := fabric.ReadNameMap(strings.NewReader(file), "names")
		for _, guid := range []ib.GUID{0, 1, 2, 3} {
			name := m.NameOf(guid, mad.NewNodeDescription(file))
			for _, r := range name {
				if !unicode.IsPrint(r) {
					t.Fatalf("name %q is not safe for a terminal", name)
				}
			}
		}
	})
}
