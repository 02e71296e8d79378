package topology

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/fabric/fabricfile"
	"github.com/ibkit/ibkit/fabric/ibdiagnet"
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/internal/interrupt"
	"github.com/ibkit/ibkit/internal/lazyregexp"
	"github.com/ibkit/ibkit/internal/textfile"
)

// atFile returns an error about a file, or about a line in it.
func atFile(name string, err error) error {
	if at, ok := errors.AsType[*textfile.Error](err); ok {
		return &textfile.Error{File: name, Line: at.Line, Err: at.Err}
	}
	return &textfile.Error{File: name, Err: err}
}

// maxPlan is a plan's maximum size. A plan with 48,000 cables has 10 MB.
const maxPlan = 1 << 28

// ReadPlan reads a plan in any of these formats, which it recognizes by the content:
// CSV with a cable in each line, ibnetdiscover output, a libibnetdisc cache, a
// subnet.lst from opensm and ibdiagnet, an ibdiagnet .topo file, and ibkit topology and
// linkinfo JSON. Invalid lines are [Plan.Damage]; a file without any cable is an error.
func ReadPlan(path string) (*Plan, error) {
	data, err := interrupt.ReadFile(path, maxPlan)
	if err != nil {
		return nil, fmt.Errorf("read plan: %w", err)
	}
	return ParsePlan(data, path)
}

// ParsePlan is [ReadPlan] for a file's content. Its errors are a [*textfile.Error] with
// name.
func ParsePlan(data []byte, name string) (*Plan, error) {
	p, err := parsePlan(data, name)
	switch {
	case err != nil || len(p.Cables) > 0:
	case len(p.Damage) > 0:
		err = p.Damage[0]
	default:
		err = errors.New("got no cables")
	}
	if err != nil {
		return nil, fmt.Errorf("read plan %w", atFile(name, err))
	}
	p.File = name
	for i, err := range p.Damage {
		p.Damage[i] = atFile(name, err)
	}
	return p, nil
}

// maxDamage is the damage count after which reading ends: the file is of another kind.
const maxDamage = 10_000

// damaged adds an error about a line, 0 for the file, and reports whether to go on. The line's
// cable is in the plan, without the invalid value.
func (p *Plan) damaged(line int, err error) bool {
	switch n := len(p.Damage); {
	case n == maxDamage:
		p.Incomplete = true
		return false
	case n == maxDamage-1:
		err = fmt.Errorf("the lines from here on were not read: %d lines are invalid", maxDamage)
	}
	p.Damage = append(p.Damage, &textfile.Error{Line: line, Err: err})
	return true
}

// lost is damaged for a line with a cable that is not in the plan.
func (p *Plan) lost(line int, err error) bool {
	p.Incomplete = true
	return p.damaged(line, err)
}

var topoArrow = lazyregexp.New(`(?m)^[ \t]+\S+[ \t]+(?:-\S*)?->[ \t]`)

func parsePlan(data []byte, name string) (*Plan, error) {
	text := textfile.TrimMark(data)
	switch fabricfile.KindOf(text) {
	case fabricfile.Cache:
		return planOfFabric(fabric.ParseCache(text))
	case fabricfile.JSON:
		return parseJSONPlan(text)
	case fabricfile.List:
		return parseList(string(text)), nil
	case fabricfile.Netdiscover, fabricfile.PortList:
		return planOfFile(fabricfile.Parse(text, name))
	case fabricfile.Database:
		return parseDatabase(string(text))
	}
	switch {
	case bytes.IndexByte(text, 0) >= 0:
		return nil, errors.New("not a plan: the file is binary")
	case bytes.Contains(text, []byte("->")) && topoArrow.Match(text):
		return parseTopo(string(text)), nil
	}
	return parseCSVPlan(string(text))
}

// planOfFabric returns the plan in a stored fabric, which may be damaged or partial.
func planOfFabric(f *fabric.Fabric, err error) (*Plan, error) {
	if f == nil {
		return nil, err
	}
	p := PlanOf(f, nil)
	for _, failure := range f.Failures {
		if at, ok := errors.AsType[*textfile.Error](failure.Err); ok {
			p.lost(at.Line, at.Err)
		} else {
			p.lost(0, failure.Err)
		}
	}
	if f.Partial() && len(p.Damage) == 0 {
		p.lost(0, errPartialPlan)
	}
	return p, nil
}

// errPartialPlan is the damage of a plan from a partial scan.
var errPartialPlan = errors.New("the stored scan is partial: cables may be missing")

// planOfFile returns the plan in a file with a fabric.
func planOfFile(d *ibdiagnet.Database, err error) (*Plan, error) {
	if err != nil {
		return nil, err
	}
	return planOfFabric(d.Fabric, nil)
}

// joinEnds removes the second entry for cables that a file lists at both ends, and a second
// cable of a port, which is damage.
func (p *Plan) joinEnds() {
	type key struct {
		name, port string
		guid       ib.GUID
	}
	keyOf := func(e PlanEnd) key {
		k := key{fold(e.Name), fold(e.Port), e.GUID}
		if e.GUID != 0 {
			k.name = ""
		}
		return k
	}
	type use struct {
		peer key
		line int
	}
	used := make(map[key]use, 2*len(p.Cables))
	kept := p.Cables[:0]
	for _, c := range p.Cables {
		a, b := keyOf(c.A), keyOf(c.B)
		again, conflict := false, error(nil)
		for _, end := range []struct {
			here, there key
			port        PlanEnd
		}{{a, b, c.A}, {b, a, c.B}} {
			old, known := used[end.here]
			switch {
			case end.here.port == "" || !known:
			case old.peer == end.there:
				again = true
			case conflict == nil:
				conflict = fmt.Errorf("%v has two cables: the first%s counts", end.port, inLine(old.line))
			}
		}
		switch {
		case conflict != nil:
			p.lost(c.Line, conflict)
		case !again:
			used[a], used[b] = use{b, c.Line}, use{a, c.Line}
			kept = append(kept, c)
		}
	}
	p.Cables = kept
}

// inLine names a line, unless the file has none.
func inLine(line int) string {
	if line == 0 {
		return ""
	}
	return fmt.Sprintf(", in line %d,", line)
}
