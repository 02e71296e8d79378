package topology

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/mad"
)

// maxLine is the maximum line length in this package's files.
const maxLine = 1 << 20

// WriteHeaders writes a topology file without port lines.
func (t *Text) WriteHeaders(w io.Writer, f *fabric.Fabric) error {
	t.start(w)
	for _, n := range f.Replay(nil).Nodes {
		t.header(n, "", "", "")
	}
	return t.finish()
}

// ListNodes reads a topology file and writes a line for each node of a type, as the
// scripts ibhosts, ibswitches and ibrouters do (rdma-core, infiniband-diags/scripts).
// They print lines with programs' messages, too.
func ListNodes(w io.Writer, r io.Reader, kind mad.NodeType) error {
	out := bufio.NewWriter(w)
	word := wordsOf(kind).line
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxLine)
	for lines.Scan() {
		line := lines.Text()
		switch {
		case strings.HasPrefix(line, word) && kind == mad.NodeTypeSwitch:
			fmt.Fprintln(out, switchLine(line))
		case strings.HasPrefix(line, word):
			fmt.Fprintln(out, nodeStart(line)+afterHash(line))
		case strings.HasPrefix(line, "ib"):
			fmt.Fprintln(out, line)
			continue
		}
		for _, word := range []string{"ibpanic:", "ibwarn:", "iberror:"} {
			if strings.Contains(line, word) {
				fmt.Fprintln(out, line)
			}
		}
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("read topology file: %w", err)
	}
	if err := out.Flush(); err != nil {
		return fmt.Errorf("write nodes: %w", err)
	}
	return nil
}

// nodeStart returns type, GUID and port count from a node's line.
func nodeStart(line string) string {
	fields := append(strings.Fields(line), "", "", "")
	guid := fields[2][min(3, len(fields[2])):]
	return fields[0] + "\t: 0x" + guid[:min(16, len(guid))] + " ports " + fields[1] + " "
}

// afterHash returns the text after the first # and blanks, the line without a #.
func afterHash(line string) string {
	_, rest, ok := strings.Cut(line, "#")
	if !ok {
		return line
	}
	return strings.TrimLeft(rest, " \t")
}

// switchLine returns the ibswitches line for a switch's line.
func switchLine(line string) string {
	desc := afterHash(line)
	i := strings.Index(desc, "port 0")
	if i < 0 {
		return nodeStart(line) + " " + desc
	}
	info := desc[i:]
	desc = desc[:max(i-1, 0)]
	return nodeStart(line) + desc + " " + info
}
