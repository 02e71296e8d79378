// Package checklftbalance implements the script check_lft_balance from infiniband-diags.
package checklftbalance

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"os"

	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/cmd/internal/getopt"
	"github.com/ibkit/ibkit/cmd/internal/render"
	"github.com/ibkit/ibkit/cmd/internal/shared/links"
	"github.com/ibkit/ibkit/cmd/internal/shared/nosim"
	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/ib"
)

// command is a check_lft_balance call.
type command struct {
	*getopt.Diag
	tables, cache       string // paths
	heuristics, verbose bool
	sim                 bool
}

// New returns check_lft_balance.
func New(env *cmdutil.Env) *getopt.Tool {
	c := &command{Diag: getopt.NewDiag(env, "check_lft_balance")}
	return &getopt.Tool{
		Name: "check_lft_balance", Std: true,
		Family: &getopt.Family{Usage: usage, UsageToOut: true, UsageCode: cmdutil.ExitUsage, FailureCode: cmdutil.ExitFailed},
		Options: append([]getopt.Option{
			{Short: 'h', Help: "help message", Set: getopt.Usage},
			{Short: 'l', Arg: "<file>", Help: "output of dump_lfts", Set: getopt.Text(&c.tables)},
			{Short: 'i', Arg: "<file>", Help: "cache of ibnetdiscover", Set: getopt.Text(&c.cache)},
			{Short: 'e', Help: "apply heuristics to unbalanced switches", Set: getopt.True(&c.heuristics)},
			{Short: 'v', Help: "print all switches", Set: getopt.True(&c.verbose)},
		}, nosim.Options(&c.sim)...),
		Run: c.run,
	}
}

func usage(t *getopt.Tool) string {
	return "Usage: " + t.Name + ` -l lft-output -i ibnetdiscover-cache [-e] [-v]
  Generate lft-output via "dump_lfts.sh > lft-output"
  Generate ibnetdiscover-cache via "ibnetdiscover --cache ibnetdiscover-cache"
  -e turn on heuristic(s) to look at switch balances deeper
  -v verbose output, output all switches
`
}

func (c *command) run(_ context.Context, _ []string) error {
	if c.sim {
		return nosim.ErrFiles
	}
	missing := ""
	switch {
	case c.tables == "":
		missing = "dump lfts file"
	case c.cache == "":
		missing = "ibnetdiscover cache"
	}
	if missing != "" {
		fmt.Fprintf(c.Env.ErrOut, "Must specify %s\n", missing)
		return getopt.ErrUsage
	}
	names, err := c.Names(c.Env)
	if err != nil {
		return err
	}
	f, err := fabric.ReadCacheFile(c.cache)
	if err != nil {
		return err
	}
	tables, err := os.Open(c.tables)
	if err != nil {
		return fmt.Errorf("read forwarding tables: %w", err)
	}
	defer tables.Close()
	out := render.NewOutput(c.Env.Out)
	b := &balance{out: out, heuristics: c.heuristics, verbose: c.verbose, links: func(guid string) [][]byte { return linkLines(f, names, guid) }}
	lines := bufio.NewScanner(tables)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		b.line(lines.Bytes())
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("read %s: %w", c.tables, err)
	}
	b.end()
	return out.Flush()
}

// linkLines returns the lines of iblinkinfo for the switch with a GUID; nil: the cache
// does not have it. The script matches patterns with them.
func linkLines(f *fabric.Fabric, names *fabric.NameMap, guid string) [][]byte {
	p := f.PortByGUID(ib.GUID(getopt.Strtoull(guid)))
	if p == nil {
		return nil
	}
	var text bytes.Buffer
	out := render.NewOutput(&text)
	(&links.Classic{Out: out, Names: names}).Print([]*fabric.Node{p.Node})
	_ = out.Flush() // a Buffer has no errors
	return bytes.Split(text.Bytes(), []byte("\n"))
}
