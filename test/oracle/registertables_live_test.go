//go:build oracle

package oracle

import (
	"encoding/xml"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/mad/register"
)

// A tableNode is a register, or a part of a register, in mstflint's tables.
type tableNode struct {
	Name   string `xml:"name,attr"`
	Fields []struct {
		Name    string `xml:"name,attr"`
		Offset  string `xml:"offset,attr"`
		Size    string `xml:"size,attr"`
		Subnode string `xml:"subnode,attr"`
		High    string `xml:"high_bound,attr"`
	} `xml:"field"`
}

// A place is a range of bits in a register. An array's place has all elements.
type place struct{ first, end int }

// readTables parses register tables.
func readTables(t *testing.T, text []byte) map[string]tableNode {
	t.Helper()
	var table struct {
		Nodes []tableNode `xml:"node"`
	}
	if err := xml.Unmarshal(text, &table); err != nil {
		t.Fatal(err)
	}
	nodes := map[string]tableNode{}
	for _, n := range table.Nodes {
		nodes[n.Name] = n
	}
	return nodes
}

// bitsOf returns the bits of an offset or size: "0x4.16" is 4 bytes and 16 bits.
func bitsOf(text string) (bytes, bits int) {
	whole, part, _ := strings.Cut(text, ".")
	n, _ := strconv.ParseInt(whole, 0, 32)
	bits, _ = strconv.Atoi(part)
	return int(n), bits
}

// addPlaces adds the places of a node's fields, by name, from a byte on.
func addPlaces(nodes map[string]tableNode, name string, from int, to map[string][]place) {
	for _, f := range nodes[name].Fields {
		at, low := bitsOf(f.Offset)
		size, width := bitsOf(f.Size)
		width += size * 8
		at += from
		if f.Subnode != "uint64" && len(nodes[f.Subnode].Fields) > 0 {
			count, _ := strconv.Atoi(f.High)
			for i := range count + 1 {
				addPlaces(nodes, f.Subnode, at+i*size/(count+1), to)
			}
			continue
		}
		p := place{at*8 + 32 - low - width, at*8 + 32 - low}
		if width > 32 || f.High != "" {
			p = place{at * 8, at*8 + width}
		}
		key := plain(f.Name)
		to[key] = append(to[key], p)
		for _, half := range []string{"high", "hi"} { // the lower half follows
			if base, ok := strings.CutSuffix(key, half); ok && width == 32 {
				to[base] = append(to[base], place{p.first, p.first + 64})
			}
		}
	}
}

// places returns where package register has its fields, by the bits that change them.
func places(t *testing.T, r register.Register) map[string]place {
	t.Helper()
	all := map[string]place{}
	data := make([]byte, r.Spec().Size)
	for bit := range len(data) * 8 {
		clear(data)
		data[bit/8] = 0x80 >> (bit % 8)
		if err := mad.Decode(r, data); err != nil {
			t.Fatal(err)
		}
		mad.Visit(r, func(name string, _ int, v uint64) uint64 {
			if v != 0 {
				p, known := all[name]
				if !known {
					p.first = bit
				}
				all[name] = place{p.first, bit + 1}
			}
			return v
		})
	}
	return all
}

// TestRegisterTables compares each field's place with mstflint's tables.
func TestRegisterTables(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(mstflint(t), "usr/share/mstflint/prm_dbs/switch/ext/register_access_table.adb"))
	if err != nil {
		t.Fatal(err)
	}
	nodes := readTables(t, text)
	registers := []register.Register{register.NewTrouble(1)}
	for _, c := range mstregCases {
		registers = append(registers, c.register)
	}
	for _, r := range registers {
		t.Run(r.Part().String(), func(t *testing.T) { comparePlaces(t, nodes, r) })
	}
}

// comparePlaces compares the places of a register's fields with tables.
func comparePlaces(t *testing.T, nodes map[string]tableNode, r register.Register) {
	t.Helper()
	table, root := map[string][]place{}, strings.ToLower(r.Part().ID.String())
	for _, suffix := range []string{"_ext", "_reg_ext"} {
		addPlaces(nodes, root+suffix, 0, table)
	}
	for name, p := range places(t, r) {
		key := plain(name)
		base, _ := splitIndex(key)
		found := false
		for k := key; len(k) >= len(base); k = k[:len(k)-1] { // an array's index has one or two digits
			for _, q := range table[k] {
				found = found || p == q || k != key && q.first <= p.first && p.end <= q.end
			}
		}
		if _, index := splitIndex(key); !found && index >= 0 && r.Part().ID == register.IDPMLP {
			for _, q := range table[base] { // the tables have no lane in the name
				found = found || p == q
			}
		}
		if !found {
			t.Errorf("%s: got bits %d to %d, want %v or in %v", name, p.first, p.end-1, table[key], table[base])
		}
	}
}
