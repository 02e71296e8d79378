package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/ibkit/ibkit/test/ibsimtest"
	"github.com/ibkit/ibkit/test/netgen"
)

// sampled is the number of smpquery calls from which the time of a loop over all end ports
// is extrapolated.
const sampled = 100

// compareQueries compares a single PortInfo query for all end ports with a shell loop over
// Debian's smpquery and with a scan, and measures subnet administration tables. ibkit
// serves the fabric, because ibsim does not transfer segments.
func compareQueries(ctx context.Context, t *table, name, dir, ours string, runs int) (err error) {
	file, err := writeNet(dir, name)
	if err != nil {
		return err
	}
	s, err := serve(ours, "--rmpp", "net:"+file)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Stop()) }()
	net, err := netgen.Shapes[name].Build()
	if err != nil {
		return err
	}
	ports := len(net.Hosts) + len(net.Switches)
	ibkit := filepath.Join(filepath.Dir(ours), "ibkit")
	run := func(path string, args ...string) func(context.Context, *ibsimtest.Sim) (ibsimtest.Result, error) {
		return func(ctx context.Context, sim *ibsimtest.Sim) (ibsimtest.Result, error) {
			return sim.Run(ctx, "", path, args...)
		}
	}
	native := func(args ...string) contestant {
		c := contestant{sim: s, run: run(ibkit, args...), name: "ibkit"}
		for _, a := range args {
			c.name += " " + a
		}
		c.prints = c.name
		return c
	}
	all := fmt.Sprintf("1-%d", ports)
	loop := fmt.Sprintf("for lid in $(seq %d); do LD_PRELOAD=%s smpquery portinfo $lid; done", sampled, s.ClientLibrary())
	results, err := contest(ctx, []contestant{
		native("query", "PortInfo", all),
		native("query", "PortInfo", all, "--json"),
		{name: fmt.Sprintf("%d × smpquery portinfo LID", sampled), sim: s, run: run("/bin/sh", "-c", loop), prints: "loop"},
		native("iblinkinfo"),
	}, runs)
	if err != nil {
		return err
	}
	t.add(name, slices.Insert(results, 3, extrapolated(results[2], ports)))
	results, err = contest(ctx, []contestant{
		native("sa", "NodeRecord"), native("sa", "NodeRecord", "--json"), native("saquery", "NodeRecord"),
	}, runs)
	if err != nil {
		return err
	}
	t.add(name, results)
	return nil
}

// extrapolated returns the result of a loop over all ports, from a loop over some of them.
func extrapolated(r result, ports int) result {
	scale := func(d time.Duration) time.Duration { return d * time.Duration(ports) / sampled }
	all := result{name: fmt.Sprintf("%d × smpquery, extrapolated", ports), rss: r.rss}
	for _, s := range r.samples {
		s.wall, s.user, s.sys, s.sim = scale(s.wall), scale(s.user), scale(s.sys), scale(s.sim)
		all.samples = append(all.samples, s)
	}
	return all
}
