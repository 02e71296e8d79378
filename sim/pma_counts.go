package sim

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
)

// counts are the values of a port's counters. A port has them from the first
// time that somebody looks at them.
type counts struct {
	tables  [][]uint64    // by a table's index; nil: all are 0
	rates   []rate        // at which some grow without traffic
	settled time.Duration // since when the fabric is up, they have been brought up to date
}

// A rate is how much a counter grows in a second.
type rate struct {
	name   string
	perSec float64
}

// placesOf returns where a counter is found; case does not matter in its name.
func placesOf(name string) ([]counterPlace, error) {
	if places := allCounters().places[name]; places != nil {
		return places, nil
	}
	for known, places := range allCounters().places {
		if strings.EqualFold(known, name) {
			return places, nil
		}
	}
	return nil, fmt.Errorf("no counter %q", name)
}

// Counter returns the value of a port's counter by its name; of a counter that
// several attributes have, that of the widest.
func (f *Fabric) Counter(p *Port, name string) (uint64, error) {
	places, err := placesOf(name)
	if err != nil {
		return 0, fmt.Errorf("read counter of %s: %w", p, err)
	}
	f.settle(p)
	return p.counts.at(places[0]), nil
}

// SetCounter sets a port's counter in all attributes that have it. Where the
// value is too large for some of them but not for all, those hold their largest.
func (f *Fabric) SetCounter(p *Port, name string, value uint64) error {
	places, err := placesOf(name)
	if err != nil {
		return fmt.Errorf("set counter of %s: %w", p, err)
	}
	if widest := places[0].field(); value > widest.limit {
		return fmt.Errorf("set counter of %s: %s is at most %d, not %d", p, widest.name, widest.limit, value)
	}
	f.settle(p)
	for _, at := range places {
		p.counts.table(at.table)[at.index] = min(value, at.field().limit)
	}
	return nil
}

// AddCounter lets a port's counter grow, as things that happen do: those of 64
// bits wrap around, others stay at their largest value.
func (f *Fabric) AddCounter(p *Port, name string, value uint64) error {
	places, err := placesOf(name)
	if err != nil {
		return fmt.Errorf("add to counter of %s: %w", p, err)
	}
	f.settle(p)
	p.counts.add(places, value)
	return nil
}

// SetCounterRate lets a port's counter grow by so much a second from now on, on
// top of what traffic does. 0 stops it.
func (f *Fabric) SetCounterRate(p *Port, name string, perSecond float64) error {
	places, err := placesOf(name)
	if err != nil {
		return fmt.Errorf("set rate of counter of %s: %w", p, err)
	}
	if math.IsNaN(perSecond) || perSecond < 0 || perSecond > maxRate {
		return fmt.Errorf("set rate of counter of %s: %v a second is not from 0 to %v", p, perSecond, float64(maxRate))
	}
	f.settle(p)
	known := places[0].field().name
	p.counts.rates = slices.DeleteFunc(p.counts.rates, func(r rate) bool { return r.name == known })
	if perSecond > 0 {
		p.counts.rates = append(p.counts.rates, rate{known, perSecond})
	}
	return nil
}

// maxRate keeps what grows within what a float64 counts exactly for years.
const maxRate = 1e12

func (a counterPlace) field() *counterField { return &a.table.counters[a.index] }

// at returns a value.
func (c *counts) at(a counterPlace) uint64 {
	if t := c.tables[a.table.index]; t != nil {
		return t[a.index]
	}
	return 0
}

// table returns the values of a table, to be changed.
func (c *counts) table(t *counterTable) []uint64 {
	if c.tables[t.index] == nil {
		c.tables[t.index] = make([]uint64, len(t.counters))
	}
	return c.tables[t.index]
}

func (c *counts) add(places []counterPlace, value uint64) {
	if value == 0 {
		return
	}
	for _, at := range places {
		v := &c.table(at.table)[at.index]
		*v = at.field().sum(*v, value)
	}
}

// sum adds to a value: 64 bits wrap around, others saturate.
func (c *counterField) sum(v, more uint64) uint64 {
	if c.limit == math.MaxUint64 {
		return v + more
	}
	if v+more < v {
		return c.limit
	}
	return min(v+more, c.limit)
}

// addTo adds the values of a table to sums.
func (c *counts) addTo(t *counterTable, sums []uint64) {
	for i, v := range c.tables[t.index] {
		sums[i] = t.counters[i].sum(sums[i], v)
	}
}

// reset sets those counters of a table to 0 that a mask selects.
func (c *counts) reset(t *counterTable, mask uint64) {
	values := c.tables[t.index]
	for i := range values {
		if mask>>t.counters[i].bit&1 != 0 {
			values[i] = 0
		}
	}
}
