package ping

import (
	"fmt"
	"strconv"
	"time"

	"github.com/ibkit/ibkit/cmd/internal/render"
	"github.com/ibkit/ibkit/internal/plural"
	"github.com/ibkit/ibkit/ping"
)

// table prints one line in total and one a source.
func (s *server) table(out *render.Output, c ping.ServeCounts) error {
	t := c.Total
	fmt.Fprintf(out, "%s at %s for %v: %d received, %d answered, %d limited, %d dropped, %d failed; %d ignored, which are not pings\n",
		c.Name, printablePorts(c.Ports), c.Duration.Round(time.Second), t.Received, t.Answered, t.Limited, t.Dropped, t.Failed, c.Ignored)
	if len(c.Sources) == 0 {
		return nil
	}
	var rows [][]string
	for _, f := range c.Sources {
		rows = append(rows, append([]string{f.From.String(), portName(f.Device, f.Port)},
			numbers(f.Received, f.Answered, f.Limited, f.Dropped, f.Failed)...))
		rows[len(rows)-1] = append(rows[len(rows)-1], f.Last.Format(render.TimeFormat))
	}
	if err := render.Table(out, []string{"SOURCE", "PORT", "RECEIVED", "ANSWERED", "LIMITED", "DROPPED", "FAILED", "LAST"}, rows); err != nil {
		return err
	}
	if c.Forgotten > 0 {
		fmt.Fprintf(out, "not listed, but in the total: %s heard of before\n", plural.Count(int(c.Forgotten), "source", "sources"))
	}
	return nil
}

func numbers(n ...uint64) []string {
	var texts []string
	for _, n := range n {
		texts = append(texts, strconv.FormatUint(n, 10))
	}
	return texts
}

// json prints a JSON object on one line.
func (s *server) json(out *render.Output, c ping.ServeCounts) error {
	report := c.Report()
	report.Name = render.Printable([]byte(report.Name))
	render.WriteLine(out, report)
	return nil
}
