package sim

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
)

// counts are a port's counters. They are created at the first access.
type counts struct {
	tables  [][]uint64    // by table index; nil: all are 0
	rates   []rate        // growth without traffic
	updated time.Duration // uptime at the last update
}

// A rate is a counter's growth per second.
type rate struct {
	name   string
	perSec float64
}

// placesOf returns a counter's places. Names are not case-sensitive.
func placesOf(name string) ([]counterPlace, error) {
	if places := allCounters().places[name]; places != nil {
		return places, nil
	}
	for known, places := range allCounters().places {
		if strings.EqualFold(known, name) {
			return places, nil
		}
	}
	return nil, fmt.Errorf("unknown counter %q", name)
}

// Counter returns a port counter by name. If several attributes contain the counter, the
// widest value is returned.
func (f *Fabric) Counter(p *Port, name string) (uint64, error) {
	places, err := placesOf(name)
	if err != nil {
		return 0, fmt.Errorf("read counter of %s: %w", p, err)
	}
	f.updateCounters(p)
	return p.counts.at(places[0]), nil
}

// SetCounter sets a port counter in all attributes that contain the counter. Attributes
// with a smaller field get the largest value that fits.
func (f *Fabric) SetCounter(p *Port, name string, value uint64) error {
	places, err := placesOf(name)
	if err != nil {
		return fmt.Errorf("set counter of %s: %w", p, err)
	}
	if widest := places[0].field(); value > widest.limit {
		return fmt.Errorf("set counter of %s: %s is at most %d, not %d", p, widest.name, widest.limit, value)
	}
	f.updateCounters(p)
	for _, at := range places {
		p.counts.table(at.table)[at.index] = min(value, at.field().limit)
	}
	return nil
}

// AddCounter increases a port counter. 64-bit counters wrap around, others stop at their
// largest value.
func (f *Fabric) AddCounter(p *Port, name string, value uint64) error {
	places, err := placesOf(name)
	if err != nil {
		return fmt.Errorf("add to counter of %s: %w", p, err)
	}
	f.updateCounters(p)
	p.counts.add(places, value)
	return nil
}

// SetCounterRate makes a port counter grow by perSecond from now on, in addition to the
// traffic. 0 stops the growth.
func (f *Fabric) SetCounterRate(p *Port, name string, perSecond float64) error {
	places, err := placesOf(name)
	if err != nil {
		return fmt.Errorf("set rate of counter of %s: %w", p, err)
	}
	if math.IsNaN(perSecond) || perSecond < 0 || perSecond > maxRate {
		return fmt.Errorf("set rate of counter of %s: %v per second: not a number from 0 to %v", p, perSecond, float64(maxRate))
	}
	f.updateCounters(p)
	known := places[0].field().name
	p.counts.rates = slices.DeleteFunc(p.counts.rates, func(r rate) bool { return r.name == known })
	if perSecond > 0 {
		p.counts.rates = append(p.counts.rates, rate{known, perSecond})
	}
	return nil
}

// maxRate is low enough for a float64 to count exactly for years.
const maxRate = 1e12

func (a counterPlace) field() *counterField { return &a.table.counters[a.index] }

// at returns the value at a place.
func (c *counts) at(a counterPlace) uint64 {
	if t := c.tables[a.table.index]; t != nil {
		return t[a.index]
	}
	return 0
}

// table returns a table's values for writing.
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

// sum adds to a value: 64-bit counters wrap around, others saturate.
func (c *counterField) sum(v, more uint64) uint64 {
	if c.limit == math.MaxUint64 {
		return v + more
	}
	if v+more < v {
		return c.limit
	}
	return min(v+more, c.limit)
}

// addTo adds a table's values to sums.
func (c *counts) addTo(t *counterTable, sums []uint64) {
	for i, v := range c.tables[t.index] {
		sums[i] = t.counters[i].sum(sums[i], v)
	}
}

// reset clears the table counters that a mask selects.
func (c *counts) reset(t *counterTable, mask uint64) {
	values := c.tables[t.index]
	for i := range values {
		if mask>>t.counters[i].bit&1 != 0 {
			values[i] = 0
		}
	}
}
