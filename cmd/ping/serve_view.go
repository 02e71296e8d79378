package ping

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"strconv"
	"time"

	"github.com/ibkit/ibkit/cmd/internal/render"
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/ping"
)

// table prints one line in total and one a source.
func (s *server) table(out *render.Output, c ping.ServeCounts) error {
	t := c.Total
	fmt.Fprintf(out, "%s at %s for %v: %d received, %d answered, %d limited, %d dropped, %d failed; %d ignored that are no pings\n",
		c.Name, printablePorts(c.Ports), c.Took.Round(time.Second), t.Received, t.Answered, t.Limited, t.Dropped, t.Failed, c.Ignored)
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
		fmt.Fprintf(out, "%d sources heard of before are in the total only\n", c.Forgotten)
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

// serveSchemaID names the form of ping --serve's JSON, which
// schema/ping-serve.json describes.
const serveSchemaID = "ibkit/ping-serve/1"

type jsonServe struct {
	Schema  string           `json:"schema"`
	Name    string           `json:"name"`
	Ports   []jsonServedPort `json:"ports"`
	Seconds float64          `json:"seconds"`
	jsonServeCounts
	Ignored   uint64       `json:"ignored"`
	Sources   []jsonSource `json:"sources"`
	Forgotten uint64       `json:"forgotten_sources"`
}

type jsonServedPort struct {
	Device string `json:"device"`
	Port   uint8  `json:"port"`
}

type jsonServeCounts struct {
	Received uint64 `json:"received"`
	Answered uint64 `json:"answered"`
	Limited  uint64 `json:"limited"`
	Dropped  uint64 `json:"dropped"`
	Failed   uint64 `json:"failed"`
}

type jsonSource struct {
	jsonServedPort
	LID *ib.LID `json:"lid"`
	GID *string `json:"gid"`
	jsonServeCounts
	First time.Time `json:"first"`
	Last  time.Time `json:"last"`
}

// json prints an object in a line of its own.
func (s *server) json(out *render.Output, c ping.ServeCounts) error {
	j := jsonServe{
		Schema:          serveSchemaID,
		Name:            render.Printable([]byte(c.Name)),
		Ports:           []jsonServedPort{},
		Seconds:         c.Took.Seconds(),
		jsonServeCounts: jsonServeCounts(c.Total),
		Ignored:         c.Ignored,
		Sources:         []jsonSource{},
		Forgotten:       c.Forgotten,
	}
	for _, p := range c.Ports {
		j.Ports = append(j.Ports, jsonServedPort(p))
	}
	for _, f := range c.Sources {
		one := jsonSource{
			jsonServedPort:  jsonServedPort{f.Device, f.Port},
			jsonServeCounts: jsonServeCounts(f.Counts),
			First:           f.First,
			Last:            f.Last,
		}
		if f.From.LID != 0 {
			one.LID = &f.From.LID
		} else {
			gid := netip.AddrFrom16(f.From.GID).String()
			one.GID = &gid
		}
		j.Sources = append(j.Sources, one)
	}
	if err := json.NewEncoder(out).Encode(j); err != nil {
		return fmt.Errorf("write output: %w", err)
	}
	return nil
}
