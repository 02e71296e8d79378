package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/ibkit/ibkit/test/ibsimtest"
)

// sweepDuration matches the sweep duration in the metrics.
var sweepDuration = regexp.MustCompile(`(?m)^ibkit_sweep_duration_seconds (\S+)$`)

// compareExporter compares sweeps by ibkit exporter with sweeps by treydock's exporter,
// which runs ibnetdiscover and then perfquery for each switch (collectors/switch.go). The
// second tool here runs the same programs without the exporter around them. ibkit serves
// the fabric, with LIDs and routes.
func compareExporter(ctx context.Context, t *table, name, dir, ours string, runs int) (err error) {
	fabric := ""
	for _, f := range servedFabrics {
		if f.name == name {
			fabric = f.fabric
		}
	}
	if fabric == "" {
		file, err := writeNet(dir, name)
		if err != nil {
			return err
		}
		fabric = "net:" + file
	}
	s, err := serve(ours, fabric)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Stop()) }()
	ibkit := filepath.Join(filepath.Dir(ours), "ibkit")
	if r, err := s.Run(ctx, "", ibkit, "sim", "ctl", currentAgents); err != nil || r.Code != 0 {
		return fmt.Errorf("sim ctl %s: exit code %d: %s, %w", currentAgents, r.Code, r.Stderr, err)
	}
	native := func(args ...string) contestant {
		args = append([]string{"exporter", "--once"}, args...)
		c := contestant{name: "ibkit " + strings.Join(args, " "), sim: s, prints: strings.Join(args, " ")}
		c.run = func(ctx context.Context, s *ibsimtest.Sim) (ibsimtest.Result, error) {
			return s.Run(ctx, "", ibkit, append(args, "--sim", "ibsim")...)
		}
		return c
	}
	// The sweep time without the text, which the second tool does not write either.
	sweep := native("--switches", "--detail-counters", "none")
	whole := sweep.run
	sweep.name = "sweep of this"
	sweep.run = func(ctx context.Context, s *ibsimtest.Sim) (ibsimtest.Result, error) {
		r, err := whole(ctx, s)
		if m := sweepDuration.FindStringSubmatch(r.Stdout); m != nil {
			seconds, _ := strconv.ParseFloat(m[1], 64)
			r.Wall = time.Duration(seconds * float64(time.Second))
		}
		return r, err
	}
	results, err := contest(ctx, []contestant{
		native("--switches", "--detail-counters", "none"), sweep, native(),
		{name: "ibnetdiscover, perfquery per switch", sim: s, run: perfqueries, prints: "counters of switches"},
	}, runs)
	if err != nil {
		return err
	}
	t.add(name, results)
	return nil
}

// currentAgents is the command that gives the agents the same capabilities as current
// switches, where PortCountersExtended has the error counters, too. ibkit sim serve
// removes the error counters, because libumad2sim.so damages the end of the attribute:
// perfquery then prints wrong errors, in the same time. Without this command, ibkit would
// read PortCounters as well, for the errors, which the other tool would not read at all.
const currentAgents = "perfcaps all 0x9300 2"

// perfqueries reads the counters of all switch ports with a link as treydock's exporter does.
func perfqueries(ctx context.Context, s *ibsimtest.Sim) (ibsimtest.Result, error) {
	began := time.Now()
	total, err := s.RunC(ctx, "", "ibnetdiscover", "--ports")
	if err != nil || total.Code != 0 {
		return total, err
	}
	ports := map[string][]string{}
	var order []string
	for line := range strings.Lines(total.Stdout) {
		// SW 1 2 0x0002c90000800000 4x HDR - CA ...
		f := strings.Fields(line)
		if len(f) < 8 || f[0] != "SW" || f[6] != "-" {
			continue
		}
		if ports[f[3]] == nil {
			order = append(order, f[3])
		}
		ports[f[3]] = append(ports[f[3]], f[2])
	}
	if len(order) == 0 {
		return total, errors.New("ibnetdiscover shows no switch")
	}
	var out strings.Builder
	for _, guid := range order {
		r, err := s.RunC(ctx, "", "perfquery", "-l", "-x", "-G", guid, strings.Join(ports[guid], ","))
		if err != nil || r.Code != 0 {
			return r, fmt.Errorf("perfquery of %s: exit code %d: %s, %w", guid, r.Code, r.Stderr, err)
		}
		out.WriteString(r.Stdout)
		total.User, total.Sys, total.MaxRSS = total.User+r.User, total.Sys+r.Sys, max(total.MaxRSS, r.MaxRSS)
	}
	total.Stdout, total.Wall = out.String(), time.Since(began)
	return total, nil
}
