package check

import (
	"fmt"
	"strings"
	"testing"
)

// twoLevels returns the output of ibnetdiscover for a fat tree with two spines. Its leaves
// have a host each, and the given link counts to each spine. LIDs begin at 1.
func twoLevels(name string, base int, uplinks ...int) string {
	const spines, hostPort = 2, 20
	var b strings.Builder
	guid := func(kind, i int) int { return base + kind + i }
	const spine, leaf, host = 0x10, 0x20, 0x30
	node := func(kind, i int, letter, word, attribute, label string) {
		g := guid(kind, i)
		fmt.Fprintf(&b, "\nsysimgguid=0x%x\n%s=0x%x(%x)\n%s\t20 \"%s-%016x\"\t# \"%s%s%d\"", g, attribute, g, g, word, letter, g, name, label, i)
		if kind != host {
			fmt.Fprintf(&b, " base port 0 lid %d lmc 0", kind+i)
		}
		b.WriteByte('\n')
	}
	link := func(port int, letter string, kind, i, peerPort int) {
		fmt.Fprintf(&b, "[%d]\t\"%s-%016x\"[%d]\t# \"x\" lid %d 4xNDR\n", port, letter, guid(kind, i), peerPort, kind+i)
	}
	for s := range spines {
		node(spine, s, "S", "Switch", "switchguid", "spine")
		for l, n := range uplinks {
			for k := range n {
				link(1+l*4+k, "S", leaf, l, 1+s*4+k)
			}
		}
	}
	for l, n := range uplinks {
		node(leaf, l, "S", "Switch", "switchguid", "leaf")
		for s := range spines {
			for k := range n {
				link(1+s*4+k, "S", spine, s, 1+l*4+k)
			}
		}
		link(hostPort, "H", host, l, 1)
	}
	for l := range uplinks {
		g := guid(host, l)
		fmt.Fprintf(&b, "\nsysimgguid=0x%x\ncaguid=0x%x\nCa\t1 \"H-%016x\"\t# \"%shost%d HCA-1\"\n[1](%x)\t\"S-%016x\"[%d]\t# lid %d lmc 0 \"x\" lid 1 4xNDR\n",
			g, g, g, name, l, g, guid(leaf, l), hostPort, host+l)
	}
	return b.String()
}

// Parts without a connection are separate subnets: each has its own structure, uplinks and
// LIDs.
func TestFabric_Parts(t *testing.T) {
	const two = "2 parts without a connection: fat tree, 2 levels; fat tree, 2 levels"
	a, b := twoLevels("a", 0x1000, 2, 2, 2), twoLevels("b", 0x2000, 1, 1, 1)
	for name, test := range map[string]struct {
		text, stage, findings string
		status                Status
		comment               string
	}{
		"no structure":          {twoLevels("a", 0x1000, 1), "tree", "", Skipped, "structure not recognized, 2 levels"},
		"one part":              {a, "tree", "", Passed, "fat tree, 2 levels"},
		"parts of other sizes":  {a + b, "tree", "", Passed, two},
		"a leaf with few links": {a + twoLevels("b", 0x2000, 2, 1, 2), "tree", "tree/few-uplinks bleaf1", Warned, two},
		"the same LIDs":         {a + b, "lids", "", Passed, ""},
		"a LID twice in a part": {a + strings.ReplaceAll(b, "lid 49 ", "lid 48 "), "lids", "lids/duplicate-lid bhost0 HCA-1[1], bhost1 HCA-1[1]", Failed, ""},
	} {
		t.Run(name, func(t *testing.T) {
			r := checkStored(t, test.text, test.stage)
			var findings []string
			for _, f := range r.Findings {
				findings = append(findings, Name(f)+" "+f.Subject)
			}
			s := stage(t, r, test.stage)
			if got := strings.Join(findings, "; "); got != test.findings || s.Status != test.status || s.Comment != test.comment {
				t.Errorf("got %q, %s, %q, want %q, %s, %q", got, s.Status, s.Comment, test.findings, test.status, test.comment)
			}
		})
	}
}
