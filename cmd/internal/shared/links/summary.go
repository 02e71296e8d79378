package links

import (
	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/linkinfo"
	"github.com/ibkit/ibkit/mad"
)

// Summary counts what a report is about.
type Summary struct {
	Nodes    int `json:"nodes"`
	Switches int `json:"switches"`
	CAs      int `json:"cas"`
	Routers  int `json:"routers"`
	Ports    int `json:"ports"`
	Links    int `json:"links"`    // each counted once, be it that one end or both are in the report
	Problems int `json:"problems"` // ports with a problem
}

func Summarize(nodes []*fabric.Node, ends []linkinfo.End) Summary {
	s := Summary{Nodes: len(nodes), Ports: len(ends)}
	for _, n := range nodes {
		switch n.Info.NodeType {
		case mad.NodeTypeSwitch:
			s.Switches++
		case mad.NodeTypeRouter:
			s.Routers++
		default:
			s.CAs++
		}
	}
	seen := make(map[*fabric.Port]bool, len(ends))
	for i := range ends {
		p := ends[i].Port
		if ends[i].HasProblem() {
			s.Problems++
		}
		if p.Peer != nil && !seen[p.Peer] {
			s.Links++
		}
		seen[p] = true
	}
	return s
}
