package linkinfo

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ibkit/ibkit/cmd/internal/cmdtest"
	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
)

// A link is a single row, whichever of its ends differ.
func TestLinkinfo_Diff(t *testing.T) {
	cache := filepath.Join(t.TempDir(), "cache")
	program.Run(t, nil, "linkinfo", "--sim", "demo", "--save", cache)
	for _, test := range []struct {
		name, events, args string
		code               int
		want               string
	}{
		{"equal", "", "", cmdutil.ExitOK, "no differences\n"},
		{"lost", "unlink leaf1[1]", "", cmdutil.ExitFindings, `CHANGE  NODE      PEER       BEFORE         NOW
lost    leaf1[1]  spine1[1]  2X NDR Active  Down/Polling
1 link lost
`},
		{"swapped", "unlink leaf1[5];unlink leaf1[6];link leaf1[5] node04[1];link leaf1[6] node03[1]", "", cmdutil.ExitFindings,
			`CHANGE  NODE      PEER       BEFORE         NOW
lost    leaf1[5]  node03[1]  4X NDR Active  -
added   leaf1[5]  node04[1]  -              4X NDR Active
lost    leaf1[6]  node04[1]  4X NDR Active  -
added   leaf1[6]  node03[1]  -              4X NDR Active
2 links lost, 2 links added
`},
		{"lost host", "unlink leaf1[5]", "", cmdutil.ExitFindings, `CHANGE  NODE      PEER       BEFORE         NOW
lost    leaf1[5]  node03[1]  4X NDR Active  Down/Polling
lost    node03    -          CA, 1 port     -
1 link lost, 1 node with differences
`},
		{"only down", "unlink leaf1[5]", "--down", cmdutil.ExitFindings, `CHANGE  NODE      PEER       BEFORE         NOW
lost    leaf1[5]  node03[1]  4X NDR Active  Down/Polling
1 link lost
`},
		{"renamed", "describe node03 x", "--diffcheck nodedesc", cmdutil.ExitFindings, `CHANGE   NODE  PEER  BEFORE    NOW
changed  x     -     "node03"  "x"
1 node with differences
`},
	} {
		t.Run(test.name, func(t *testing.T) {
			var events strings.Builder
			for e := range strings.SplitSeq(test.events, ";") {
				if e != "" {
					events.WriteString("0s " + e + "\n")
				}
			}
			args := append([]string{"linkinfo", "--sim", "demo", "--diff", cache}, strings.Fields(test.args)...)
			if events.Len() > 0 {
				args = append(args, "--sim-events", cmdtest.WriteFile(t, events.String()))
			}
			code, out, err := program.Run(t, nil, args...)
			if code != test.code || out != test.want || err != "" {
				t.Errorf("got exit code %d, error output %q and\n%s\nwant %d and\n%s", code, err, out, test.code, test.want)
			}
		})
	}
}

// Nodes that only one of the fabrics has, in either direction, and the records of the subnet
// manager.
func TestLinkinfo_DiffNodes(t *testing.T) {
	cache := filepath.Join(t.TempDir(), "cache")
	program.Run(t, nil, "linkinfo", "--sim", "demo", "--sim-events", cmdtest.WriteFile(t, "0s unlink leaf1[5]\n"), "--save", cache)
	_, out, _ := program.Run(t, nil, "linkinfo", "--sim", "demo", "--diff", cache)
	const want = `CHANGE  NODE      PEER       BEFORE        NOW
added   leaf1[5]  node03[1]  Down/Polling  4X NDR Active
added   node03    -          -             CA, 1 port
1 link added, 1 node with differences
`
	if out != want {
		t.Errorf("got\n%s\nwant\n%s", out, want)
	}
	_, out, _ = program.Run(t, nil, "linkinfo", "--sim", "demo,sm=off", "--diff", cache, "--node", "spine1", "--diffcheck", "state,lid")
	const inactive = `CHANGE   NODE       PEER      BEFORE         NOW
changed  spine1     -         LID 1          LID 0
changed  spine1[1]  leaf1[1]  2X NDR Active  2X NDR Initialize/LinkUp
changed  spine1[2]  leaf2[1]  4X NDR Active  4X NDR Initialize/LinkUp
changed  spine1[3]  leaf3[1]  4X NDR Active  4X NDR Initialize/LinkUp
changed  spine1[4]  leaf4[1]  4X NDR Active  4X NDR Initialize/LinkUp
4 links changed, 1 node with differences
`
	if out != inactive {
		t.Errorf("got\n%s\nwant\n%s", out, inactive)
	}
	code, out, _ := program.Run(t, nil, "linkinfo", "--sim", "demo", "--compare")
	if code != cmdutil.ExitOK || out != "no differences\n" {
		t.Errorf("got exit code %d and %q, want no differences from the records", code, out)
	}
}

// A damaged cache is compared as far as it can be read: nodes that it lacks are no difference.
func TestLinkinfo_DamagedDiff(t *testing.T) {
	cache := filepath.Join(t.TempDir(), "cache")
	program.Run(t, nil, "linkinfo", "--sim", "demo", "--save", cache)
	whole, err := os.ReadFile(cache)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(cache, whole[:len(whole)*3/4], 0o600); err != nil {
		t.Fatal(err)
	}
	code, out, warnings := program.Run(t, nil, "linkinfo", "--sim", "demo", "--diff", cache)
	want := "warning: the fabric stored in " + cache + " is partial: parts of the file could not be read\nwarning: read cache " + cache + ": offset 8: got "
	if code != cmdutil.ExitPartial || out != "partial result, no differences\n" || !strings.HasPrefix(warnings, want) {
		t.Errorf("got exit code %d, output %q, warnings %s\nwant %d, no differences, and %s", code, out, warnings, cmdutil.ExitPartial, want)
	}
	code, out, _ = program.Run(t, nil, "linkinfo", "--sim", "demo", "--sim-events", cmdtest.WriteFile(t, "0s unlink leaf1[4]\n"), "--diff", cache)
	if code != cmdutil.ExitPartial || !strings.Contains(out, "lost    node02  -     CA, 1 port  -\n") || strings.Contains(out, "added") {
		t.Errorf("with a lost link: got exit code %d, output\n%s", code, out)
	}
}
