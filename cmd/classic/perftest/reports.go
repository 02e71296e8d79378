package perftest

import (
	"fmt"
	"io"
	"slices"

	"github.com/ibkit/ibkit/cmd/internal/shared/perftestview"
	"github.com/ibkit/ibkit/internal/fileout"
	"github.com/ibkit/ibkit/internal/tool/perf/perftest"
)

// printSamples prints all message times, and repeats the row heading.
func (c *command) printSamples(r perftest.Result, unit string, scale float64) {
	samples := r.Samples.Kept()
	if c.unsorted {
		perftestview.PrintSamples(c.out, unit, samples, scale)
	}
	if c.sorted {
		perftestview.PrintSamples(c.out, unit, slices.Sorted(slices.Values(samples)), scale)
	}
	if (c.sorted || c.unsorted) && c.output == "" {
		fmt.Fprint(c.out, perftestview.Rule)
		c.columns()
	}
}

// printBoth prints both directions' results.
func (c *command) printBoth() {
	local := c.rowOf(c.last)
	remote := perftestview.Rates{Size: c.last.Size, Gbits: c.test.Gbits, Load: local.Load}
	if r := c.last.Theirs; r != nil {
		remote.Size, remote.Iterations = int(r.Size), r.Iterations
		remote.Peak, remote.Average, remote.Messages = r.Peak, r.Average, r.MsgRate
	}
	for _, side := range []struct {
		title string
		rates perftestview.Rates
	}{{"Local", local}, {"Remote", remote}} {
		if side.title == "Local" {
			fmt.Fprint(c.out, perftestview.Rule)
		}
		fmt.Fprintf(c.out, "\n %s results: \n%s", side.title, perftestview.Rule)
		c.columns()
		side.rates.Print(c.out)
		if side.title == "Local" {
			fmt.Fprint(c.out, perftestview.Rule)
		}
	}
}

// writeJSON writes the --out_json file. Each size replaces it, as in perftest.
func (c *command) writeJSON(results []perftestview.Member) {
	if !c.json {
		return
	}
	info := c.header.Members()
	if err := fileout.Write(c.jsonFile, func(w io.Writer) error { return perftestview.PrintJSON(w, info, results) }); err != nil {
		c.fail(err)
	}
}
