package sim

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/ibkit/ibkit/mad"
)

// A Preset is a fabric that can be had by name.
type Preset struct {
	Name       string
	About      string
	Parameters []Parameter

	build func(*Fabric, params) error
}

// A Parameter is what can be chosen about a preset.
type Parameter struct {
	Name, Default, About string
}

// Presets are all presets.
var Presets = []Preset{demo, singleSwitch, fatTree, dragonfly, torus}

var (
	speedParameter = Parameter{"speed", "HDR", "speed of all links, SDR to XDR"}
	widthParameter = Parameter{"width", "4X", "width of all links"}
)

// Build makes a fabric from a description: a preset's name, or one with
// parameters such as "fat-tree:levels=3,radix=40,pods=26". The fabric is
// configured: its links are active and routes are set.
func Build(description string) (*Fabric, error) {
	name, rest, _ := strings.Cut(description, ":")
	i := slices.IndexFunc(Presets, func(p Preset) bool { return p.Name == name })
	if i < 0 {
		var known []string
		for _, p := range Presets {
			known = append(known, p.Name)
		}
		return nil, fmt.Errorf("no simulated fabric is called %q (known: %s)", name, strings.Join(known, ", "))
	}
	preset := &Presets[i]
	p, err := preset.parse(rest)
	f := &Fabric{}
	if err == nil {
		err = preset.build(f, p)
	}
	if err != nil {
		return nil, fmt.Errorf("build fabric %s: %w", name, err)
	}
	return f, nil
}

// params are the parameters of a preset, each known and with a value.
type params struct{ values map[string]string }

func (p *Preset) parse(text string) (params, error) {
	v := params{map[string]string{}}
	for _, d := range p.Parameters {
		v.values[d.Name] = d.Default
	}
	for pair := range strings.SplitSeq(text, ",") {
		if pair == "" {
			continue
		}
		name, value, ok := strings.Cut(pair, "=")
		if !ok {
			return v, fmt.Errorf("%q is not NAME=VALUE", pair)
		}
		if _, known := v.values[name]; !known {
			return v, fmt.Errorf("no parameter %q (known: %s)", name, strings.Join(slices.Sorted(maps.Keys(v.values)), ", "))
		}
		v.values[name] = value
	}
	return v, nil
}

// number reads a parameter that is a number within bounds.
func (p params) number(name string, least, most int) (int, error) {
	n, err := strconv.Atoi(p.values[name])
	if err != nil || n < least || n > most {
		return 0, fmt.Errorf("%s=%s: not a number from %d to %d", name, p.values[name], least, most)
	}
	return n, nil
}

// numbers reads several parameters.
func (p params) numbers(least, most int, names ...string) ([]int, error) {
	out := make([]int, len(names))
	for i, name := range names {
		n, err := p.number(name, least, most)
		if err != nil {
			return nil, err
		}
		out[i] = n
	}
	return out, nil
}

// link reads the parameters speed and width.
func (p params) link() (LinkSpec, error) {
	l := LinkSpec{}
	for s := mad.SDR; s <= mad.XDR; s <<= 1 {
		if s != mad.FDR10 && strings.EqualFold(s.String(), p.values["speed"]) {
			l.Speed = s
		}
	}
	for _, w := range []mad.LinkWidth{mad.Width1X, mad.Width2X, mad.Width4X, mad.Width8X, mad.Width12X} {
		if strings.EqualFold(w.String(), p.values["width"]) {
			l.Width = w
		}
	}
	switch {
	case l.Speed == 0:
		return l, fmt.Errorf("speed=%s: not one of SDR, DDR, QDR, FDR, EDR, HDR, NDR, XDR", p.values["speed"])
	case l.Width == 0:
		return l, fmt.Errorf("width=%s: not one of 1X, 2X, 4X, 8X, 12X", p.values["width"])
	}
	return l, nil
}
