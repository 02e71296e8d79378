package getopt

import (
	"fmt"
	"strings"

	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
)

// InfinibandDiags is the infiniband-diags family of tools (ibdiag_common.c).
var InfinibandDiags = &Family{Usage: diagsUsage, UsageCode: cmdutil.ExitUsage, FailureCode: ExitFailure}

// Usage text columns: the first column of the descriptions, and the column
// after their last.
const (
	helpColumn = 26
	helpEnd    = 74
)

func diagsUsage(t *Tool) string {
	var b strings.Builder
	fmt.Fprintf(&b, "\nUsage: %s [options] %s\n\nOptions:\n", t.Name, t.Operands)
	for _, o := range t.Options {
		if o.Extension {
			continue
		}
		line := "  --" + o.Long
		if o.Short != 0 {
			line += ", -" + string(o.Short)
		}
		if o.Arg != "" {
			line += " " + o.Arg
		}
		if o.Help != "" {
			line = fmt.Sprintf("%-*s  ", helpColumn-2, line)
			line += wrap(len(line), helpEnd, o.Help)
		}
		b.WriteString(line + "\n")
	}
	if len(t.Examples) > 0 {
		b.WriteString("\nExamples:\n")
	}
	for _, e := range t.Examples {
		fmt.Fprintf(&b, "  %s %s\n", t.Name, e)
	}
	b.WriteByte('\n')
	return b.String()
}

// wrap breaks a text that begins in column start into lines that end before column
// end, if blanks permit it. The blank stays at the end of the line, and the last word
// is never moved to a separate line.
func wrap(start, end int, text string) string {
	var b strings.Builder
	for {
		cut := 0 // after the last blank that fits
		for {
			i := strings.IndexByte(text[cut:], ' ')
			if i < 0 {
				b.WriteString(text)
				return b.String()
			}
			if start+cut+i >= end {
				if cut == 0 {
					cut = i + 1 // a word that is wider than the column
				}
				break
			}
			cut += i + 1
		}
		b.WriteString(text[:cut] + "\n" + strings.Repeat(" ", start))
		text = text[cut:]
	}
}
