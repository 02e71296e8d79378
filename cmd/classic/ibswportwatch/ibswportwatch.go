// Package ibswportwatch implements ibswportwatch from infiniband-diags. It repeats the
// perfquery requests to a single port and prints differences as the original script does,
// without a scan.
package ibswportwatch

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/cmd/internal/getopt"
	"github.com/ibkit/ibkit/cmd/internal/shared/pma"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/umad"
)

// defaultPause is the time between two reads in seconds without -p.
const defaultPause = 10

// maxPause is the largest -p value: a week.
const maxPause = 7 * 24 * 3600

// command is an ibswportwatch call.
type command struct {
	*getopt.Diag
	pause   float64 // seconds
	cycles  int     // negative: without end
	verbose bool
	rates   bool // traffic rates
}

// New returns ibswportwatch.
func New(env *cmdutil.Env) *getopt.Tool {
	c := &command{Diag: getopt.NewDiag(env, "perfquery"), pause: defaultPause, cycles: -1}
	return &getopt.Tool{
		Name: "ibswportwatch", Std: true,
		Family: &getopt.Family{Usage: usage, UsageToOut: true, UsageCode: cmdutil.ExitUsage, FailureCode: getopt.ExitFailure},
		Options: append([]getopt.Option{
			{Short: 'p', Arg: "<pause_time>", Help: "seconds between two reads", Set: c.setPause},
			{Short: 'v', Help: "be verbose", Set: getopt.True(&c.verbose)},
			{Short: 'n', Arg: "<cycles>", Help: "number of cycles", Set: func(value string) error {
				c.cycles = getopt.Strtol(value)
				return nil
			}},
			{Short: 'G', Help: "the address is a GUID", Set: getopt.True(&c.ByGUID)},
			{Short: 'b', Help: "report the rates of data and packets", Set: getopt.True(&c.rates)},
			{Short: 'h', Help: "help message", Set: getopt.Usage},
		}, getopt.SimOptions(&c.Settings)...),
		Run: c.run,
	}
}

func (c *command) setPause(value string) error {
	seconds, err := strconv.ParseFloat(value, 64)
	if err != nil || !(seconds > 0 && seconds <= maxPause) {
		return cmdutil.UsageErrorf("got %q, want seconds up to %d", value, maxPause)
	}
	c.pause = seconds
	return nil
}

func usage(t *getopt.Tool) string {
	return "Usage: " + t.Name + " [-p <pause_time> -b -v -n <cycles> -G] <guid|lid> <port>\n" +
		"   Attempt to diagnose a problem on a port\n" +
		"   Run this on a link while a job is running which utilizes that link.\n" +
		"   -p <pause_time> define the ammount of time between counter polls (default " + strconv.Itoa(defaultPause) + ")\n" +
		"   -v Be verbose\n" +
		"   -n <cycles> run n cycles then exit (default -1 == forever)\n" +
		"   -G Address provided is a GUID\n" +
		"   -b report bytes/second packets/second\n"
}

// watched are the counters in -v order.
var watched = []string{
	"SymbolErrorCounter", "LinkErrorRecoveryCounter", "LinkDownedCounter", "PortRcvErrors",
	"PortRcvRemotePhysicalErrors", "PortRcvSwitchRelayErrors", "PortXmitDiscards",
	"PortXmitConstraintErrors", "PortRcvConstraintErrors", "LocalLinkIntegrityErrors",
	"ExcessiveBufferOverrunErrors", "VL15Dropped",
	"PortXmitData", "PortRcvData", "PortXmitPkts", "PortRcvPkts",
}

// limited are the counters with a reported rate. A rate above maxRate per
// second is excessive.
var limited = []string{"SymbolErrorCounter", "LinkErrorRecoveryCounter", "PortRcvErrors", "PortXmitDiscards", "LocalLinkIntegrityErrors"}

const maxRate = 10

// traffic are the -b counters.
var traffic = watched[len(watched)-4:]

// values are port counters by name.
type values map[string]uint64

func (c *command) run(ctx context.Context, operands []string) error {
	port, err := c.CompleteAndOpen(ctx)
	if err != nil {
		return err
	}
	defer port.Close()
	caller, client := pma.New(ctx, c.Diag, port)
	attr := port.Attr()
	agent := &pma.Agent{Caller: caller, To: umad.Target{LID: attr.LID, SL: attr.SMSL}}
	number := int(attr.Number)
	if len(operands) > 0 {
		if agent.To, err = c.Destination(ctx, client, operands[0]); err != nil {
			return err
		}
		number = 0
	}
	if len(operands) > 1 {
		number = int(int32(getopt.Strtoull(operands[1])))
	}
	return c.watch(ctx, agent, number)
}

// watch reads port counters and prints their rates.
func (c *command) watch(ctx context.Context, agent *pma.Agent, port int) error {
	before, err := c.read(agent, port)
	if err != nil {
		return err
	}
	for cycle := 0; c.cycles < 0 || cycle < c.cycles; cycle++ {
		fmt.Fprintln(c.Env.Out, "Checking counts...")
		pause := time.NewTimer(time.Duration(c.pause * float64(time.Second)))
		select {
		case <-ctx.Done():
			pause.Stop()
			return ctx.Err()
		case <-pause.C:
		}
		now, err := c.read(agent, port)
		if err != nil {
			return err
		}
		c.print(before, now)
		before = now
	}
	return nil
}

func (c *command) read(agent *pma.Agent, port int) (values, error) {
	err := agent.Describe(port, false)
	var counts *mad.PortCounters
	if err == nil {
		counts, err = agent.Read(port)
	}
	if err != nil {
		return nil, fmt.Errorf("read counters of %v port %d: %w", agent.To, port, err)
	}
	v := values{}
	mad.Visit(counts, func(name string, _ int, n uint64) uint64 {
		v[name] = n
		return n
	})
	return v, nil
}

// print prints the increases in a cycle.
func (c *command) print(before, now values) {
	out := c.Env.Out
	rate := func(name string) float64 { return (float64(now[name]) - float64(before[name])) / c.pause }
	for _, name := range limited {
		switch r := rate(name); {
		case r > maxRate:
			fmt.Fprintf(out, "Detected excessive rate for %s (%.15g cnts/sec)\n", name, r)
		case r > 0:
			fmt.Fprintf(out, "Detected rate for %s (%.15g cnts/sec)\n", name, r)
		}
	}
	if c.rates {
		for _, name := range traffic {
			fmt.Fprintf(out, "   %.15g %s/second\n", rate(name), name)
		}
	}
	if c.verbose {
		fmt.Fprint(out, "   Counter\t\t\tNew ==> Old\n")
		for _, name := range watched {
			fmt.Fprintf(out, "   %s\t\t\t%d ==> %d\n", name, now[name], before[name])
		}
	}
}
