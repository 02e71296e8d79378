package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/ibkit/ibkit/test/ibsimtest"
	"github.com/ibkit/ibkit/test/netgen"
)

// pings is the ping count for each tool. Each ping is sent when the reply to the last
// ping has arrived.
const pings = 20000

// manyTargets is the number of targets that share the pings.
const manyTargets = 64

// A pingContest has tools that ping in the same fabric. Debian's is the last.
type pingContest struct {
	name  string
	tools []pinging
}

// pinging is a tool that pings.
type pinging struct {
	contestant
	pings    int
	oneByOne bool // a single ping is under way at a time, so that the round trips make up the time
}

// comparePings compares ibkit ping and ibkit ibping with Debian's ibping -f.
func comparePings(ctx context.Context, w io.Writer, ours string, runs int) (err error) {
	ibkit := filepath.Join(filepath.Dir(ours), "ibkit")
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "contest\ttool\tpings/s\tof Debian's\tµs a ping\tµs by its own account\tof the former\t")
	defer t.Flush()
	for _, start := range []func(context.Context, string) (pingContest, func() error, error){
		func(ctx context.Context, ibkit string) (pingContest, func() error, error) {
			return onIbsim(ctx, ibkit, "Debian's server", func(s *ibsimtest.Sim) (*ibsimtest.Daemon, error) {
				return ibpingServer(s, "right")
			})
		},
		func(ctx context.Context, ibkit string) (pingContest, func() error, error) {
			return onIbsim(ctx, ibkit, "ibkit's server", func(s *ibsimtest.Sim) (*ibsimtest.Daemon, error) {
				return s.Start("right", "serving pings", ibkit, "ping", "--serve")
			})
		},
		onServe,
		onAgents,
	} {
		if err := comparePing(ctx, t, start, ibkit, runs); err != nil {
			return err
		}
	}
	return t.Flush()
}

func comparePing(ctx context.Context, w io.Writer, start func(context.Context, string) (pingContest, func() error, error), ibkit string, runs int) (err error) {
	c, stop, err := start(ctx, ibkit)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stop()) }()
	tools := make([]contestant, len(c.tools))
	for i, tool := range c.tools {
		tools[i] = tool.contestant
	}
	results, err := contest(ctx, tools, runs)
	if err != nil {
		return fmt.Errorf("%s: %w", c.name, err)
	}
	theirs := results[len(results)-1]
	for i, r := range results {
		tool := c.tools[i]
		took := median(r, func(s sample) time.Duration { return s.wall })
		fmt.Fprintf(w, "%s\t%s\t%.0f\t%.2f\t%.1f\t", c.name, r.name,
			float64(tool.pings)/took.Seconds(), c.faster(r, theirs, tool.pings), took.Seconds()*1e6/float64(tool.pings))
		if rtt := median(r, func(s sample) time.Duration { return s.rtt }); rtt > 0 && tool.oneByOne {
			fmt.Fprintf(w, "%.1f\t%.2f\t", rtt.Seconds()*1e6, accounted(r, tool.pings))
		} else {
			fmt.Fprint(w, "-\t-\t")
		}
		fmt.Fprintln(w)
	}
	return nil
}

// faster returns how much faster a tool is than Debian's: the median ratio over the
// rounds, in each of which both ran.
func (c *pingContest) faster(ours, theirs result, n int) float64 {
	var ratios []float64
	for i := range ours.samples {
		each := ours.samples[i].wall.Seconds() / float64(n)
		ratios = append(ratios, theirs.samples[i].wall.Seconds()/pings/each)
	}
	slices.Sort(ratios)
	return ratios[len(ratios)/2]
}

// accounted returns the sum of the round-trip times that a tool printed as a part of the
// elapsed time, start and end included: the median over the rounds.
func accounted(r result, n int) float64 {
	var parts []float64
	for _, s := range r.samples {
		parts = append(parts, s.rtt.Seconds()*float64(n)/s.wall.Seconds())
	}
	slices.Sort(parts)
	return parts[len(parts)/2]
}

// replyTimeout is the reply timeout in ms with many requests in flight: on a busy machine
// a process can be delayed for more than a second.
const replyTimeout = "10000"

// ibpingServer starts Debian's server. It reports that it is ready only with an option
// that also logs each ping, which would distort the measurement. It gets some time
// instead.
func ibpingServer(s *ibsimtest.Sim, host string) (*ibsimtest.Daemon, error) {
	d, err := s.StartC(host, "", []string{"SIM_SET_ISSM=1"}, "ibping", "-S")
	time.Sleep(2 * time.Second)
	return d, err
}

// onIbsim pings a server through ibsim.
func onIbsim(ctx context.Context, ibkit, server string, start func(*ibsimtest.Sim) (*ibsimtest.Daemon, error)) (c pingContest, stop func() error, err error) {
	s, err := ibsimtest.Start("test/nets/back-to-back.net")
	if err != nil {
		return c, nil, err
	}
	stop = s.Stop
	defer func() {
		if err != nil {
			err = errors.Join(err, stop())
		}
	}()
	if err := s.ConfigureSubnet(ctx, "left"); err != nil {
		return c, nil, err
	}
	lid, err := lidOf(ctx, s, "right")
	if err != nil {
		return c, nil, err
	}
	d, err := start(s)
	if err != nil {
		return c, nil, err
	}
	stop = func() error {
		d.Stop()
		return s.Stop()
	}
	count := strconv.Itoa(pings)
	return pingContest{"ibsim, " + server, []pinging{
		{contestant{"ibkit ping", s, pinger(ibkit, "left", "ping", "--via", "vendor", "-f", "--json", "-c", count, lid), "native", 0}, pings, true},
		{contestant{"ibkit ibping", s, pinger(ibkit, "left", "ibping", "-f", "-c", count, lid), "classic", 0}, pings, true},
		{contestant{"ibping", s, pinger("", "left", "ibping", "-f", "-c", count, lid), "classic", 0}, pings, true},
	}}, stop, nil
}

// onServe pings many targets through ibkit's simulator, which answers for them. Debian's
// tool has a single target at a time.
func onServe(ctx context.Context, ibkit string) (c pingContest, stop func() error, err error) {
	s, err := ibsimtest.StartServer(ibkit, "sim", "serve", "--ping", "all", fmt.Sprintf("single-switch:radix=%d,hosts=%d", manyTargets+1, manyTargets+1))
	if err != nil {
		return c, nil, err
	}
	lid, err := lidOf(ctx, s, "host002")
	if err != nil {
		return c, nil, errors.Join(err, s.Stop())
	}
	first, err := strconv.Atoi(lid)
	if err != nil {
		return c, nil, errors.Join(err, s.Stop())
	}
	targets := fmt.Sprintf("%d-%d", first, first+manyTargets-1)
	return pingContest{"sim serve", []pinging{
		{contestant{fmt.Sprintf("ibkit ping, %d targets", manyTargets), s, pinger(ibkit, "host001", "ping", "--via", "vendor", "-f", "-t", replyTimeout, "--json", "-c", strconv.Itoa(pings/10), targets), "native", 0}, pings / 10 * manyTargets, false},
		{contestant{"ibkit ping, 1 target", s, pinger(ibkit, "host001", "ping", "--via", "vendor", "-f", "--json", "-c", strconv.Itoa(pings), lid), "native", 0}, pings, true},
		{contestant{"ibping, 1 target", s, pinger("", "host001", "ibping", "-f", "-c", strconv.Itoa(pings), lid), "classic", 0}, pings, true},
	}}, s.Stop, nil
}

// onAgents pings all hosts in a fat tree on ibsim through their agents. Debian's tool
// pings a single host through the server that it needs.
func onAgents(ctx context.Context, ibkit string) (c pingContest, stop func() error, err error) {
	file := filepath.Join(filepath.Dir(ibkit), "agents.net")
	shape := netgen.Shapes["ft100"]
	if err := write(file, shape); err != nil {
		return c, nil, err
	}
	const here, there = "node00000 HCA-1", "node00001 HCA-1"
	s, err := ibsimtest.Start(file)
	if err != nil {
		return c, nil, err
	}
	if err := s.ConfigureSubnet(ctx, here); err != nil {
		return c, nil, errors.Join(err, s.Stop())
	}
	lid, err := lidOf(ctx, s, there)
	if err != nil {
		return c, nil, errors.Join(err, s.Stop())
	}
	d, err := ibpingServer(s, there)
	if err != nil {
		return c, nil, errors.Join(err, s.Stop())
	}
	hosts := shape.Radix / 2 * shape.Width
	each := pings / 10
	agents := func(via string) pinging {
		run := pinger(ibkit, here, "ping", "--cas", "--via", via, "-f", "-t", replyTimeout, "--json", "-c", strconv.Itoa(each))
		return pinging{contestant{fmt.Sprintf("ibkit ping --via %s, %d targets", via, hosts), s, run, "native", 0}, hosts * each, false}
	}
	return pingContest{"ibsim, agents", []pinging{
		agents("pma"), agents("sma"),
		{contestant{"ibping, 1 target", s, pinger("", here, "ibping", "-f", "-c", strconv.Itoa(pings), lid), "classic", 0}, pings, true},
	}}, func() error { d.Stop(); return s.Stop() }, nil
}

var lidLine = regexp.MustCompile(`start 0x([0-9a-f]+) `)

// lidOf returns a node's LID from Debian's ibaddr.
func lidOf(ctx context.Context, s *ibsimtest.Sim, node string) (string, error) {
	r, err := s.RunC(ctx, node, "ibaddr", "-l")
	if err != nil {
		return "", err
	}
	m := lidLine.FindStringSubmatch(" " + r.Stdout)
	if m == nil {
		return "", fmt.Errorf("%s has no LID: %s%s", node, r.Stdout, r.Stderr)
	}
	lid, err := strconv.ParseUint(m[1], 16, 16)
	return strconv.FormatUint(lid, 10), err
}

// pinger runs a ping program (Debian's if path is empty) and fails if a ping was lost.
func pinger(path, host, tool string, args ...string) func(context.Context, *ibsimtest.Sim) (ibsimtest.Result, error) {
	return func(ctx context.Context, s *ibsimtest.Sim) (r ibsimtest.Result, err error) {
		if path == "" {
			r, err = s.RunC(ctx, host, tool, args...)
		} else {
			r, err = s.Run(ctx, host, path, append([]string{tool}, args...)...)
		}
		if err == nil && !strings.Contains(r.Stdout, " 0% packet loss") && !strings.Contains(r.Stdout, `"lost":0,`) {
			err = fmt.Errorf("%s %v lost some:\n%s%s", cmp.Or(path, tool), args, r.Stdout, r.Stderr)
		}
		return r, err
	}
}

var (
	rttLine   = regexp.MustCompile(`(?m)^rtt min/avg/max = [\d.]+/([\d.]+)/`)
	rttMember = regexp.MustCompile(`"total":.*"avg_ns":(\d+),`)
)

// rttOf returns the average round-trip time in the output of ibkit's tools, or 0 for
// Debian's tools, which use a wrong clock.
func rttOf(tool string, r ibsimtest.Result) time.Duration {
	if m := rttMember.FindStringSubmatch(r.Stdout); m != nil {
		ns, err := strconv.Atoi(m[1])
		if err == nil {
			return time.Duration(ns)
		}
	}
	m := rttLine.FindStringSubmatch(r.Stdout)
	if m == nil || !strings.HasPrefix(tool, "ibkit") {
		return 0
	}
	ms, err := strconv.ParseFloat(m[1], 64)
	if err != nil {
		return 0
	}
	return time.Duration(ms * float64(time.Millisecond))
}
