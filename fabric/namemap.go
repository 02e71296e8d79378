package fabric

import (
	"cmp"
	"fmt"
	"io"
	"path"
	"strconv"
	"strings"
	"unicode"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/internal/textfile"
	"github.com/ibkit/ibkit/mad"
)

// DefaultNameMapPath is the default node name file in Debian's infiniband-diags.
const DefaultNameMapPath = "/etc/rdma/ib-node-name-map"

// A NameMap maps node GUIDs to the names that an administrator assigned. The nil
// map is empty.
type NameMap struct {
	names map[ib.GUID]string
}

// ReadNameMap reads a node name map in the opensm and infiniband-diags format
// (rdma-core, util/node_name_map.c). Errors contain name.
//
// A line consists of a node GUID, blanks, and a name. Double quotes around the name are
// optional. The name ends at a quote, at a # or at the line's end; a comment begins
// with #. A GUID without a name is ignored. If a GUID occurs several times, the first
// line applies.
//
// An invalid line does not end the map. ReadNameMap returns the other entries together
// with the [*textfile.Error] for the first invalid line and the invalid line count.
func ReadNameMap(r io.Reader, name string) (*NameMap, error) {
	m := &NameMap{names: make(map[ib.GUID]string)}
	lines := textfile.NewReader(r, name)
	for lines.Next() {
		if err := m.add(lines.Text()); err != nil {
			lines.Reject(err)
		}
	}
	if err := lines.Err(); err != nil {
		return m, fmt.Errorf("read node name map: %w", err)
	}
	return m, nil
}

// add adds a line.
func (m *NameMap) add(line string) error {
	line = strings.TrimSpace(line)
	if line == "" || line[0] == '#' {
		return nil
	}
	first := line
	if i := strings.IndexFunc(line, func(r rune) bool { return unicode.IsSpace(r) || r == '#' }); i >= 0 {
		first = line[:i]
	}
	v, err := strconv.ParseUint(first, 0, 64)
	if err != nil || strings.Contains(first, "_") { // 1_000 is valid in Go only
		return fmt.Errorf("got %s, want a node GUID such as 0x2c90300001234", textfile.Quote(first))
	}
	text := strings.TrimSpace(line[len(first):])
	if strings.HasPrefix(text, "#") {
		return nil
	}
	text = strings.TrimLeft(text, `"`)
	if i := strings.IndexAny(text, `"#`); i >= 0 {
		text = text[:i]
	}
	if text = strings.TrimSpace(printable(text)); text == "" {
		return nil
	}
	if guid := ib.GUID(v); m.names[guid] == "" {
		m.names[guid] = text
	}
	return nil
}

// printable replaces each character that could move a terminal's cursor, change
// its state or hide text by a blank.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) && r != unicode.ReplacementChar {
			return r
		}
		return ' '
	}, s)
}

// Name returns the node's mapped name, or its description if the map has no name. The
// result is safe for a terminal.
func (m *NameMap) Name(n *Node) string { return m.NameOf(n.GUID, n.Desc) }

// Label returns the node's name, or its GUID if the node has no name, for example
// because its NodeDescription was not read.
func (m *NameMap) Label(n *Node) string { return m.LabelOf(n.GUID, n.Desc) }

// LabelOf is [NameMap.Label] for a GUID and a description.
func (m *NameMap) LabelOf(guid ib.GUID, desc mad.NodeDescription) string {
	return cmp.Or(m.NameOf(guid, desc), guid.String())
}

// AppendName appends [NameMap.Name] to b, without allocation if b has space.
func (m *NameMap) AppendName(b []byte, n *Node) []byte {
	if m != nil {
		if name, ok := m.names[n.GUID]; ok {
			return append(b, name...)
		}
	}
	return n.Desc.AppendClean(b)
}

// Match reports whether a [path.Match] pattern matches a node's name or GUID. A malformed
// pattern matches no node.
func (m *NameMap) Match(pattern string, n *Node) bool {
	byName, _ := path.Match(pattern, m.Name(n))
	byGUID, _ := path.Match(pattern, n.GUID.String())
	return byName || byGUID
}

// NameOf is [NameMap.Name] for a GUID and a description.
func (m *NameMap) NameOf(guid ib.GUID, desc mad.NodeDescription) string {
	if m != nil {
		if name, ok := m.names[guid]; ok {
			return name
		}
	}
	return desc.Clean()
}
