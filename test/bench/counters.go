package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/ibkit/ibkit/test/ibsimtest"
)

// A served fabric is a fabric in ibkit's simulator, with delays.
type servedFabric struct{ name, fabric, events string }

// servedFabrics are the fabrics on which the agents need 20 µs per packet.
var servedFabrics = []servedFabric{
	{name: "users", fabric: "fat-tree:levels=2,radix=60,pods=30,hosts=30,spines=30"},
	{name: "dead", fabric: "fat-tree:levels=2,radix=60,pods=30,hosts=30,spines=30", events: deadHosts(10)},
	{name: "slow", fabric: slowFabric},
}

// deadHosts returns events after which some hosts do not respond.
func deadHosts(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "0s hang host%05d\n", 101+80*i)
	}
	return b.String()
}

// compareCounters compares the counters of a whole fabric: on ibsim, with a subnet that
// opensm configures, or on ibkit's simulator.
func compareCounters(ctx context.Context, t *table, name, dir, ours string, runs int) (err error) {
	var s *ibsimtest.Sim
	start := func() error {
		for _, f := range servedFabrics {
			if f.name == name {
				s, err = f.serve(dir, ours)
				return err
			}
		}
		if s, err = startNet(dir, name); err != nil {
			return err
		}
		return s.ConfigureSubnet(ctx, "")
	}
	if err := start(); err != nil {
		if s != nil {
			err = errors.Join(err, s.Stop())
		}
		return err
	}
	defer func() { err = errors.Join(err, s.Stop()) }()
	results, err := contest(ctx, counterTools(s, ours, name), runs)
	if err != nil {
		return err
	}
	t.add(name, results)
	return nil
}

// serve starts ibkit's simulator.
func (f servedFabric) serve(dir, ours string) (*ibsimtest.Sim, error) {
	args := []string{"--sim-model", slowModel}
	if f.events != "" {
		args[1] += ",timeout=1s" // like a kernel
		file := filepath.Join(dir, "events")
		if err := writeText(file, f.events); err != nil {
			return nil, err
		}
		args = append(args, "--sim-events", file)
	}
	return serve(ours, append(args, f.fabric)...)
}

// counterTools returns ibkit under its native and its classic name, and the C tool with
// the default window and with 16 requests in flight. Without an SA it does not start,
// except with --skip-sl.
func counterTools(s *ibsimtest.Sim, ours, name string) []contestant {
	ibkit := filepath.Join(filepath.Dir(ours), "ibkit")
	run := func(args ...string) func(context.Context, *ibsimtest.Sim) (ibsimtest.Result, error) {
		return func(ctx context.Context, s *ibsimtest.Sim) (ibsimtest.Result, error) {
			return s.Run(ctx, "", ibkit, args...)
		}
	}
	code := 0
	if strings.Contains(name, "dead") {
		code = 4
	}
	all := []contestant{
		{name: "ibkit counters", sim: s, run: run("counters", "--sim", "ibsim"), prints: "native", code: code},
		{name: "ibkit counters --data", sim: s, run: run("counters", "--sim", "ibsim", "--data"), prints: "data", code: code},
		{name: "ibkit ibqueryerrors", sim: s, run: run("ibqueryerrors", "--sim", "ibsim", "--skip-sl"), prints: "errors"},
		{name: "ibqueryerrors", sim: s, run: peer("ibqueryerrors", "--skip-sl"), prints: "errors"},
		{name: "ibqueryerrors -o 16", sim: s, run: peer("ibqueryerrors", "--skip-sl", "-o", "16"), prints: "errors"},
	}
	if code == 0 {
		all = append(all, contestant{name: "ibqueryerrors --counters -o 16", sim: s, run: peer("ibqueryerrors", "--skip-sl", "--counters", "-o", "16"), prints: "counters"})
	}
	return all
}
