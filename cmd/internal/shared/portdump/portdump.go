// Package portdump prints a PortInfo in the form of infiniband-diags.
package portdump

import (
	"bytes"
	"strings"

	"github.com/ibkit/ibkit/cmd/internal/render"
	"github.com/ibkit/ibkit/mad"
)

// added are the first fields that release 44 of infiniband-diags does not print.
const added = "LinkSpeedExtActive2:"

// Write prints the fields of release 44, one per line after a number of tabs. Without
// showKeys the M_Key is hidden.
func Write(out *render.Output, info *mad.PortInfo, tabs int, showKeys bool) error {
	var b bytes.Buffer
	if err := mad.Dump(&b, info); err != nil {
		return err
	}
	fields, _, _ := strings.Cut(b.String(), added)
	indent := strings.Repeat("\t", tabs)
	for line := range strings.Lines(fields) {
		name, value, isField := strings.Cut(line, ":")
		switch {
		case !isField: // the name of a capability
			out.WriteString(line)
			continue
		case name == "Mkey" && !showKeys:
			dots := value[:len(value)-len(strings.TrimLeft(value, "."))]
			line = name + ":" + dots + "<not displayed>\n"
		}
		out.WriteString(indent + line)
	}
	return nil
}
