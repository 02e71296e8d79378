package roce

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/ibkit/ibkit/internal/outcome"
	"github.com/ibkit/ibkit/internal/rdmanl"
)

// CheckOptional returns an error if a port lacks one of the optional counters with the names.
func (p *PortSettings) CheckOptional(names []string) error {
	for _, name := range names {
		if _, ok := p.Optional[name]; !ok {
			has := "none"
			if len(p.Optional) > 0 {
				has = strings.Join(slices.Sorted(maps.Keys(p.Optional)), ", ")
			}
			return fmt.Errorf("enable counter %s of %s: optional counters: %s", name, p.Name(), has)
		}
	}
	return nil
}

// EnabledOptional returns the names of a port's enabled optional counters.
func (p *PortSettings) EnabledOptional() []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(p.Optional)), func(name string) bool { return !p.Optional[name] })
}

// SetOptional enables a port's optional counters with the names, disables all others, and reads
// them again. The counters begin at 0.
func (h Host) SetOptional(p *PortSettings, names []string) (outcome.Outcome, error) {
	h, names = h.withDefaults(), slices.Compact(slices.Sorted(slices.Values(names)))
	if slices.Equal(p.EnabledOptional(), names) {
		return outcome.Unneeded, nil
	}
	if h.Optional == nil || h.EnableOptional == nil || p.index == nil {
		return outcome.NotAttempted, fmt.Errorf("enable counters of %s: requires the running kernel of the host", p.Name())
	}
	if err := h.EnableOptional(*p.index, uint32(p.Number), names); err != nil {
		return outcome.Failed, fmt.Errorf("enable counters of %s: %w", p.Name(), err)
	}
	now, err := h.Optional(*p.index, uint32(p.Number))
	if err != nil {
		return outcome.Unverified, fmt.Errorf("query optional counters of %s: %w", p.Name(), err)
	}
	p.Optional = now
	if got := p.EnabledOptional(); !slices.Equal(got, names) {
		return outcome.NoEffect, fmt.Errorf("enable counters of %s: got %q, want %q", p.Name(), got, names)
	}
	return outcome.Changed, nil
}

func enableOptional(device, port uint32, names []string) error {
	_, err := queryKernel(func(c *rdmanl.Conn) (none struct{}, err error) {
		return none, c.SetOptionalCounters(device, port, names)
	})
	return err
}
