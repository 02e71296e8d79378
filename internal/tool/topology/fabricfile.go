package topology

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/fabric/ibdiagnet"
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/internal/interrupt"
	"github.com/ibkit/ibkit/internal/lazyregexp"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/sim"
)

// A fileKind is a kind of file with the nodes and links of a fabric.
type fileKind uint8

const (
	otherFile       fileKind = iota
	cacheFile                // of libibnetdisc
	jsonFile                 // any document in JSON
	listFile                 // a list of links of opensm or ibdiagnet
	netdiscoverFile          // the output of ibnetdiscover
	databaseFile             // ibdiagnet2.db_csv
)

// A lineForm is the form of a line that identifies a kind of file. The prefixes, one of
// which begins each such line, make the search in a large file fast.
type lineForm struct {
	prefixes []string
	form     *lazyregexp.Regexp
}

var (
	netdiscoverLine = lineForm{[]string{"Switch", "Ca", "Rt"}, lazyregexp.New(`^(?:Switch|Ca|Rt)\s+\d+\s+"[SHR]-[0-9a-f]+"`)}
	listLine        = lineForm{[]string{"{"}, lazyregexp.New(`^\{\s+\S+\s+Ports:`)}
	databaseLine    = lineForm{[]string{"START_"}, lazyregexp.New(`^START_(?:NODES|LINKS)\r?$`)}
	cacheMagic      = []byte{0x2b, 0x83, 0xe7, 0x8f}
)

// in reports whether a line of a text has the form.
func (l lineForm) in(text []byte) bool {
	for _, prefix := range l.prefixes {
		for rest := text; ; {
			i := bytes.Index(rest, []byte(prefix))
			if i < 0 {
				break
			}
			line, after, _ := bytes.Cut(rest[i:], []byte("\n"))
			if (i == 0 || rest[i-1] == '\n') && l.form.Match(line) {
				return true
			}
			rest = after
		}
	}
	return false
}

// fileKindOf returns the kind of a file by its content.
func fileKindOf(data []byte) fileKind {
	text := bytes.TrimLeft(data, " \t\r\n")
	switch {
	case bytes.HasPrefix(data, cacheMagic):
		return cacheFile
	case bytes.IndexByte(data, 0) >= 0:
		return otherFile
	case listLine.in(data):
		return listFile
	case bytes.HasPrefix(text, []byte("{")):
		return jsonFile
	case netdiscoverLine.in(data):
		return netdiscoverFile
	case databaseLine.in(data):
		return databaseFile
	}
	return otherFile
}

// byteOrderMark begins text files of some systems.
var byteOrderMark = []byte("\xef\xbb\xbf")

// maxFabricFile is the maximum size of a file with a fabric: the JSON of 10,400 adapters
// has 150 MB.
const maxFabricFile = 1 << 30

// ReadFabric reads a fabric from a file of one of these formats, which it recognizes by
// the content: a cache of libibnetdisc, the JSON of ibkit linkinfo with attributes,
// ibdiagnet2.db_csv, a list of links of opensm and ibdiagnet, and the output of
// ibnetdiscover. The fabrics of the last two are [fabric.Fabric.Sparse]. Only a
// db_csv file has counters.
func ReadFabric(path string) (*ibdiagnet.Database, error) {
	data, err := readFile(path, maxFabricFile)
	if err != nil {
		return nil, fmt.Errorf("read fabric: %w", err)
	}
	return ParseFabric(data, path)
}

// readFile reads a file of a limited size, which may be a device.
func readFile(path string, most int64) ([]byte, error) {
	file, err := interrupt.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, most+1))
	if err == nil && int64(len(data)) > most {
		err = fmt.Errorf("%s has more than %d bytes", path, most)
	}
	return data, err
}

// ParseFabric is [ReadFabric] for the content of a file. Errors contain name.
func ParseFabric(data []byte, name string) (d *ibdiagnet.Database, err error) {
	data = bytes.TrimPrefix(data, byteOrderMark)
	d = &ibdiagnet.Database{}
	switch fileKindOf(data) {
	case cacheFile:
		d.Fabric, err = fabric.ParseCache(data)
		if e, ok := errors.AsType[*fabric.CacheError](err); ok {
			e.File = name
		}
	case jsonFile:
		d.Fabric, err = parseLinks(data)
		if err != nil {
			err = fmt.Errorf("read fabric: %w", atFile(name, err))
		}
	case listFile:
		d.Fabric, err = ibdiagnet.ReadList(bytes.NewReader(data), name)
	case netdiscoverFile:
		d.Fabric, err = parseNetdiscover(data, name)
	case databaseFile:
		d, err = ibdiagnet.ReadDatabase(bytes.NewReader(data), name)
	default:
		err = fmt.Errorf("read fabric %s: want a cache, the output of ibnetdiscover or of ibkit linkinfo --json --attributes, or a db_csv or lst file of ibdiagnet", name)
	}
	if err != nil {
		return nil, err
	}
	return d, nil
}

// parseNetdiscover reads the output of ibnetdiscover. States of links are unknown.
func parseNetdiscover(data []byte, name string) (*fabric.Fabric, error) {
	from, err := sim.ParseTopology(bytes.NewReader(data), name)
	if err != nil {
		return nil, err
	}
	nodes := make([]*fabric.Node, len(from.Nodes))
	known := make(map[*sim.Node]*fabric.Node, len(nodes))
	for i, n := range from.Nodes {
		nodes[i] = fabric.NewNode(n.Info, n.Desc)
		known[n] = nodes[i]
	}
	for _, n := range from.Nodes {
		to := known[n]
		if n.IsSwitch() {
			p0 := to.At(0)
			p0.GUID = n.Ports[0].GUID
			p0.Info = &mad.PortInfo{LID: n.Ports[0].Info.LID, LMC: n.Ports[0].Info.LMC}
			to.Switch = &mad.SwitchInfo{EnhancedPort0: n.Switch.EnhancedPort0}
		}
		for k := range n.Ports {
			p := &n.Ports[k]
			if p.Peer == nil {
				continue
			}
			q := to.At(p.Number)
			q.Info = &mad.PortInfo{LinkWidthActive: p.Info.LinkWidthActive, PhysState: ib.PhysLinkUp}
			caps := &p.Info
			if n.IsSwitch() {
				q.GUID, caps = n.Ports[0].GUID, &n.Ports[0].Info
			} else {
				q.GUID, q.Info.LID, q.Info.LMC = p.GUID, p.Info.LID, p.Info.LMC
				to.Info.LocalPort, to.Info.PortGUID = p.Number, p.GUID
			}
			q.Ext = q.Info.SetActiveSpeed(q.Caps(), p.Info.ActiveSpeed(caps, p.Ext))
			q.Peer = known[p.Peer.Node].At(p.Peer.Number)
		}
	}
	f := fabric.Assemble(nodes, startOf(data, nodes))
	f.Sparse = true
	return f, nil
}

// initiated is the comment with the node from which ibnetdiscover scanned.
var initiated = lazyregexp.New(`(?m)^# Initiated from node ([0-9a-f]{1,16}) port ([0-9a-f]{1,16})\s*$`)

// startOf returns the port from which the scan began, nil if it is unknown.
func startOf(data []byte, nodes []*fabric.Node) *fabric.Port {
	m := initiated.FindSubmatch(data)
	if m == nil {
		return nil
	}
	node, _ := ib.ParseGUID("0x" + string(m[1]))
	guid, _ := ib.ParseGUID("0x" + string(m[2]))
	for _, n := range nodes {
		for _, p := range n.Ports {
			if n.GUID == node && p != nil && p.GUID == guid {
				return p
			}
		}
	}
	return nil
}

// A linksReport is the members of linkinfo's JSON that make up a fabric.
type linksReport struct {
	Schema   string     `json:"schema"`
	Partial  bool       `json:"partial"`
	Aborted  *string    `json:"aborted"`
	Start    ib.GUID    `json:"start"`
	Failures []struct{} `json:"failures"`
	Nodes    []struct {
		Description    string          `json:"description"`
		DescriptionHex *string         `json:"description_hex"`
		Info           *mad.NodeInfo   `json:"info"`
		SwitchInfo     *mad.SwitchInfo `json:"switch_info"`
		Port0          *mad.PortInfo   `json:"port0"`
		Ports          []struct {
			Number uint8                `json:"number"`
			GUID   ib.GUID              `json:"guid"`
			Info   *mad.PortInfo        `json:"info"`
			Ext    *mad.MlnxExtPortInfo `json:"extended_port_info"`
			Peer   *struct {
				Node ib.GUID `json:"node_guid"`
				Port uint8   `json:"port"`
			} `json:"peer"`
		} `json:"ports"`
	} `json:"nodes"`
}

// parseLinks reads the output of ibkit linkinfo --json --attributes.
func parseLinks(data []byte) (*fabric.Fabric, error) {
	var r linksReport
	if err := decodeJSON(data, &r); err != nil {
		return nil, err
	}
	if !strings.HasPrefix(r.Schema, linksSchema) {
		return nil, fmt.Errorf("got schema %q, want %s2", r.Schema, linksSchema)
	}
	if len(r.Nodes) == 0 {
		return nil, errors.New("got no nodes")
	}
	nodes := map[ib.GUID]*fabric.Node{}
	order := make([]*fabric.Node, len(r.Nodes))
	for i := range r.Nodes {
		from := &r.Nodes[i]
		if from.Info == nil {
			return nil, fmt.Errorf("node %d has no attributes, which linkinfo prints with --attributes", i)
		}
		desc := from.Description
		if from.DescriptionHex != nil {
			raw, err := hex.DecodeString(*from.DescriptionHex)
			if err != nil {
				return nil, fmt.Errorf("node %d: description_hex: %w", i, err)
			}
			desc = string(raw)
		}
		n := fabric.NewNode(*from.Info, mad.NewNodeDescription(desc))
		if nodes[n.GUID] != nil {
			return nil, fmt.Errorf("node %d: GUID %v is that of another node", i, n.GUID)
		}
		nodes[n.GUID], order[i], n.Switch = n, n, from.SwitchInfo
		if n.Info.NodeType == mad.NodeTypeSwitch {
			n.At(0).Info = from.Port0
		}
		for k := range from.Ports {
			p := n.At(from.Ports[k].Number)
			p.GUID, p.Info, p.Ext = from.Ports[k].GUID, from.Ports[k].Info, from.Ports[k].Ext
		}
	}
	for i := range r.Nodes {
		for _, port := range r.Nodes[i].Ports {
			if port.Peer == nil {
				continue
			}
			peer := nodes[port.Peer.Node]
			if peer == nil {
				return nil, fmt.Errorf("node %d: peer %v is not in the file, which may be filtered", i, port.Peer.Node)
			}
			order[i].At(port.Number).Peer = peer.At(port.Peer.Port)
		}
	}
	if err := checkLinks(order); err != nil {
		return nil, err
	}
	f := fabric.Assemble(order, localPort(nodes[r.Start]))
	f.Unanswered = len(r.Failures)
	if r.Partial && (r.Aborted != nil || f.Unanswered == 0) {
		f.Aborted = fabric.ErrStoredAborted
	}
	return f, nil
}

// localPort returns the port of NodeInfo, nil without one.
func localPort(n *fabric.Node) *fabric.Port {
	if n == nil {
		return nil
	}
	return n.At(n.Info.LocalPort)
}

// checkLinks checks that each link has two ends.
func checkLinks(nodes []*fabric.Node) error {
	for _, n := range nodes {
		for _, p := range n.Ports {
			if p != nil && p.Peer != nil && (p.Peer.Peer != p || p.Peer == p) {
				return fmt.Errorf("port %d of %v: the peer has another peer", p.Number, n.GUID)
			}
		}
	}
	return nil
}
