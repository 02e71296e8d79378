package route

import (
	"slices"

	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/internal/optional"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/report"
)

// TablesSchema identifies the JSON form of a [ReportTables]; schema/routes.json describes
// it. A change that breaks readers changes the number.
const TablesSchema = "ibkit/routes/2"

// A ReportTables is the document that "ibkit routes --json" prints. One of Switches, Use
// and Balance is not null.
type ReportTables struct {
	report.Head
	Switches     []ReportSwitch  `json:"switches"`
	Use          []ReportUse     `json:"use"` // for both link directions
	Balance      []ReportBalance `json:"balance"`
	Destinations []ReportOwner   `json:"destinations"` // ports with an entry's LID
}

// ReportSwitch are a switch's tables. Unicast or Multicast is null.
type ReportSwitch struct {
	NodeGUID  ib.GUID       `json:"node_guid"`
	Name      string        `json:"name"`
	LID       *ib.LID       `json:"lid"`     // null: none, or unknown
	Size      *uint16       `json:"size"`    // table entries; null: unknown
	Top       *ib.LID       `json:"top"`     // highest LID in use; null: unknown
	Missing   []LIDRange    `json:"missing"` // that could not be read
	Unicast   []ReportEntry `json:"unicast"`
	Multicast []ReportGroup `json:"multicast"`
}

// A LIDRange is a range of LIDs.
type LIDRange struct {
	First ib.LID `json:"first"`
	Last  ib.LID `json:"last"`
}

// A ReportEntry is a LID's output port.
type ReportEntry struct {
	LID  ib.LID      `json:"lid"`
	Port *uint8      `json:"port"` // null: the LID has no route
	Peer *ReportPort `json:"peer"` // null: the port has no link, or its peer is unknown
}

// A ReportGroup is a multicast LID's output ports.
type ReportGroup struct {
	LID   ib.LID   `json:"lid"`
	Ports []uint16 `json:"ports"`
}

// A ReportOwner is a port with its LIDs.
type ReportOwner struct {
	ReportEnd
	LMC uint8 `json:"lmc"` // the port has 1<<LMC LIDs
}

// ReportUse is the LIDs that a link end sends through the link.
type ReportUse struct {
	Output ReportPort  `json:"output"`
	Input  *ReportPort `json:"input"` // null: the port has no link
	LIDs   []ib.LID    `json:"lids"`
}

// A ReportBalance is a [PortGroup].
type ReportBalance struct {
	NodeGUID ib.GUID      `json:"node_guid"`
	Name     string       `json:"name"`
	Level    int          `json:"level"` // links to the nearest switch with end ports
	To       *report.Node `json:"to"`    // for parallel links; null: the next level
	Ports    []ReportLoad `json:"ports"`
	Least    int          `json:"least_lids"`
	Mean     float64      `json:"mean_lids"`
	Most     int          `json:"most_lids"`
	Uneven   bool         `json:"uneven"`
}

// A ReportLoad is a [LinkLoad].
type ReportLoad struct {
	Port  uint8  `json:"port"`
	Paths uint64 `json:"paths"`
	LIDs  int    `json:"lids"`
}

// A TableFilter selects table entries. The zero value selects entries with a route.
type TableFilter struct {
	LIDs  []LIDRange // nil: all
	Ports []uint8    // output ports; nil: all
	All   bool       // LIDs without a route, too
}

// has reports whether the filter selects a LID.
func (f *TableFilter) has(lid ib.LID) bool {
	return f.LIDs == nil || slices.ContainsFunc(f.LIDs, func(r LIDRange) bool { return lid >= r.First && lid <= r.Last })
}

// An Entry is an entry in a linear forwarding table.
type Entry struct {
	LID  ib.LID
	Port uint8 // NoRoute: there is none
}

// Entries returns the selected linear table entries up to the highest LID in use.
// Entries that could not be read are omitted.
func (t *Tables) Entries(f *TableFilter) []Entry {
	var entries []Entry
	if t == nil {
		return nil
	}
	for lid := 1; lid <= int(min(t.Top, ib.MaxUnicastLID)); lid++ {
		e := Entry{ib.LID(lid), t.Lookup(ib.LID(lid))}
		switch {
		case !f.has(e.LID) || f.Ports != nil && !slices.Contains(f.Ports, e.Port):
		case e.Port == NoRoute && (!f.All || t.IsMissing(e.LID)):
		default:
			entries = append(entries, e)
		}
	}
	return entries
}

// A Group is an entry in a multicast forwarding table.
type Group struct {
	LID   ib.LID
	Ports mad.PortMask
}

// Groups returns the selected multicast table entries with a port, in ascending order.
func (t *Tables) Groups(f *TableFilter) []Group {
	var groups []Group
	if t == nil {
		return nil
	}
	for lid, ports := range t.MFT {
		switch {
		case !f.has(lid) || ports == (mad.PortMask{}):
		case f.Ports != nil && !slices.ContainsFunc(f.Ports, ports.Has):
		default:
			groups = append(groups, Group{lid, ports})
		}
	}
	slices.SortFunc(groups, func(a, b Group) int { return int(a.LID) - int(b.LID) })
	return groups
}

// Ranges returns the LIDs in the blocks that could not be read, in ascending order.
func (t *Tables) Ranges() []LIDRange {
	ranges := []LIDRange{}
	if t == nil {
		return ranges
	}
	for _, block := range slices.Sorted(slices.Values(t.Missing)) {
		first := ib.LID(block) * lftBlock
		if n := len(ranges); n > 0 && ranges[n-1].Last+1 == first {
			ranges[n-1].Last += lftBlock
			continue
		}
		ranges = append(ranges, LIDRange{first, first + lftBlock - 1})
	}
	return ranges
}

// NewReportSwitch returns the selected entries of a switch's tables: multicast or unicast
// entries.
func NewReportSwitch(n *Node, f *TableFilter, multicast bool, names *fabric.NameMap) ReportSwitch {
	w := namer{names}
	r := ReportSwitch{NodeGUID: n.GUID, Name: w.name(n), LID: optional.NonZero(n.Ports[0].LID), Missing: n.Tables.Ranges()}
	if multicast {
		r.Multicast = []ReportGroup{}
		for _, g := range n.Tables.Groups(f) {
			r.Multicast = append(r.Multicast, ReportGroup{g.LID, g.Numbers()})
		}
	} else {
		r.Unicast = w.entries(n, n.Tables.Entries(f))
	}
	if t := n.Tables; t != nil {
		size, top := t.Cap, t.Top
		if multicast {
			size, top = t.MulticastCap, t.MulticastTop
		}
		if size != 0 {
			r.Size = &size
		}
		if top != 0 {
			r.Top = &top
		}
	}
	return r
}

// entries returns the reports for a switch's entries. Entries with the same port share
// its peer.
func (w namer) entries(n *Node, entries []Entry) []ReportEntry {
	peers := make([]*ReportPort, len(n.Ports))
	for i := range n.Ports {
		if p := n.Ports[i].Peer; p != nil {
			peers[i] = new(w.report(p))
		}
	}
	reports := make([]ReportEntry, len(entries))
	for i := range entries {
		e := &entries[i]
		reports[i].LID = e.LID
		if e.Port != NoRoute {
			reports[i].Port = &e.Port
		}
		if int(e.Port) < len(peers) {
			reports[i].Peer = peers[e.Port]
		}
	}
	return reports
}

// Numbers returns the ports' numbers in ascending order.
func (g *Group) Numbers() []uint16 { return g.Ports.Ports() }

// A Use is the LIDs that a link end sends through the link.
type Use struct {
	Output *Port
	LIDs   []ib.LID
}

// Uses returns a port's use and, if it is linked to a switch, its peer's use.
func Uses(p *Port) []Use {
	ends := []*Port{p}
	if p.Peer != nil {
		ends = append(ends, p.Peer)
	}
	var uses []Use
	for _, end := range ends {
		if !end.Node.IsSwitch() {
			continue
		}
		u := Use{Output: end, LIDs: []ib.LID{}}
		for _, e := range end.Node.Tables.Entries(&TableFilter{Ports: []uint8{end.Number}}) {
			u.LIDs = append(u.LIDs, e.LID)
		}
		uses = append(uses, u)
	}
	return uses
}

// NewReportUses returns the report about a link's use.
func NewReportUses(uses []Use, names *fabric.NameMap) []ReportUse {
	w := namer{names}
	reports := []ReportUse{}
	for _, u := range uses {
		r := ReportUse{Output: w.report(u.Output), LIDs: u.LIDs}
		if u.Output.Peer != nil {
			r.Input = new(w.report(u.Output.Peer))
		}
		reports = append(reports, r)
	}
	return reports
}

// NewReportBalance returns the report about a link group.
func NewReportBalance(b *PortGroup, names *fabric.NameMap) ReportBalance {
	w := namer{names}
	r := ReportBalance{
		NodeGUID: b.Switch.GUID, Name: w.name(b.Switch), Level: b.Level, Ports: []ReportLoad{},
		Least: b.Least, Mean: b.Mean, Most: b.Most, Uneven: b.Uneven(),
	}
	if b.To != nil {
		r.To = &report.Node{NodeGUID: b.To.GUID, Name: w.name(b.To)}
	}
	for _, l := range b.Ports {
		r.Ports = append(r.Ports, ReportLoad{l.Port.Number, l.Paths, l.LIDs})
	}
	return r
}

// NewReportOwners returns the ports with LIDs for which wanted reports true.
func NewReportOwners(r *Routing, wanted func(ib.LID) bool, names *fabric.NameMap) []ReportOwner {
	w := namer{names}
	owners := []ReportOwner{}
	for _, n := range r.Nodes {
		for i := range n.Ports {
			p := &n.Ports[i]
			for k := range 1 << p.LMC {
				if p.LID.IsUnicast() && wanted(p.LID+ib.LID(k)) {
					owners = append(owners, ReportOwner{w.end(p), p.LMC})
					break
				}
			}
		}
	}
	return owners
}
