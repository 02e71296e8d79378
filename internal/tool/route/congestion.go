package route

import (
	"context"
	"math/rand/v2"
	"runtime"
	"sync"

	"github.com/ibkit/ibkit/internal/enum"
)

// A Pattern is a traffic pattern between end ports.
type Pattern uint8

// The patterns.
const (
	AllToAll Pattern = iota + 1 // each port sends to each other port
	Shift                       // in round k, port i sends to port i+k
	Random                      // permutations
)

var patternNames = []string{"", "all-to-all", "shift", "random"}

// Patterns are all patterns.
var Patterns = []Pattern{AllToAll, Shift, Random}

// String returns the pattern's name.
func (p Pattern) String() string { return patternNames[p] }

// MarshalText returns the [Pattern.String] text. The error is always nil.
func (p Pattern) MarshalText() ([]byte, error) { return []byte(p.String()), nil }

// UnmarshalText parses a pattern's name.
func (p *Pattern) UnmarshalText(text []byte) error {
	return enum.Parse(p, AllToAll, Random, "pattern", text)
}

// Congestion is the load on the links between switches under a traffic pattern, in flows
// per link.
type Congestion struct {
	Pattern Pattern
	Rounds  int // that were measured
	All     int // the pattern's rounds; 0: any number
	Worst   int // most flows on a link in any round
	Link    *Port
	Round   int     // of the worst link
	Mean    float64 // of the most flows on a link, over the rounds
}

// maxRounds limits a pattern's rounds. Shifts beyond it are sampled.
const maxRounds = 1024

// measure measures a pattern. load has all ports' paths by output port.
func measure(ctx context.Context, g *graph, p Pattern, load []uint64) (Congestion, error) {
	c := Congestion{Pattern: p}
	ends := g.attached()
	switch {
	case p == AllToAll:
		c.Rounds, c.All = 1, 1
		for channel, t := range g.to {
			if t >= 0 && int(load[channel]) > c.Worst {
				c.Worst, c.Link = int(load[channel]), g.port(int32(channel))
			}
		}
		c.Mean = float64(c.Worst)
		return c, nil
	case len(ends) < 2:
		return c, nil
	case p == Shift:
		c.All = len(ends) - 1
		c.Rounds = min(c.All, maxRounds)
	default:
		c.Rounds = maxRounds / 4
	}
	err := c.rounds(ctx, g, ends)
	return c, err
}

// attached returns the numbers for the end ports that are linked to switches, in switch
// and port order: neighbours have neighbouring numbers.
func (g *graph) attached() []int32 {
	var ends []int32
	for s := range g.switches {
		for port := range g.radix[s] {
			if e := g.end[g.base[s]+port]; e >= 0 {
				ends = append(ends, e)
			}
		}
	}
	return ends
}

// rounds measures a pattern's rounds with all processors.
func (c *Congestion) rounds(ctx context.Context, g *graph, ends []int32) error {
	workers := runtime.GOMAXPROCS(0)
	worst := make([]roundLoad, c.Rounds)
	var group sync.WaitGroup
	for w := range workers {
		group.Go(func() {
			flows := make([]int32, g.channels)
			to := make([]int32, len(ends))
			for round := w; round < c.Rounds && ctx.Err() == nil; round += workers {
				c.permute(round, ends, to)
				worst[round] = g.flows(ends, to, flows)
			}
		})
	}
	group.Wait()
	sum := 0
	for round, r := range worst {
		sum += r.flows
		if r.flows > c.Worst {
			c.Worst, c.Link, c.Round = r.flows, g.port(r.channel), c.shift(round)
		}
	}
	c.Mean = float64(sum) / float64(c.Rounds)
	return ctx.Err()
}

// shift returns a [Shift] round's distance, otherwise the round number.
func (c *Congestion) shift(round int) int {
	if c.Pattern == Shift {
		return 1 + round*c.All/c.Rounds
	}
	return round + 1
}

// permute sets each end port's destination in a round. Random permutations are the same
// in each run.
func (c *Congestion) permute(round int, ends, to []int32) {
	if c.Pattern == Shift {
		k := c.shift(round)
		copy(to, ends[k:])
		copy(to[len(ends)-k:], ends[:k])
		return
	}
	copy(to, ends)
	random := rand.New(rand.NewPCG(uint64(round), 0))
	random.Shuffle(len(to), func(i, k int) { to[i], to[k] = to[k], to[i] })
}

// roundLoad is the link with the most flows in a round.
type roundLoad struct {
	flows   int
	channel int32
}

// flows counts the flows on each link between switches and returns the highest count.
func (g *graph) flows(from, to, flows []int32) (most roundLoad) {
	clear(flows)
	for i, e := range from {
		lid := g.ends[to[i]].port.LID
		s := g.ends[e].sw
		for range g.switches {
			port := g.switches[s].Tables.Lookup(lid)
			if port == 0 || int32(port) >= g.radix[s] {
				break
			}
			c := g.base[s] + int32(port)
			if s = g.to[c]; s < 0 {
				break
			}
			flows[c]++
			if n := int(flows[c]); n > most.flows || n == most.flows && c < most.channel {
				most = roundLoad{n, c}
			}
		}
	}
	return most
}
