package sim

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/ibkit/ibkit/internal/interrupt"
	"github.com/ibkit/ibkit/internal/netfile"
	"github.com/ibkit/ibkit/internal/textfile"
)

// ParseEvents parses an event script. Each line has a time and a command:
//
//	# a host that fails, and a bad cable
//	1.5s   down node01
//	10s    up node01
//	20ms   flap "leaf1"[3] 50ms 4
//	@1000  model loss=0.1
//
// Times count from [Fabric.Play]; @ and a number count the packets sent since then. The
// commands are the [Fabric.ParseCommand] commands except read-only commands. Errors name
// the file, line and column, and no events are returned.
func (f *Fabric) ParseEvents(r io.Reader, name string) ([]Event, error) {
	var events []Event
	lines := textfile.NewReader(r, name)
	for lines.Next() {
		l := &eventLine{netfile.Line{File: name, Number: lines.Line(), Text: strings.TrimRight(lines.Text(), " \t\r")}}
		if l.Blanks(); l.Rest() == "" || l.Accept("#") {
			continue
		}
		var e Event
		if err := l.when(&e); err != nil {
			return nil, err
		}
		l.Blanks()
		start := l.At
		var err error
		if e.Command, err = f.command(l); err != nil {
			return nil, err
		}
		if e.Command.ReadOnly {
			l.At = start
			return nil, l.Expected("a command that changes the fabric")
		}
		events = append(events, e)
	}
	if err := lines.Err(); err != nil {
		return nil, err
	}
	return events, nil
}

// ReadEvents returns events from a description: random events for "random" or
// "random:seed=7,count=20,within=10s" (see [Fabric.RandomEvents]), else the events in the
// file with that name (see [Fabric.ParseEvents]).
func (f *Fabric) ReadEvents(description string) ([]Event, error) {
	if name, parameters, _ := strings.Cut(description, ":"); name == "random" {
		o, err := parseRandom(parameters)
		if err != nil {
			return nil, err
		}
		return f.RandomEvents(o)
	}
	file, err := interrupt.Open(description)
	if err != nil {
		return nil, fmt.Errorf("read events: %w", err)
	}
	defer file.Close()
	return f.ParseEvents(file, description)
}

// maxRandom is the maximum number of random failures, which are generated in advance.
const maxRandom = 100_000

// RandomOptions configure random events.
type RandomOptions struct {
	Seed   uint64
	Count  int           // failures; each ends after a while
	Within time.Duration // period in which the failures begin
}

// RandomEvents returns random failures: links flap, nodes lose power, agents hang. The
// same seed gives the same events for the same fabric. The first adapter, which
// programs attach to by default, does not fail.
func (f *Fabric) RandomEvents(o RandomOptions) ([]Event, error) {
	var hosts, switches []*Node
	var cables []*Port
	spared := f.firstAdapter()
	for _, n := range f.Nodes {
		for i := range n.Ports {
			if p := &n.Ports[i]; n.IsSwitch() && p.Peer != nil && p.Peer != spared {
				cables = append(cables, p)
			}
		}
		switch {
		case n.IsSwitch():
			switches = append(switches, n)
		case spared == nil || n != spared.Node:
			hosts = append(hosts, n)
		}
	}
	if len(hosts) == 0 || len(switches) == 0 || len(cables) == 0 {
		return nil, errors.New("make random events: the fabric has no switch, no second host or no cable")
	}
	rng := rand.New(rand.NewPCG(o.Seed, 1))
	var script strings.Builder
	for range o.Count {
		at := time.Duration(rng.Int64N(int64(o.Within) + 1)).Round(time.Microsecond)
		whole := o.Within/10 + time.Duration(rng.Int64N(int64(o.Within/10)+1)).Round(time.Microsecond)
		host, sw, cable := hosts[rng.IntN(len(hosts))], switches[rng.IntN(len(switches))], cables[rng.IntN(len(cables))]
		switch rng.IntN(3) {
		case 0:
			fmt.Fprintf(&script, "%v flap %v %v %d\n", at, cable, whole/4, 1+rng.IntN(3))
		case 1:
			fmt.Fprintf(&script, "%v down %q\n%v up %q\n", at, host.ID, at+whole, host.ID)
		case 2:
			fmt.Fprintf(&script, "%v hang %q\n%v resume %q\n", at, sw.ID, at+whole, sw.ID)
		}
	}
	events, err := f.ParseEvents(strings.NewReader(script.String()), "random events")
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(events, func(a, b Event) int { return cmp.Compare(a.After, b.After) })
	return events, nil
}

// parseRandom parses seed=7,count=20,within=10s. All parts are optional.
func parseRandom(text string) (RandomOptions, error) {
	o := RandomOptions{Seed: 1, Count: 10, Within: 10 * time.Second}
	l := &eventLine{netfile.Line{File: "random events", Number: 1, Text: text}}
	given := map[string]bool{}
	for l.Rest() != "" {
		start := l.At
		name := l.Run(netfile.IsLetter)
		if given[name] {
			l.At = start
			return o, l.Errorf("parameter %q is given twice", name)
		}
		given[name] = true
		if !l.Accept("=") {
			name = ""
		}
		var err error
		var n uint64
		switch name {
		case "seed":
			o.Seed, err = l.integer("a seed", 1<<64-1)
		case "count":
			n, err = l.integer("a number of failures", maxRandom)
			o.Count = int(n)
		case "within":
			err = durationInto(l, &o.Within)
		default:
			l.At = start
			err = l.Expected("seed=NUMBER, count=NUMBER or within=DURATION")
		}
		if err != nil {
			return o, err
		}
		if l.Rest() != "" && !l.Accept(",") {
			return o, l.Expected("a comma")
		}
	}
	return o, nil
}
