//go:build oracle

package oracle

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ibkit/ibkit/test/ibsimtest"
)

// diff compares what two tools did and returns "" where it is the same: the
// exit code, whether there is something on stderr, and stdout but for the
// order of nodes, which is an accident of the order of replies.
func diff(want, got ibsimtest.Result) string {
	type outcome struct {
		Code       int
		Complained bool
		Blocks     []string
	}
	of := func(r ibsimtest.Result) outcome {
		return outcome{r.Code, r.Stderr != "", blocks(r.Stdout)}
	}
	d := cmp.Diff(of(want), of(got))
	if d != "" && want.Stderr+got.Stderr != "" {
		d += "\nstderr of the C tool: " + want.Stderr + "\nstderr of ibkit: " + got.Stderr
	}
	return d
}

// blocks cuts iblinkinfo's output into blocks and sorts them. A block is what
// belongs to one node: a header and the lines below it, which are indented or,
// where two fabrics are compared, marked. In line mode each line is a block.
func blocks(stdout string) []string {
	var found []string
	for line := range strings.Lines(stdout) {
		if continues(line) && len(found) > 0 {
			found[len(found)-1] += line
			continue
		}
		found = append(found, line)
	}
	slices.Sort(found)
	return found
}

// continues reports whether a line belongs to the header before it. The
// headers of a node that differs between two fabrics are two, "< " and "> ".
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
	want := []string{"> CA: c:\n>       4\n", "CA: a:\n      3\n", "Switch: 0x2 b:\n      1\n      2\n"}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}
