package sim

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"time"
)

// ParseEvents reads a script of events, each a line of a time and a command:
//
//	# a host that goes away, a cable that is bad
//	1.5s   down node01
//	10s    up node01
//	20ms   flap "leaf1"[3] 50ms 4
//	@1000  model loss=0.1
//
// Times count from [Fabric.Play]; @ and a number count the packets sent before.
// Commands are those of [Fabric.ParseCommand], but for the ones that only tell.
// An error names file, line and column; there are no events then.
func (f *Fabric) ParseEvents(r io.Reader, name string) ([]Event, error) {
	var events []Event
	lines := bufio.NewScanner(r)
	for number := 1; lines.Scan(); number++ {
		l := &eventLine{netLine{file: name, number: number, text: strings.TrimRight(lines.Text(), " \t\r")}}
		if l.blanks(); l.rest() == "" || l.accept("#") {
			continue
		}
		var e Event
		if err := l.when(&e); err != nil {
			return nil, err
		}
		l.blanks()
		start := l.at
		var err error
		if e.Command, err = f.command(l); err != nil {
			return nil, err
		}
		if e.Command.Tells {
			l.at = start
			return nil, l.expected("a command that changes the fabric")
		}
		events = append(events, e)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	return events, nil
}

// ReadEvents makes events from a description: random, or random:seed=7,count=20,
// within=10s for those that [Fabric.RandomEvents] makes, else the name of a file
// that [Fabric.ParseEvents] reads.
func (f *Fabric) ReadEvents(description string) ([]Event, error) {
	if name, parameters, _ := strings.Cut(description, ":"); name == "random" {
		o, err := parseRandom(parameters)
		if err != nil {
			return nil, err
		}
		return f.RandomEvents(o)
	}
	file, err := os.Open(description)
	if err != nil {
		return nil, fmt.Errorf("read events: %w", err)
	}
	defer file.Close()
	return f.ParseEvents(file, description)
}

// RandomOptions say what random events there are to be.
type RandomOptions struct {
	Seed   uint64
	Count  int           // how many things break; each is whole again after a while
	Within time.Duration // the time in which they do
}

// RandomEvents makes events up: links that flap, nodes that lose their power,
// agents that hang. The same seed makes the same events for the same fabric. The
// first adapter, which programs attach to, is spared.
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
		return nil, errors.New("make random events: the fabric is too small for any to happen")
	}
	chance := rand.New(rand.NewPCG(o.Seed, 1))
	var events []Event
	for range o.Count {
		at := time.Duration(chance.Int64N(int64(o.Within) + 1)).Round(time.Microsecond)
		whole := o.Within/10 + time.Duration(chance.Int64N(int64(o.Within/10)+1)).Round(time.Microsecond)
		host, sw, cable := hosts[chance.IntN(len(hosts))], switches[chance.IntN(len(switches))], cables[chance.IntN(len(cables))]
		var lines []string
		switch chance.IntN(3) {
		case 0:
			lines = []string{fmt.Sprintf("%v flap %v %v %d", at, cable, whole/4, 1+chance.IntN(3))}
		case 1:
			lines = []string{fmt.Sprintf("%v down %q", at, host.ID), fmt.Sprintf("%v up %q", at+whole, host.ID)}
		case 2:
			lines = []string{fmt.Sprintf("%v hang %q", at, sw.ID), fmt.Sprintf("%v resume %q", at+whole, sw.ID)}
		}
		more, err := f.ParseEvents(strings.NewReader(strings.Join(lines, "\n")), "random events")
		if err != nil {
			return nil, err
		}
		events = append(events, more...)
	}
	slices.SortStableFunc(events, func(a, b Event) int { return cmp.Compare(a.After, b.After) })
	return events, nil
}

// parseRandom reads seed=7,count=20,within=10s; what is not there has a default.
func parseRandom(text string) (RandomOptions, error) {
	o := RandomOptions{Seed: 1, Count: 10, Within: 10 * time.Second}
	l := &eventLine{netLine{file: "random events", number: 1, text: text}}
	for l.rest() != "" {
		start := l.at
		name := l.run(isLetter)
		if !l.accept("=") {
			name = ""
		}
		var err error
		var n uint64
		switch name {
		case "seed":
			o.Seed, err = l.integer("a seed", 1<<64-1)
		case "count":
			n, err = l.integer("how many", 1<<20)
			o.Count = int(n)
		case "within":
			err = durationInto(l, &o.Within)
		default:
			l.at = start
			err = l.expected("seed=NUMBER, count=NUMBER or within=DURATION")
		}
		if err != nil {
			return o, err
		}
		if l.rest() != "" && !l.accept(",") {
			return o, l.expected("a comma")
		}
	}
	return o, nil
}
