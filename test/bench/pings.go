package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/ibkit/ibkit/test/ibsimtest"
)

// pings is how many each tool sends, the next as soon as the reply is in.
const pings = 20000

// manyTargets are pinged at once, each by as many as make up pings.
const manyTargets = 64

// A pingContest is tools that ping in the same fabric, Debian's last.
type pingContest struct {
	name  string
	tools []contestant
}

// comparePings compares ibkit ping and its ibping with Debian's ibping -f.
func comparePings(ctx context.Context, w io.Writer, ours string, runs int) (err error) {
	ibkit := filepath.Join(filepath.Dir(ours), "ibkit")
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "contest\ttool\tpings/s\tof Debian's\tµs a ping\tµs by its own account\tof the former\t")
	for _, start := range []func(context.Context, string) (pingContest, func() error, error){
		func(ctx context.Context, ibkit string) (pingContest, func() error, error) {
			return onIbsim(ctx, ibkit, "Debian's server", func(s *ibsimtest.Sim) (*ibsimtest.Daemon, error) {
				return s.StartC("right", "starting to serve", []string{"SIM_SET_ISSM=1"}, "ibping", "-S", "-d")
			})
		},
		func(ctx context.Context, ibkit string) (pingContest, func() error, error) {
			return onIbsim(ctx, ibkit, "ibkit's server", func(s *ibsimtest.Sim) (*ibsimtest.Daemon, error) {
				return s.Start("right", "serving pings", ibkit, "ping", "--serve")
			})
		},
		onServe,
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
	results, err := contest(ctx, c.tools, runs)
	if err != nil {
		return fmt.Errorf("%s: %w", c.name, err)
	}
	wall := func(s sample) time.Duration { return s.wall }
	theirs := median(results[len(results)-1], wall)
	for _, r := range results {
		took := median(r, wall)
		fmt.Fprintf(w, "%s\t%s\t%.0f\t%.2f\t%.1f\t", c.name, r.name,
			pings/took.Seconds(), theirs.Seconds()/took.Seconds(), took.Seconds()*1e6/pings)
		if rtt := median(r, func(s sample) time.Duration { return s.rtt }); rtt > 0 {
			fmt.Fprintf(w, "%.1f\t%.2f\t", rtt.Seconds()*1e6, rtt.Seconds()*pings/took.Seconds())
		} else {
			fmt.Fprint(w, "-\t-\t")
		}
		fmt.Fprintln(w)
	}
	return nil
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
	return pingContest{"ibsim, " + server, []contestant{
		{"ibkit ping", s, pinger(ibkit, "left", "ping", "--via", "vendor", "-f", "-q", "-c", count, lid), "native"},
		{"ibkit ibping", s, pinger(ibkit, "left", "ibping", "-f", "-c", count, lid), "classic"},
		{"ibping", s, pinger("", "left", "ibping", "-f", "-c", count, lid), "classic"},
	}}, stop, nil
}

// onServe pings many targets through ibkit's simulator, which answers for them;
// Debian's tool has one target at a time.
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
	return pingContest{fmt.Sprintf("sim serve, %d targets", manyTargets), []contestant{
		{"ibkit ping", s, pinger(ibkit, "host001", "ping", "--via", "vendor", "-f", "-q", "-c", strconv.Itoa(pings/manyTargets), fmt.Sprintf("%d-%d", first, first+manyTargets-1)), "native"},
		{"ibping, 1 target", s, pinger("", "host001", "ibping", "-f", "-c", strconv.Itoa(pings), lid), "classic"},
	}}, s.Stop, nil
}

var lidLine = regexp.MustCompile(`start 0x([0-9a-f]+) `)

// lidOf asks Debian's ibaddr for the LID of a node.
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

// pinger runs a program that pings, Debian's where path is empty, and fails
// where a ping was lost.
func pinger(path, host, tool string, args ...string) func(context.Context, *ibsimtest.Sim) (ibsimtest.Result, error) {
	return func(ctx context.Context, s *ibsimtest.Sim) (r ibsimtest.Result, err error) {
		if path == "" {
			r, err = s.RunC(ctx, host, tool, args...)
		} else {
			r, err = s.Run(ctx, host, path, append([]string{tool}, args...)...)
		}
		if err == nil && !strings.Contains(r.Stdout, " 0% packet loss") && !strings.Contains(r.Stdout, " 0% loss") {
			err = fmt.Errorf("%s %v lost some:\n%s%s", cmp.Or(path, tool), args, r.Stdout, r.Stderr)
		}
		return r, err
	}
}

var rttLine = regexp.MustCompile(`(?m)^rtt min/avg/max = [\d.]+/([\d.]+)/`)

// rttOf returns the average round trip that ibkit's ibping printed; 0 where
// nothing did. Debian's is none: its clock is wrong.
func rttOf(tool string, r ibsimtest.Result) time.Duration {
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
