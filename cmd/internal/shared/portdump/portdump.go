// Package portdump prints a PortInfo in the form of infiniband-diags.
package portdump

import (
	"bytes"
	"strings"

	"github.com/ibkit/ibkit/cmd/internal/render"
	"github.com/ibkit/ibkit/mad"
)

// Write prints the fields, each on a line after a number of tabs. Without showKeys the M_Key
// is hidden.
func Write(out *render.Output, info *mad.PortInfo, tabs int, showKeys bool) error {
	var b bytes.Buffer
	if err := mad.Dump(&b, mad.WithKeys(info)); err != nil {
		return err
	}
	indent := strings.Repeat("\t", tabs)
	for line := range strings.Lines(b.String()) {
		if !strings.Contains(line, ":") { // the name of a capability
			out.WriteString(line)
			continue
		}
		out.WriteString(indent + withoutKey(line, showKeys))
	}
	return nil
}

// withoutKey replaces the M_Key in a line.
func withoutKey(line string, showKeys bool) string {
	name, value, _ := strings.Cut(line, ":")
	if name != "Mkey" || showKeys {
		return line
	}
	dots := value[:len(value)-len(strings.TrimLeft(value, "."))]
	return name + ":" + dots + "<not displayed>\n"
}

// WriteFields prints some fields, in the order of their names. Without showKeys the M_Key
// is hidden.
func WriteFields(out *render.Output, info *mad.PortInfo, names []string, showKeys bool) error {
	var b bytes.Buffer
	if err := mad.Dump(&b, mad.WithKeys(info)); err != nil {
		return err
	}
	lines := map[string]string{}
	for line := range strings.Lines(b.String()) {
		name, _, _ := strings.Cut(line, ":")
		lines[name] = line
	}
	for _, name := range names {
		out.WriteString(withoutKey(lines[name], showKeys))
	}
	return nil
}
