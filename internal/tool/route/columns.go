package route

import "github.com/ibkit/ibkit/ib"

// columns are the entries for a block's LIDs in all switches' tables, by LID: a tree
// reads the same LID from all switches, while the tables are stored by switch.
type columns struct {
	graph *graph
	ports []uint8
}

func newColumns(g *graph) *columns {
	return &columns{graph: g, ports: make([]uint8, lftBlock*len(g.switches))}
}

// load reads a LID's block.
func (c *columns) load(block int) {
	n := len(c.graph.switches)
	for s, sw := range c.graph.switches {
		var row []uint8
		if first := block * lftBlock; sw.Tables != nil && first < len(sw.Tables.LFT) {
			row = sw.Tables.LFT[first:min(first+lftBlock, len(sw.Tables.LFT))]
		}
		for i, port := range row {
			c.ports[i*n+s] = port
		}
		for i := len(row); i < lftBlock; i++ {
			c.ports[i*n+s] = NoRoute
		}
	}
}

// of returns the entries for a LID in the block.
func (c *columns) of(lid ib.LID) []uint8 {
	n := len(c.graph.switches)
	i := int(lid) % lftBlock
	return c.ports[i*n : (i+1)*n]
}
