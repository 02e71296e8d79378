package mesh

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/internal/textfile"
	"github.com/ibkit/ibkit/internal/tool/route"
	"github.com/ibkit/ibkit/mad"
)

// A PathSource is where paths come from.
type PathSource string

// The path sources. Without tables, and with adaptive routing, only the links that all
// shortest paths share are known.
const (
	FromTables   PathSource = "tables"
	FromShortest PathSource = "shortest"
	FromNames    PathSource = "none" // the network is not known: only hosts
)

// A Wiring is a fabric prepared for the judgement: the end ports by name, and the paths
// between them. It is not safe for concurrent use.
type Wiring struct {
	Paths    PathSource
	Adaptive bool // adaptive routing is why paths are not from tables
	grouped  bool // leaf switches are known, although the network is not

	routing  *route.Routing
	channels *route.Channels
	shortest *route.ShortestPaths
	names    *fabric.NameMap
	ends     []end // by the number in channels
	hosts    []host
	rails    []string
	byName   map[string][]int32 // end ports
	unique   map[ib.GUID]string // of UniqueNames, once used
}

// An end is an adapter or router port that is linked to a switch.
type end struct {
	port  *route.Port
	label string // node name
	host  int32
	rail  int32   // in Wiring.rails
	gbps  float64 // nominal
}

// dataRate returns the nominal rate of a port's link. No figure exceeds it, unlike the signalling
// rate, which includes error correction.
func dataRate(p *route.Port) float64 {
	return float64(p.Width.Lanes()) * p.Speed.NominalGbps()
}

// A host has one or more end ports.
type host struct {
	name string
	ends []int32
}

// NewWiring prepares a routing. names may be nil.
func NewWiring(r *route.Routing, names *fabric.NameMap) *Wiring {
	w := &Wiring{Paths: FromTables, routing: r, names: names, channels: route.NewChannels(r), byName: map[string][]int32{}}
	w.shortest = route.NewShortestPaths(w.channels)
	for _, n := range r.Nodes {
		w.Adaptive = w.Adaptive || n.Adaptive != nil
	}
	if w.Adaptive || !w.channels.HasTables() {
		w.Paths = FromShortest
	}
	byHost, rails := map[string]int32{}, map[string]int32{}
	for i := range w.channels.Ends() {
		p := w.channels.End(i)
		e := end{port: p, label: names.LabelOf(p.Node.GUID, p.Node.Desc), gbps: dataRate(p)}
		name := fabric.HostNameOf(e.label)
		if name.Host == "" || name.Device == "" {
			name.Host = e.label
		}
		rail := name.Device
		if p.Number > 1 {
			rail = fmt.Sprintf("%s/%d", rail, p.Number)
		}
		e.host = w.hostOf(byHost, name.Host, int32(i))
		e.rail = number(rails, &w.rails, rail)
		w.ends = append(w.ends, e)
		w.addNames(int32(i), name)
	}
	return w
}

// number returns a text's number, and appends new texts to a list.
func number(known map[string]int32, list *[]string, text string) int32 {
	i, ok := known[text]
	if !ok {
		i = int32(len(*list))
		known[text] = i
		*list = append(*list, text)
	}
	return i
}

// hostOf adds an end port to its host.
func (w *Wiring) hostOf(byHost map[string]int32, name string, end int32) int32 {
	i, ok := byHost[name]
	if !ok {
		i = int32(len(w.hosts))
		byHost[name] = i
		w.hosts = append(w.hosts, host{name: name})
	}
	w.hosts[i].ends = append(w.hosts[i].ends, end)
	return i
}

// addNames enters the names of an end port: node name, port name, host, "HOST/DEVICE" and
// GUIDs.
func (w *Wiring) addNames(i int32, name fabric.HostName) {
	p, label := w.ends[i].port, w.ends[i].label
	keys := []string{label, fabric.PortName(label, int(p.Number)), p.Node.GUID.String(), name.Host}
	if p.GUID != 0 && p.GUID != p.Node.GUID {
		keys = append(keys, p.GUID.String())
	}
	if name.Device != "" {
		keys = append(keys, name.Host+"/"+name.Device, name.Host+":"+name.Device)
	}
	seen := map[string]bool{}
	for _, key := range keys {
		if !seen[key] {
			seen[key] = true
			w.byName[key] = append(w.byName[key], i)
		}
	}
}

// resolve returns the end ports with a name. Domains do not count.
func (w *Wiring) resolve(name string) []int32 {
	if found := w.byName[name]; found != nil {
		return found
	}
	short, _, _ := strings.Cut(name, ".")
	return w.byName[short]
}

// expected reports whether results should have an end port: routers and aggregation nodes
// take no part.
func (e *end) expected() bool {
	return e.port.Node.Type == mad.NodeTypeCA && !strings.Contains(e.port.Node.Desc.String(), "Aggregation Node")
}

// selected reports whether a pattern matches a host's names; no patterns match all.
func (w *Wiring) selected(e *end, patterns []string) bool {
	return len(patterns) == 0 || slices.ContainsFunc(patterns, func(pattern string) bool {
		return slices.ContainsFunc([]string{e.label, w.hosts[e.host].name, e.port.Node.GUID.String()}, func(name string) bool {
			matches, _ := path.Match(pattern, name)
			return matches
		})
	})
}

// CheckNodes returns an error for a pattern that matches no host.
func (w *Wiring) CheckNodes(patterns []string) error {
	for _, pattern := range patterns {
		if !slices.ContainsFunc(w.ends, func(e end) bool { return e.expected() && w.selected(&e, []string{pattern}) }) {
			if !strings.ContainsAny(pattern, `*?[`) && !w.hasNode(pattern) {
				return w.notFound(pattern)
			}
			return fmt.Errorf("find host %s: no host has a name or GUID like it", textfile.Quote(pattern))
		}
	}
	return nil
}

// maxNamed is how many names of a side an error has.
const maxNamed = 3

// CheckResults returns an error if the fabric has none of the hosts in results: they are from
// another fabric, and a judgement would blame hosts without a known path.
func (w *Wiring) CheckResults(r *Results) error {
	if len(w.ends) == 0 || slices.ContainsFunc(r.Names, func(name string) bool { return w.resolve(name) != nil }) {
		return nil
	}
	hosts := make([]string, len(w.hosts))
	for i := range w.hosts {
		hosts[i] = w.hosts[i].name
	}
	return fmt.Errorf("find the hosts of the results in the fabric: got %s, want hosts such as %s", someNames(r.Names), someNames(hosts))
}

// someNames lists the first names.
func someNames(names []string) string {
	more := ""
	if n := len(names) - maxNamed; n > 0 {
		names, more = names[:maxNamed], fmt.Sprintf(" and %d more", n)
	}
	return strings.Join(names, ", ") + more
}

// portName returns a port's name, such as "leaf1[3]".
func (w *Wiring) portName(p *route.Port) string {
	return fabric.PortName(w.nodeName(p.Node), int(p.Number))
}

// UniqueNames returns the names that select a single node in all commands.
func (w *Wiring) UniqueNames() map[ib.GUID]string {
	if w.unique == nil {
		w.unique = fabric.UniqueNames(w.routing.Nodes, func(n *route.Node) (ib.GUID, string) { return n.GUID, w.names.NameOf(n.GUID, n.Desc) })
	}
	return w.unique
}

// address returns an end port's address for other commands: the name of its node and the
// number, or its GUID if other nodes have the name.
func (w *Wiring) address(end int32) string {
	p := w.ends[end].port
	name := cmp.Or(w.UniqueNames()[p.Node.GUID], p.Node.GUID.String())
	if len(p.Node.Ports) <= 2 {
		return name
	}
	return fmt.Sprintf("%s/%d", name, p.Number)
}

func (w *Wiring) nodeName(n *route.Node) string { return w.names.LabelOf(n.GUID, n.Desc) }

// isFabricLink reports whether a channel leads to a switch.
func (w *Wiring) isFabricLink(channel int) bool { return w.channels.Ahead(channel) >= 0 }
