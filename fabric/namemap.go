package fabric

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/mad"
)

// DefaultNameMapPath is where Debian's infiniband-diags look for a map of node
// names when they are given none.
const DefaultNameMapPath = "/etc/rdma/ib-node-name-map"

// maxNameMapErrors bounds what is said of a file that is no name map at all.
const maxNameMapErrors = 10

// A NameMap gives nodes the names that an administrator chose for them. The
// nil map names none.
type NameMap struct {
	names map[ib.GUID]string
}

// A NameMapError is a line of a name map that cannot be read.
type NameMapError struct {
	File    string
	Line    int // from 1
	Problem string
}

// Error names file and line.
func (e *NameMapError) Error() string {
	return fmt.Sprintf("read node name map: %s:%d: %s", e.File, e.Line, e.Problem)
}

// ReadNameMap reads a map of node names as opensm and infiniband-diags do
// (rdma-core, util/node_name_map.c). name stands for r in errors.
//
// A line is a node GUID, blanks, and a name in double quotes, which may be
// left out. The name ends at a quote, at a # or with the line; a comment
// begins with #. A GUID without a name is passed over. Of several lines for
// one GUID, the first holds.
//
// ReadNameMap reads on behind a malformed line, so the map is there even with
// an error; the error then joins a [*NameMapError] for each such line, or for
// the first of very many.
func ReadNameMap(r io.Reader, name string) (*NameMap, error) {
	m := &NameMap{names: make(map[ib.GUID]string)}
	var errs []error
	lines := bufio.NewScanner(r)
	number := 0
	for lines.Scan() {
		number++
		problem := m.add(lines.Text())
		if problem == "" {
			continue
		}
		if len(errs) == maxNameMapErrors {
			problem = "more lines that are no entries follow"
		}
		errs = append(errs, &NameMapError{name, number, problem})
		if len(errs) > maxNameMapErrors {
			return m, errors.Join(errs...)
		}
	}
	if err := lines.Err(); err != nil {
		errs = append(errs, fmt.Errorf("read node name map: %s:%d: %w", name, number+1, err))
	}
	return m, errors.Join(errs...)
}

// add takes one line in and says what is wrong with it.
func (m *NameMap) add(line string) (problem string) {
	line = strings.TrimSpace(line)
	if line == "" || line[0] == '#' {
		return ""
	}
	first := line
	if i := strings.IndexFunc(line, func(r rune) bool { return unicode.IsSpace(r) || r == '#' }); i >= 0 {
		first = line[:i]
	}
	v, err := strconv.ParseUint(first, 0, 64)
	if err != nil || strings.Contains(first, "_") { // 1_000 is a number in Go only
		return fmt.Sprintf("expected a node GUID such as 0x2c90300001234, found %q", first)
	}
	text := strings.TrimSpace(line[len(first):])
	if strings.HasPrefix(text, "#") {
		return ""
	}
	text = strings.TrimLeft(text, `"`)
	if i := strings.IndexAny(text, `"#`); i >= 0 {
		text = text[:i]
	}
	if text = strings.TrimSpace(printable(text)); text == "" {
		return ""
	}
	if guid := ib.GUID(v); m.names[guid] == "" {
		m.names[guid] = text
	}
	return ""
}

// printable returns s with a blank for each character that could move a
// terminal's cursor, change its state or hide text.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) && r != unicode.ReplacementChar {
			return r
		}
		return ' '
	}, s)
}

// Name returns the mapped name of the node, and the clean description that the
// node gives of itself where the map has none. It is safe for a terminal.
func (m *NameMap) Name(n *Node) string { return m.NameOf(n.GUID, n.Desc) }

// NameOf is [NameMap.Name] for a node of which only GUID and description are
// known.
func (m *NameMap) NameOf(guid ib.GUID, desc mad.NodeDescription) string {
	if m != nil {
		if name, ok := m.names[guid]; ok {
			return name
		}
	}
	return desc.Clean()
}
