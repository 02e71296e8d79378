package sim

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/ibkit/ibkit/internal/netfile"
)

// A Preset is a fabric with a name.
type Preset struct {
	Name       string
	About      string
	Parameters []Parameter

	link    LinkSpec // if no parameters override it
	routing Routing  // with sm=on
	vendor  bool     // the nodes have vendor agents without port labels, unless vendor= is given
	build   func(*builder, *params)

	// inject adds problems to the configured fabric; it may be nil.
	inject func(*Fabric)
}

// A Parameter is a parameter of a preset.
type Parameter struct {
	Name    string `json:"name"`
	Default string `json:"default"`
	About   string `json:"about"`
}

// Presets are all presets.
var Presets = []Preset{
	demo, faults, opticsFaults, singleSwitch, fatTree, dragonfly, torus, mixed, chassis, rails,
	loopFault, creditFault, deadEndFault, balanceFault, multicastFault,
}

var (
	speedParameter = Parameter{"speed", "HDR", "speed of all links, SDR to XDR"}
	widthParameter = Parameter{"width", "4X", "width of all links"}
)

// Build makes the fabric with parameters such as "levels=3,radix=40".
func (p *Preset) Build(parameters string) (*Fabric, error) {
	v := p.parse(parameters)
	b := newBuilder(&Fabric{}, v.link(p.link))
	if v.err == nil {
		p.build(b, v)
	}
	if err := cmp.Or(v.err, b.err); err != nil {
		return nil, err
	}
	if err := v.setup.apply(b.fabric, (*Fabric).Configure); err != nil {
		return nil, err
	}
	if p.vendor && !v.setup.vendorGiven {
		for _, n := range b.fabric.Nodes {
			n.vendor = newVendorAgent()
		}
	}
	if p.inject != nil {
		p.inject(b.fabric)
	}
	return b.fabric, nil
}

// params are preset parameters with their values. It keeps the first error, so that preset
// code needs no error handling.
type params struct {
	values map[string]string
	given  map[string]bool // values that are not defaults
	setup  setup
	err    error
}

func (p *Preset) parse(text string) *params {
	v := &params{values: map[string]string{}, given: map[string]bool{}, setup: setup{standard: p.routing, manager: Manager{Routing: p.routing}}}
	for _, d := range p.Parameters {
		v.values[d.Name] = d.Default
	}
	for pair := range strings.SplitSeq(text, ",") {
		if pair == "" {
			continue
		}
		name, value, ok := strings.Cut(pair, "=")
		if used, err := v.setup.set(name, value); used {
			v.err = cmp.Or(v.err, err)
			continue
		}
		_, known := v.values[name]
		switch {
		case !ok:
			v.fail("%q: not of the form NAME=VALUE", pair)
		case !known:
			v.fail("unknown parameter %q (known: %s)", name, strings.Join(append(slices.Sorted(maps.Keys(v.values)), setupNames...), ", "))
		}
		v.values[name], v.given[name] = value, true
	}
	return v
}

func (p *params) fail(format string, args ...any) {
	if p.err == nil {
		p.err = fmt.Errorf(format, args...)
	}
}

// number returns a numeric parameter. If the parameter is invalid it returns the lower
// bound.
func (p *params) number(name string, least, most int) int {
	n, err := strconv.Atoi(p.values[name])
	if err != nil || n < least || n > most {
		text := name + "=" + p.values[name]
		if !p.given[name] {
			text += " (the default)"
		}
		p.fail("%s: not a number from %d to %d", text, least, most)
		return least
	}
	return n
}

// link returns the parameters speed and width if the preset has them.
func (p *params) link(l LinkSpec) LinkSpec {
	if name, ok := p.values["speed"]; ok {
		if l.Speed = netfile.SpeedByName(name); l.Speed == 0 {
			p.fail("speed=%s: not one of SDR, DDR, QDR, FDR, EDR, HDR, NDR, XDR", name)
		}
	}
	if name, ok := p.values["width"]; ok {
		if l.Width = netfile.WidthByName(name); l.Width == 0 {
			p.fail("width=%s: not one of 1X, 2X, 4X, 8X, 12X", name)
		}
	}
	return l
}
