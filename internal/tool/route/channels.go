package route

import "slices"

// Channels are a routing's directed links by number, for the analysis of many paths: each
// switch output port with a link is a channel. It is safe for concurrent use if the
// tables do not change.
type Channels struct {
	graph  *graph
	ends   []int32 // attached end ports, in switch and port order
	number map[*Port]int32
	index  map[*Node]int32 // of switches
	tables [][]uint8       // linear tables by switch
}

// NewChannels numbers a routing's links. Its end ports are the adapter and router ports
// that are linked to switches, also without a LID.
func NewChannels(r *Routing) *Channels {
	c := &Channels{number: map[*Port]int32{}, index: map[*Node]int32{}}
	c.graph = numberNodes(r, false, func(p *Port) bool {
		return p.LID.IsUnicast() || p.Peer != nil && p.Peer.Node.IsSwitch()
	})
	c.ends = c.graph.attached()
	for i := range c.ends {
		c.number[c.End(i)] = int32(i)
	}
	for s, n := range c.graph.switches {
		c.index[n] = int32(s)
		var table []uint8
		if n.Tables.Known() {
			table = n.Tables.LFT[:min(len(n.Tables.LFT), int(n.Tables.Top)+1)]
		}
		c.tables = append(c.tables, table)
	}
	return c
}

// Count returns the channel count.
func (c *Channels) Count() int { return c.graph.channels }

// Ends returns the end port count.
func (c *Channels) Ends() int { return len(c.ends) }

// End returns an end port. The order is by switch and port: neighbours have neighbouring
// numbers.
func (c *Channels) End(i int) *Port { return c.graph.ends[c.ends[i]].port }

// EndOf returns an end port's number, false for another port.
func (c *Channels) EndOf(p *Port) (int, bool) {
	i, ok := c.number[p]
	return int(i), ok
}

// Switches returns the switches by number.
func (c *Channels) Switches() []*Node { return c.graph.switches }

// At returns the switch that an end port is linked to.
func (c *Channels) At(end int) int { return int(c.graph.ends[c.ends[end]].sw) }

// Port returns a channel's output port.
func (c *Channels) Port(channel int) *Port { return c.graph.port(int32(channel)) }

// Ahead returns the switch at the channel's other end, -1 if it leads to an end port or
// nowhere.
func (c *Channels) Ahead(channel int) int { return int(c.graph.to[channel]) }

// Of returns a switch output port's channel.
func (c *Channels) Of(p *Port) (channel int, ok bool) {
	s, ok := c.index[p.Node]
	if !ok {
		return 0, false
	}
	return int(c.graph.base[s]) + int(p.Number), true
}

// HasTables reports whether a switch has a forwarding table.
func (c *Channels) HasTables() bool {
	return slices.ContainsFunc(c.tables, func(t []uint8) bool { return t != nil })
}

// Path follows the tables from one end port to another's base LID. It appends the channels
// that lead to switches to b. It reports false if the path does not arrive.
func (c *Channels) Path(b []int32, from, to int) ([]int32, bool) {
	g := c.graph
	s, target := g.ends[c.ends[from]].sw, c.ends[to]
	lid := int(g.ends[target].port.LID)
	for range g.switches {
		if lid == 0 || lid >= len(c.tables[s]) {
			return b, false
		}
		port := int32(c.tables[s][lid])
		if port == 0 || port >= g.radix[s] {
			return b, false
		}
		channel := g.base[s] + port
		if g.to[channel] < 0 {
			return b, g.end[channel] == target
		}
		b, s = append(b, channel), g.to[channel]
	}
	return b, false
}
