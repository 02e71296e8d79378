package perf

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/cmd/internal/shared/perftestview"
	"github.com/ibkit/ibkit/perf"
	"github.com/ibkit/ibkit/perf/perftest"
)

// peerFlags is one call of perf --peer: a test with a program that is no ibkit.
type peerFlags struct {
	program string
	margin  time.Duration
	shared  int
}

func (p *peerFlags) define(env *cmdutil.Env, cmd *cobra.Command) {
	flags := cmd.Flags()
	cmdutil.EnumFlag(cmd, &p.program, "peer", "", "", []string{string(perf.Perftest), string(perf.Pingpong)}, "run one test with a `PROGRAM` of another project as the peer")
	flags.DurationVar(&p.margin, "margin", perftestview.Margin, "with --peer perftest and -D: `TIME` at either end that does not count, -f of perftest")
	flags.IntVar(&p.shared, "srq", 0, "with --peer pingpong: ibv_srq_pingpong with `N` queue pairs, its -q")
}

// peerFlagNames mean something with --peer; all others are of tests that only
// ibkit does.
var peerFlagNames = map[string]string{
	"test": "", "transport": "", "size": "", "iterations": "", "rx-depth": "", "events": "", "device": "", "ib-port": "", "gid-index": "",
	"mtu": "", "sl": "", "cpu": "", "json": "", "classic": "", "unit": "", "min-bw": "", "max-p99": "", "plot": "", "serve": "", "listen": "", "peer": "",
	"duration": "perftest", "margin": "perftest", "qps": "perftest", "bidirectional": "perftest", "tx-depth": "perftest",
	"cq-moderation": "perftest", "post-list": "perftest", "inline": "perftest", "tclass": "perftest", "pkey-index": "perftest",
	"qp-timeout": "perftest", "retry": "perftest", "verify": "pingpong", "srq": "pingpong",
}

// check looks at the flags.
func (p *peerFlags) check(flags *pflag.FlagSet) error {
	switch {
	case flags.Changed("srq") && p.shared < 1:
		return cmdutil.UsageErrorf("invalid --srq %d: it has to be above 0", p.shared)
	case p.margin < 0:
		return cmdutil.UsageErrorf("invalid --margin %v: it is below 0", p.margin)
	}
	if flags.Changed("tx-depth") && !strings.HasSuffix(flags.Lookup("test").Value.String(), "-bw") {
		return cmdutil.UsageErrorf("--tx-depth does nothing here: it is a matter of bandwidth")
	}
	var wrong error
	flags.Visit(func(f *pflag.Flag) {
		of, has := peerFlagNames[f.Name]
		if wrong == nil && (!has || of != "" && of != p.program) {
			wrong = cmdutil.UsageErrorf("%s does nothing with --peer %s: the programs have nothing of it", cmdutil.FlagName(flags, f.Name), p.program)
		}
	})
	return wrong
}

// Defaults of the programs that are not those of tests of ours.
const (
	pingpongSize     = 4096
	pingpongDatagram = 1024
)

// run does the test.
func (p *peerFlags) run(ctx context.Context, c *command, flags *pflag.FlagSet, args []string) error {
	if err := p.check(flags); err != nil {
		return err
	}
	f := &c.flags
	f.test.Warmup, f.warmup = 0, 0
	if !flags.Changed("test") {
		f.tests = "send-lat"
	}
	if p.program == string(perf.Pingpong) && f.sizes == "" {
		f.sizes = fmt.Sprint(pingpongSize)
		if f.transport == string(perf.UD) {
			f.sizes = fmt.Sprint(pingpongDatagram)
		}
	}
	o, err := c.options(flags, args)
	if err != nil {
		return err
	}
	peer := perf.PeerOptions{Options: o, Program: perf.Program(p.program), Margin: p.margin, Shared: p.shared}
	if err := p.one(flags, peer.Tests); err != nil {
		return err
	}
	if c.serve.on {
		if err := checkListen(c.serve.listen); err != nil {
			return err
		}
		listen := c.serve.listen
		if !flags.Changed("listen") {
			listen = fmt.Sprintf(":%d", perftest.Port)
		}
		peer.Listener, err = listenAt(ctx, listen)
		if err != nil {
			return err
		}
		defer peer.Listener.Close()
		fmt.Fprintf(c.env.ErrOut, "waiting for a client of %s at %v\n", p.program, peer.Listener.Addr())
	}
	peer.Done = c.view.done
	return c.show(peer.Tests, func() (*perf.Result, error) { return perf.RunPeer(ctx, peer) })
}

// one looks whether the tests are what one program does: one test, with one size
// or with all that it has, which are powers of two.
func (p *peerFlags) one(flags *pflag.FlagSet, tests []perf.Test) error {
	first := tests[0]
	for i := range tests {
		t := &tests[i]
		if t.Op == perf.Write && t.Kind == perf.Bandwidth && t.Iterations > 0 && !flags.Changed("iterations") {
			t.Iterations = perftestview.WriteIterations
		}
		switch size := t.Size; {
		case !sameTable(first, tests[i]) && (t.Op != first.Op || t.Kind != first.Kind):
			return cmdutil.UsageErrorf("a program does one test: name one with --test")
		case len(tests) > 1 && (p.program == string(perf.Pingpong) || size != sweepFrom<<i):
			return cmdutil.UsageErrorf("a program does one size or, as perftest's with -a, those of --size sweep")
		}
	}
	if last := tests[len(tests)-1].Size; len(tests) > 1 && first.Transport != perf.UD && last != sweepTo {
		return cmdutil.UsageErrorf("a program does one size or, as perftest's with -a, those of --size sweep")
	}
	return nil
}
