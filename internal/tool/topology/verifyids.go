package topology

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"github.com/ibkit/ibkit/internal/lazyregexp"
)

// The patterns in the script ibidsverify (rdma-core,
// infiniband-diags/scripts/ibidsverify.pl).
var (
	endGUIDLine    = lazyregexp.New(`^(?:caguid|rtguid)=(.*)`)
	switchGUIDLine = lazyregexp.New(`^switchguid=(.*)`)
	switchPortGUID = lazyregexp.New(`^switchguid=(.*)\((.*)\)`)
	switchLineLID  = lazyregexp.New(`^Switch.*"S-(.*)"\s+# (.*) port.* lid (\d+) .*`)
	endPortLIDs    = []*lazyregexp.Regexp{
		lazyregexp.New(`"S-.*# lid (\d+) .*`),
		lazyregexp.New(`"H-.*# lid (\d+) .*`),
		lazyregexp.New(`"R-.*# lid (\d+) .*`),
	}
	endPortGUID = lazyregexp.New(`^\[\d+\]\((.*)\)`)
)

// VerifyIDs checks the LIDs and GUIDs in a topology file, and writes ibidsverify's
// messages. It reports whether all are valid and unique.
func VerifyIDs(w io.Writer, r io.Reader) (valid bool, err error) {
	v := idVerifier{
		out:  bufio.NewWriter(w),
		lids: map[string]string{}, nodes: map[string]string{}, ports: map[string]string{},
		valid: true,
	}
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxLine)
	for lines.Scan() {
		v.line(lines.Text())
	}
	if err := lines.Err(); err != nil {
		return false, fmt.Errorf("read topology file: %w", err)
	}
	if err := v.out.Flush(); err != nil {
		return false, fmt.Errorf("write result: %w", err)
	}
	return v.valid, nil
}

// An idVerifier is a verification's state. Its maps are from LID to node GUID, from
// node GUID to LID, and from port GUID to LID.
type idVerifier struct {
	out                *bufio.Writer
	lids, nodes, ports map[string]string
	valid              bool

	kind, node, port, lid string
	first                 bool // no port on the node has been read
}

func (v *idVerifier) line(text string) {
	if m := endGUIDLine.FindStringSubmatch(text); m != nil {
		v.node, v.kind = m[1], ""
	}
	if m := switchGUIDLine.FindStringSubmatch(text); m != nil {
		v.node, v.port, v.kind = m[1], "", ""
	}
	if m := switchPortGUID.FindStringSubmatch(text); m != nil {
		v.node, v.port = m[1], "0x"+m[2]
	}
	if m := switchLineLID.FindStringSubmatch(text); m != nil {
		v.kind, v.first, v.lid = "switch", true, m[3]
		v.addLID()
		v.addNode()
		if v.port != "" {
			v.addPort()
		}
	}
	switch {
	case strings.HasPrefix(text, "Ca"):
		v.kind, v.first = "ca", true
	case strings.HasPrefix(text, "Rt"):
		v.kind, v.first = "router", true
	}
	if v.kind != "ca" && v.kind != "router" {
		return
	}
	for _, pattern := range endPortLIDs {
		if m := pattern.FindStringSubmatch(text); m != nil {
			v.lid = m[1]
			v.addLID()
			if v.first {
				v.addNode()
				v.first = false
			}
		}
	}
	if m := endPortGUID.FindStringSubmatch(text); m != nil {
		v.port = "0x" + m[1]
		v.addPort()
	}
}

func (v *idVerifier) report(format string, args ...any) {
	fmt.Fprintf(v.out, format+"\n", args...)
	v.valid = false
}

func (v *idVerifier) addLID() {
	switch node, ok := v.lids[v.lid]; {
	case v.lid == "0":
		v.report("LID 0 found for %s NodeGUID %s", v.kind, v.node)
	case ok:
		v.report("LID %s already defined for NodeGUID %s", v.lid, node)
	default:
		v.lids[v.lid] = v.node
	}
}

func (v *idVerifier) addNode() {
	switch lid, ok := v.nodes[v.node]; {
	case v.node == "0":
		v.report("%s GUID 0x0 found with LID %s", v.kind, v.lid)
	case ok:
		v.report("NodeGUID %s already defined for LID %s", v.node, lid)
	default:
		v.nodes[v.node] = v.lid
	}
}

func (v *idVerifier) addPort() {
	switch lid, ok := v.ports[v.port]; {
	case ok:
		v.report("PortGUID %s already defined for LID %s", v.port, lid)
	default:
		v.ports[v.port] = v.lid
		if _, isNode := v.nodes[v.port]; isNode && v.port != v.node {
			v.report("PortGUID %s is an invalid duplicate of a NodeGUID", v.port)
		}
	}
}
