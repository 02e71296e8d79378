package oracle

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ibkit/ibkit/test/ibsimtest"
)

// An agreement has the results of a run that both tools must agree on.
type agreement struct {
	Code       int
	Complained bool // there is something on stderr
	Said       bool // there is something on stdout or stderr
	Stdout     string
}

// diff compares the results from two tools and returns "" if they are equal. For failed
// runs it compares the exit codes and checks that both printed a message: the C tool
// prints some errors to standard output, which ibkit uses for results only.
func diff(want, got ibsimtest.Result) string {
	of := func(r ibsimtest.Result) agreement {
		o := agreement{Code: r.Code, Said: r.Stdout+r.Stderr != ""}
		if want.Code == 0 {
			o.Complained = r.Stderr != ""
			o.Stdout = r.Stdout
		}
		return o
	}
	d := cmp.Diff(of(want), of(got))
	if d != "" && want.Stderr+got.Stderr != "" {
		d += "\nstderr of the C tool: " + want.Stderr + "\nstderr of ibkit: " + got.Stderr
	}
	return d
}

// blocks splits the iblinkinfo output into blocks, one for each node: a header and the
// following lines, which are indented or, in a comparison of two fabrics, marked.
func blocks(stdout string) []string {
	var found []string
	for line := range strings.Lines(stdout) {
		if continues(line) && len(found) > 0 {
			found[len(found)-1] += line
			continue
		}
		found = append(found, line)
	}
	return found
}

// continues reports whether a line belongs to the header before it. A node that differs
// between two fabrics has two headers, "< " and "> ".
func continues(line string) bool {
	switch {
	case strings.HasPrefix(line, "    "),
		strings.HasPrefix(line, "<     "), strings.HasPrefix(line, ">     "),
		strings.HasPrefix(line, "< numports"), strings.HasPrefix(line, "> numports"):
		return true
	}
	return false
}

func TestBlocks(t *testing.T) {
	got := blocks("Switch: 0x2 b:\n      1\n      2\nCA: a:\n      3\n> CA: c:\n>       4\n")
	want := []string{"Switch: 0x2 b:\n      1\n      2\n", "CA: a:\n      3\n", "> CA: c:\n>       4\n"}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}
