package counters

import (
	"fmt"
	"strings"

	"github.com/ibkit/ibkit/cmd/internal/render"
	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/mad"
)

// printLanes writes the counters by virtual lane and service level that are not 0, one
// line per port and attribute.
func printLanes(out *render.Output, rows []row, names *fabric.NameMap) {
	for _, w := range rows {
		if w.Now == nil || w.Now.Details == nil {
			continue
		}
		for _, a := range w.Now.Details.Lanes {
			var values []string
			mad.Visit(a, func(name string, width int, v uint64) uint64 {
				if v == 0 || name == "PortSelect" || name == "CounterSelect" {
					return v
				}
				value := fmt.Sprintf("%s %d", name, v)
				if v == 1<<width-1 {
					value += saturated
				}
				values = append(values, value)
				return v
			})
			if len(values) > 0 {
				fmt.Fprintf(out, "%s: %s\n", names.PortName(w.Port.Port), strings.Join(values, ", "))
			}
		}
	}
}
