package topology

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/internal/lazyregexp"
)

// A planIndex finds a fabric's nodes by the names in a plan.
type planIndex struct {
	guids map[ib.GUID][]*fabric.Node
	names map[string][]*fabric.Node // names, descriptions and switch names, folded
	hosts map[string][]*fabric.Node // channel adapters by host, folded

	hasLabels map[*fabric.Node]bool // nodes with port labels
	sparse    bool                  // the fabric has no ports without a link
}

// fold returns a name for a comparison without case and with single blanks.
func fold(s string) string { return strings.ToLower(strings.Join(strings.Fields(s), " ")) }

func newPlanIndex(f *fabric.Fabric, names *fabric.NameMap) *planIndex {
	x := &planIndex{map[ib.GUID][]*fabric.Node{}, map[string][]*fabric.Node{}, map[string][]*fabric.Node{}, map[*fabric.Node]bool{}, f.Sparse}
	for _, n := range f.Nodes {
		x.addGUID(n.GUID, n)
		for _, p := range n.Ports {
			if p != nil && p.GUID != n.GUID {
				x.addGUID(p.GUID, n)
			}
			if p != nil && p.Label != "" {
				x.hasLabels[n] = true
			}
		}
		name, desc := names.Name(n), n.Desc.Clean()
		keys := []string{fold(name), fold(desc), fold(managedName(desc))}
		slices.Sort(keys)
		for _, key := range slices.Compact(keys) {
			if key != "" {
				x.names[key] = append(x.names[key], n)
			}
		}
		if n.IsCA() {
			hosts := []string{fold(fabric.HostNameOf(name).Host), fold(fabric.HostNameOf(desc).Host)}
			for _, h := range slices.Compact(hosts) {
				if h != "" {
					x.hosts[h] = append(x.hosts[h], n)
				}
			}
		}
	}
	return x
}

func (x *planIndex) addGUID(guid ib.GUID, n *fabric.Node) {
	if guid != 0 && !slices.Contains(x.guids[guid], n) {
		x.guids[guid] = append(x.guids[guid], n)
	}
}

// managed matches managed switch descriptions: MF0;NAME:MODEL/U1, in a director
// MF0;NAME:MODEL/L01/U1.
var managed = lazyregexp.New(`^(?:MF0|SW-IB)?;?([^;:]+):([^/]+)/((?:[LS]\d+/)?)U(\d+)$`)

// managedName returns a managed switch's name, with board and chip if it is a part of a
// director; "" for other descriptions.
func managedName(desc string) string {
	m := managed.FindStringSubmatch(desc)
	switch {
	case m == nil:
		return ""
	case m[3] == "":
		return m[1]
	}
	number := strings.TrimLeft(m[3][1:len(m[3])-1], "0")
	return m[1] + "/" + m[3][:1] + number + "/U" + m[4]
}

// blade matches director ports as in NDT files: Blade 16_Port 2/20 is port 20 of chip 2
// on line board 16.
var blade = lazyregexp.New(`(?i)^blade 0*(\d+)[ _]port 0*(\d+)/0*(\d+)$`)

// nodes returns the nodes that a plan end may stand for. A GUID that is not in the
// fabric, as after a repair, is ignored if there is a name.
func (x *planIndex) nodes(e PlanEnd) []*fabric.Node {
	if nodes := x.guids[e.GUID]; e.GUID != 0 && len(nodes) > 0 {
		return nodes
	}
	name := fold(e.Name)
	if m := blade.FindStringSubmatch(e.Port); m != nil {
		name += "/l" + m[1] + "/u" + m[2]
	}
	if guid, err := ib.ParseGUID(e.Name); err == nil && len(x.guids[guid]) > 0 {
		return x.guids[guid]
	}
	if nodes := x.names[name]; len(nodes) > 0 {
		return nodes
	}
	if nodes := x.hosts[name]; len(nodes) > 0 {
		return nodes
	}
	return x.hosts[fold(fabric.HostNameOf(e.Name).Host)]
}

// ports returns node ports that fit an end's port, or a problem.
func (x *planIndex) ports(e PlanEnd, nodes []*fabric.Node) ([]*fabric.Port, string) {
	if nodes[0].IsSwitch() {
		if len(nodes) > 1 {
			return nil, fmt.Sprintf("%s stands for %d switches", printable(e.Name), len(nodes))
		}
		return x.switchPorts(e, nodes[0])
	}
	for _, n := range nodes {
		if p := x.labelled(n, e.Port); p != nil {
			return []*fabric.Port{p}, ""
		}
	}
	adapter, number := parseAdapterPort(e.Port)
	if isPortZero(e.Port) {
		return nil, fmt.Sprintf("%s has no port %s", printable(e.Name), printable(e.Port))
	}
	if _, plain := plainNumber(e.Port); !plain {
		switch named := selectNodes(nodes, func(n *fabric.Node) bool { return isDevice(n, e.Port) }); {
		case len(named) > 0:
			nodes = named
		case slices.ContainsFunc(nodes, func(n *fabric.Node) bool { return looksLikeDevice(n, e.Port) }):
			return nil, "" // another device in the host
		}
	}
	if len(nodes) > 1 {
		nodes = ofAdapter(nodes, adapter, e.Name)
	}
	var ports []*fabric.Port
	for _, n := range nodes {
		for _, p := range n.Ports {
			if p != nil && p.Number > 0 && (number == 0 || int(p.Number) == number) {
				ports = append(ports, p)
			}
		}
	}
	if len(ports) == 0 && number > 0 {
		// A number may be the adapter's number.
		for _, n := range nodes {
			if adapterOf(n) == number-1 {
				ports = append(ports, linked(n)...)
			}
		}
	}
	if x.sparse && slices.ContainsFunc(nodes, func(n *fabric.Node) bool { return number <= int(n.Info.NumPorts) }) {
		return ports, "" // perhaps a port without a link
	}
	if len(ports) == 0 {
		return nil, fmt.Sprintf("%s has no port %s", printable(e.Name), printable(e.Port))
	}
	return ports, ""
}

// selectNodes returns the nodes with a property.
func selectNodes(nodes []*fabric.Node, has func(*fabric.Node) bool) []*fabric.Node {
	return slices.DeleteFunc(slices.Clone(nodes), func(n *fabric.Node) bool { return !has(n) })
}

// ofAdapter returns a host's nodes that are the adapter with an index, which may be a
// name's second word if it is negative; all nodes if there are none.
func ofAdapter(nodes []*fabric.Node, adapter int, name string) []*fabric.Node {
	if words := strings.Fields(name); adapter < 0 && len(words) > 1 {
		adapter, _ = parseAdapterPort(words[1])
	}
	if adapter < 0 {
		return nodes
	}
	if named := selectNodes(nodes, func(n *fabric.Node) bool { return adapterOf(n) == adapter }); len(named) > 0 {
		return named
	}
	return nodes
}

func (x *planIndex) switchPorts(e PlanEnd, n *fabric.Node) ([]*fabric.Port, string) {
	if e.Port == "" {
		return linked(n), ""
	}
	if p := x.labelled(n, e.Port); p != nil {
		return []*fabric.Port{p}, ""
	}
	number := switchPort(e.Port)
	if m := blade.FindStringSubmatch(e.Port); m != nil {
		number = switchPort(m[3])
	}
	if number < 1 || number >= len(n.Ports) {
		return nil, fmt.Sprintf("%s has no port %s", printable(e.Name), printable(e.Port))
	}
	switch {
	case n.Ports[number] == nil && x.sparse:
		return nil, "" // a port without a link
	case n.Ports[number] == nil:
		return nil, fabric.PortName(printable(e.Name), number) + " did not respond"
	}
	return []*fabric.Port{n.Ports[number]}, ""
}

// labelled returns the port with a label, nil if there is no such port or several. The
// chip can be left out on a switch with a single chip: 3/2 stands for 1/3/2.
func (x *planIndex) labelled(n *fabric.Node, label string) *fabric.Port {
	if !x.hasLabels[n] {
		return nil
	}
	label = strings.TrimSpace(label)
	var found *fabric.Port
	for _, p := range n.Ports {
		if p == nil || p.Label == "" {
			continue
		}
		_, short, _ := strings.Cut(p.Label, "/")
		if !strings.EqualFold(p.Label, label) && (short != label || !strings.Contains(short, "/")) {
			continue
		}
		if found != nil {
			return nil
		}
		found = p
	}
	return found
}

// The switch port forms: 12, P12, Port 12, IB1/12; 3/2 is the third cage's second port,
// 3/1/2 the second half of its first port.
var switchPortForm = lazyregexp.New(`^(?:u\d+/)?(?:(?:[a-z]+|ib\d+/)[ _-]*)?(\d+)(?:/(\d+))?(?:/(\d+))?$`)

// switchPort returns the port number for a label, 0 for another text. Cages have two
// ports.
func switchPort(label string) int {
	if n, ok := plainNumber(label); ok {
		return n
	}
	m := switchPortForm.FindStringSubmatch(strings.ToLower(strings.TrimSpace(label)))
	if m == nil {
		return 0
	}
	v := make([]int, len(m))
	for i := 1; i < len(m); i++ {
		v[i], _ = strconv.Atoi(m[i]) // digits, or 0
	}
	const halves = 2
	switch {
	case m[2] == "":
		return v[1]
	case v[2] < 1 || v[1] < 1:
		return 0
	case m[3] == "":
		return (v[1]-1)*halves + v[2]
	}
	return (v[1]-1)*halves*halves + (v[2]-1)*halves + v[3]
}

// plainNumber parses a label that consists of digits.
func plainNumber(label string) (int, bool) {
	if label == "" || label[0] < '0' || label[0] > '9' { // Atoi accepts signs
		return 0, false
	}
	n, err := strconv.Atoi(label)
	return n, err == nil
}

// The host port forms: 1, P1, Port 1, HCA 1, HCA-1, mlx5_0, mlx5_0/P1.
var (
	plainPort   = lazyregexp.New(`^(?:u\d+/)?(?:(?:p|port)[ _-]*)?(\d+)$`)
	adapterPort = lazyregexp.New(`^(hca|mlx\d+)[ _-]*(\d+)(?:[ /_:]+(?:p|port)?[ _-]*(\d+))?$`)
)

// portZero matches labels with the number 0, and numbers with a sign.
var portZero = lazyregexp.New(`^(?:(?:u\d+/)?(?:(?:p|port)[ _-]*)?0+|[-+]\d+)$`)

// isPortZero reports whether a label is a number that no adapter port has.
func isPortZero(label string) bool {
	return portZero.MatchString(strings.ToLower(strings.TrimSpace(label)))
}

// parseAdapterPort returns the adapter index from 0, -1 if the label does not contain
// it, and the port number, 0 if the label does not contain it.
func parseAdapterPort(label string) (adapter, port int) {
	if n, ok := plainNumber(label); ok {
		return -1, n
	}
	label = strings.ToLower(strings.TrimSpace(label))
	if m := plainPort.FindStringSubmatch(label); m != nil {
		port, _ = strconv.Atoi(m[1])
		return -1, port
	}
	m := adapterPort.FindStringSubmatch(label)
	if m == nil {
		return -1, 0
	}
	adapter, err := strconv.Atoi(m[2])
	if err != nil {
		return -1, 0
	}
	if m[1] == "hca" {
		adapter-- // HCA 1 is mlx5_0
	}
	port, _ = strconv.Atoi(m[3]) // digits, or 0
	return adapter, port
}

// isDevice reports whether a label is a channel adapter's description, with or without
// the host: node1 ibp11s0f0, ibp11s0f0.
func isDevice(n *fabric.Node, label string) bool {
	desc := fold(n.Desc.Clean())
	_, device, _ := strings.Cut(desc, " ")
	return label != "" && (fold(label) == desc || fold(label) == device)
}

var digits = lazyregexp.New(`\d+`)

// looksLikeDevice reports whether a label differs from a channel adapter's description
// in numbers only, for example ibp11s0f1 from ibp11s0f0.
func looksLikeDevice(n *fabric.Node, label string) bool {
	name, device, _ := strings.Cut(fold(n.Desc.Clean()), " ")
	label = strings.TrimPrefix(fold(label), name+" ")
	adapter, _ := parseAdapterPort(label)
	return device != "" && adapter < 0 && digits.ReplaceAllString(label, "#") == digits.ReplaceAllString(device, "#")
}

// adapterOf returns a channel adapter's index in its host, from its description's
// second word; -1 if it is unknown.
func adapterOf(n *fabric.Node) int {
	fields := strings.Fields(n.Desc.Clean())
	if len(fields) < 2 {
		return -1
	}
	adapter, _ := parseAdapterPort(fields[1])
	return adapter
}
