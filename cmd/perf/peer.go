package perf

import (
	"context"
	"fmt"
	"net"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/cmd/internal/shared/perftestview"
	"github.com/ibkit/ibkit/internal/tool/perf"
	"github.com/ibkit/ibkit/internal/tool/perf/perftest"
	"github.com/ibkit/ibkit/rdmacm"
)

// peerFlags are the flags of perf --peer: a test with a program other than ibkit.
type peerFlags struct {
	program perf.Program
	margin  time.Duration
	shared  int
}

func (p *peerFlags) define(cmd *cobra.Command) {
	flags := cmd.Flags()
	cmdutil.EnumFlag(cmd, &p.program, "peer", "", []perf.Program{perf.Perftest, perf.Pingpong}, "run a test with another project's `PROGRAM` as the peer")
	flags.DurationVar(&p.margin, "margin", 0, "with --peer perftest -D: uncounted `TIME` at each end, its -f\n(default: a quarter of --duration, in whole seconds)")
	flags.IntVar(&p.shared, "srq", 0, "with --peer pingpong: ibv_srq_pingpong with `N` queue pairs (its -q)")
}

// peerFlagNames are the flags that --peer accepts, with the program that supports them
// if it is a single one.
var peerFlagNames = map[string]perf.Program{
	"test": "", "transport": "", "size": "", "iterations": "", "rx-depth": "", "events": "", "device": "", "ib-port": "", "gid-index": "",
	"mtu": "", "sl": "", "cpu": "", "json": "", "classic": "", "unit": "", "min-bw": "", "max-p99": "", "plot": "", "serve": "", "bind": "", "peer": "",
	"duration": perf.Perftest, "margin": perf.Perftest, "qps": perf.Perftest, "bidirectional": perf.Perftest, "tx-depth": perf.Perftest,
	"cq-moderation": perf.Perftest, "post-list": perf.Perftest, "inline": perf.Perftest, "tclass": perf.Perftest, "pkey-index": perf.Perftest,
	"rate-limit": perf.Perftest, "burst": perf.Perftest, "shared-receives": perf.Perftest, "huge": perf.Perftest, "memory": perf.Perftest, "qp-timeout": perf.Perftest, "cm": perf.Perftest, "tos": perf.Perftest, "retry": perf.Perftest, "verify": perf.Pingpong, "srq": perf.Pingpong,
}

// check validates the flags.
func (p *peerFlags) check(flags *pflag.FlagSet) error {
	switch {
	case flags.Changed("srq") && p.shared < 1:
		return cmdutil.UsageErrorf("invalid --srq %d: want at least 1", p.shared)
	case p.margin < 0:
		return cmdutil.UsageErrorf("invalid --margin %v: want at least 0s", p.margin)
	}
	if flags.Changed("tx-depth") && !strings.HasSuffix(flags.Lookup("test").Value.String(), "-bw") {
		return cmdutil.UsageErrorf("--tx-depth has no effect: it applies to bandwidth")
	}
	var wrong error
	flags.Visit(func(f *pflag.Flag) {
		program, ok := peerFlagNames[f.Name]
		if wrong == nil && (!ok || program != "" && program != p.program) {
			wrong = cmdutil.UsageErrorf("%s has no effect with --peer %s: its programs do not support it", cmdutil.FlagName(flags, f.Name), p.program)
		}
	})
	return wrong
}

// Defaults of the programs of libibverbs.
const (
	pingpongSize     = 4096
	pingpongDatagram = 1024
)

// run measures with the program.
func (p *peerFlags) run(ctx context.Context, c *command, flags *pflag.FlagSet, args []string) error {
	if err := p.check(flags); err != nil {
		return err
	}
	f := &c.flags
	f.test.Warmup, f.warmup = 0, 0
	if !flags.Changed("test") {
		f.tests = []string{"send-lat"}
	}
	if p.program == perf.Pingpong && f.sizes == "" {
		f.sizes = fmt.Sprint(pingpongSize)
		if f.transport == perf.UD {
			f.sizes = fmt.Sprint(pingpongDatagram)
		}
	}
	o, err := c.options(flags, args)
	if err != nil {
		return err
	}
	peer := perf.PeerOptions{Options: o, Program: p.program, Margin: p.margin, Shared: p.shared}
	if !flags.Changed("margin") {
		peer.Margin = -1
	}
	if err := p.setTests(flags, peer.Tests); err != nil {
		return err
	}
	if c.serve.on {
		if err := checkListen(c.serve.listen); err != nil {
			return err
		}
		at := c.serve.listen
		if !flags.Changed("bind") {
			at = fmt.Sprintf(":%d", perftest.Port)
		}
		if peer.Tests[0].CM {
			at, err := rdmacm.ResolveAddr(ctx, at)
			if err != nil {
				return &cmdutil.UsageError{Err: fmt.Errorf("invalid --bind: %w", err)}
			}
			peer.Manage = &perftest.CM{Port: at.Port(), Source: at.Addr(), Waiting: func() {
				fmt.Fprintf(c.env.ErrOut, "waiting for a client of %s at %v of the connection manager\n", p.program, at)
			}}
		}
		peer.Listen = func(ctx context.Context) (net.Listener, error) {
			l, err := listenAt(ctx, at)
			if err == nil {
				fmt.Fprintf(c.env.ErrOut, "waiting for a client of %s at %v\n", p.program, l.Addr())
			}
			return l, err
		}
	}
	peer.Done = c.view.done
	return c.show(peer.Tests, func() (*perf.Result, error) { return perf.RunPeer(ctx, peer) })
}

// setTests sets the defaults of the program. It rejects tests that a single program does
// not run: it runs one test with one size, or with the sizes of a sweep.
func (p *peerFlags) setTests(flags *pflag.FlagSet, tests []perf.Test) error {
	first := tests[0]
	oneSize := cmdutil.UsageErrorf("several sizes: a program runs a single size or, with its option -a, --size sweep")
	for i := range tests {
		t := &tests[i]
		if t.Op == perf.Write && t.Kind == perf.Bandwidth && t.Iterations > 0 && !flags.Changed("iterations") {
			t.Iterations = perftestview.WriteIterations
		}
		switch {
		case !sameTable(first, tests[i]) && (t.Op != first.Op || t.Kind != first.Kind):
			return cmdutil.UsageErrorf("several tests: a program runs a single test; select it with --test")
		case len(tests) > 1 && (p.program == perf.Pingpong || t.Size != sweepFrom<<i):
			return oneSize
		}
	}
	if last := tests[len(tests)-1].Size; len(tests) > 1 && !first.Datagrams() && last != sweepTo {
		return oneSize
	}
	return nil
}
