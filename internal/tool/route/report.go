package route

import (
	"maps"
	"slices"

	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/report"
)

// ReportSchema identifies the JSON form of a [Report]; schema/check-routes.json
// describes it. A change that breaks readers changes the number.
const ReportSchema = "ibkit/check-routes/2"

// A Report is the document that "ibkit check routes --json" prints.
type Report struct {
	report.Head
	Parts        int                `json:"parts"` // without a connection to the others
	Switches     int                `json:"switches"`
	EndPorts     int                `json:"end_ports"`
	Destinations int                `json:"destinations"` // LIDs
	Paths        uint64             `json:"paths"`
	Reached      uint64             `json:"reached"`
	Lost         map[Cause]uint64   `json:"lost"` // paths by cause
	Hops         []ReportHops       `json:"hops"`
	Links        ReportLinks        `json:"links"`
	Levels       []ReportLevel      `json:"levels"`
	Lanes        LaneKnowledge      `json:"lanes"`    // knowledge about virtual lanes in the search for credit loops
	Adaptive     *ReportAdaptive    `json:"adaptive"` // null: off or unknown
	Congestion   []ReportCongestion `json:"congestion"`
	Disjoint     *Disjoint          `json:"disjoint"`  // null: each port has a single LID
	Multicast    ReportMulticast    `json:"multicast"` //
	Changes      []Change           `json:"changes"`   // null: no comparison
}

// ReportAdaptive is an [AdaptiveSummary].
type ReportAdaptive struct {
	Switches int    `json:"switches"` // with adaptive routing on
	Static   int    `json:"static"`   // among them, with unknown port groups
	Detail   string `json:"detail"`
}

// ReportHops counts paths by links.
type ReportHops struct {
	Links int    `json:"links"`
	Paths uint64 `json:"paths"`
}

// ReportLinks describes the load on the links between switches, in each direction, if
// each port sends to all LIDs.
type ReportLinks struct {
	Count     int     `json:"count"`
	MostPaths uint64  `json:"most_paths"`
	MeanPaths float64 `json:"mean_paths"`
	MostLIDs  int     `json:"most_lids"`
	MeanLIDs  float64 `json:"mean_lids"`
}

// A ReportLevel describes the links from a level's switches to the next level's switches.
type ReportLevel struct {
	Level    int     `json:"level"` // links to the nearest switch with end ports
	Switches int     `json:"switches"`
	Links    int     `json:"links"`
	Least    int     `json:"least_lids"` // on a link
	Mean     float64 `json:"mean_lids"`
	Most     int     `json:"most_lids"`
	Uneven   int     `json:"uneven_switches"`
}

// ReportCongestion is a [Congestion].
type ReportCongestion struct {
	Pattern Pattern     `json:"pattern"`
	Rounds  int         `json:"rounds"`
	All     int         `json:"all_rounds"` // 0: any number
	Worst   int         `json:"worst_flows"`
	Mean    float64     `json:"mean_flows"`
	Link    *ReportPort `json:"link"`
}

// ReportMulticast counts multicast groups.
type ReportMulticast struct {
	Groups  int  `json:"groups"`
	Sound   int  `json:"sound"`
	Members *int `json:"members"` // in all groups according to subnet administration; null: unknown
}

// A ReportPort is an output port.
type ReportPort struct {
	NodeGUID ib.GUID `json:"node_guid"`
	Name     string  `json:"name"`
	Port     uint8   `json:"port"`
	VL       *uint8  `json:"vl"`
}

// Report returns the document of an analysis with some of its findings. changes is nil
// without a comparison.
func (a *Analysis) Report(findings []report.Finding, changes []Change, names *fabric.NameMap) *Report {
	w := namer{names}
	r := &Report{
		Head: report.NewHead(ReportSchema, a.Routing.Began), Parts: a.Parts, Switches: a.Switches, EndPorts: a.EndPorts, Destinations: a.Destinations,
		Paths: a.Paths, Reached: a.Reached, Lost: map[Cause]uint64{}, Hops: []ReportHops{}, Lanes: a.Lanes, Links: a.LinkSummary(),
		Congestion: []ReportCongestion{}, Disjoint: a.Disjoint, Changes: changes,
	}
	r.Add(findings...)
	r.Fail(a.Routing.ReportFailures(names)...)
	r.Partial = a.Partial()
	if a.Adaptive.Switches > 0 {
		r.Adaptive = &ReportAdaptive{a.Adaptive.Switches, a.Adaptive.Static, a.Adaptive.Text(names)}
	}
	for c, n := range a.Lost {
		if n > 0 {
			r.Lost[Cause(c)] = n
		}
	}
	for links, n := range a.Hops {
		if n > 0 {
			r.Hops = append(r.Hops, ReportHops{links, n})
		}
	}
	for _, c := range a.Congestion {
		n := ReportCongestion{Pattern: c.Pattern, Rounds: c.Rounds, All: c.All, Worst: c.Worst, Mean: c.Mean}
		if c.Link != nil {
			n.Link = new(w.report(c.Link))
		}
		r.Congestion = append(r.Congestion, n)
	}
	r.Levels = a.Levels()
	r.Multicast.Groups = len(a.Trees)
	for i := range a.Trees {
		if a.Trees[i].Sound() {
			r.Multicast.Sound++
		}
	}
	if a.Routing.Members != nil {
		r.Multicast.Members = new(a.Routing.CountMembers())
	}
	return r
}

func (w namer) report(p *Port) ReportPort {
	return ReportPort{NodeGUID: p.Node.GUID, Name: w.name(p.Node), Port: p.Number}
}

// LinkSummary summarizes the loads on the links between switches.
func (a *Analysis) LinkSummary() ReportLinks {
	s := ReportLinks{Count: len(a.Links)}
	for _, l := range a.Links {
		s.MostPaths, s.MostLIDs = max(s.MostPaths, l.Paths), max(s.MostLIDs, l.LIDs)
		s.MeanPaths += float64(l.Paths)
		s.MeanLIDs += float64(l.LIDs)
	}
	if s.Count > 0 {
		s.MeanPaths /= float64(s.Count)
		s.MeanLIDs /= float64(s.Count)
	}
	return s
}

// Levels summarizes the loads on the links to the next level, by level. Levels without
// such links are omitted.
func (a *Analysis) Levels() []ReportLevel {
	byLevel := map[int]*ReportLevel{}
	for i := range a.Groups {
		b := &a.Groups[i]
		if b.To != nil {
			continue
		}
		l := byLevel[b.Level]
		if l == nil {
			l = &ReportLevel{Level: b.Level, Least: b.Least}
			byLevel[b.Level] = l
		}
		l.Switches++
		l.Mean = (l.Mean*float64(l.Links) + b.Mean*float64(len(b.Ports))) / float64(l.Links+len(b.Ports))
		l.Links += len(b.Ports)
		l.Least, l.Most = min(l.Least, b.Least), max(l.Most, b.Most)
		if b.Uneven() {
			l.Uneven++
		}
	}
	levels := []ReportLevel{}
	for _, level := range slices.Sorted(maps.Keys(byLevel)) {
		levels = append(levels, *byLevel[level])
	}
	return levels
}

// Partial reports whether part of the routing is unknown: requests failed, or the files
// lack a switch's tables.
func (a *Analysis) Partial() bool { return a.Routing.Partial() || a.Lost[Unseen] > 0 }
