package linkinfo

import (
	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/mad"
)

// A Summary counts the contents of a report.
type Summary struct {
	Nodes    int `json:"nodes"`
	Switches int `json:"switches"`
	CAs      int `json:"cas"`
	Routers  int `json:"routers"`
	Ports    int `json:"ports"`
	Links    int `json:"links"`    // each counted once, with one or both ends in the report
	Problems int `json:"problems"` // links with a problem at either end
}

// Summarize counts nodes, the ends of their links, and the links.
func Summarize(nodes []*fabric.Node, ends []End, links []Link) Summary {
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
	for _, l := range links {
		if l.Near.Port.Peer != nil {
			s.Links++
		}
		if l.HasProblem() {
			s.Problems++
		}
	}
	return s
}
