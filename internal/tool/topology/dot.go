package topology

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/mad"
)

// WriteDOT writes the fabric as a graph for Graphviz. The node IDs are their numbers,
// because GUIDs and names may occur several times.
func WriteDOT(w io.Writer, f *fabric.Fabric, names *fabric.NameMap) error {
	out := bufio.NewWriter(w)
	fmt.Fprintln(out, "graph fabric {\n  node [fontname=\"sans-serif\"];")
	ids := make(map[*fabric.Node]string, len(f.Nodes))
	for i, n := range f.Nodes {
		ids[n] = fmt.Sprintf("n%d", i)
		shape := "ellipse"
		switch n.Info.NodeType {
		case mad.NodeTypeSwitch:
			shape = "box"
		case mad.NodeTypeRouter:
			shape = "diamond"
		}
		fmt.Fprintf(out, "  %s [label=%s, shape=%s, tooltip=%s];\n", ids[n], dotString(names.Name(n)), shape, dotString(n.GUID.String()))
	}
	for _, c := range Cables(f) {
		rate := ""
		if w, s := c.Rate(); w != 0 && s != 0 {
			rate = w.String() + " " + s.String()
		}
		fmt.Fprintf(out, "  %s -- %s [taillabel=\"%d\", headlabel=\"%d\", tooltip=%s];\n",
			ids[c.A.Node], ids[c.B.Node], c.A.Number, c.B.Number, dotString(rate))
	}
	fmt.Fprintln(out, "}")
	if err := out.Flush(); err != nil {
		return fmt.Errorf("write graph: %w", err)
	}
	return nil
}

// dotString returns a string in DOT syntax. The backslash begins an escape sequence in
// labels, such as \N.
func dotString(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", " ", "\r", " ").Replace(s) + `"`
}
