//go:build oracle

package oracle

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/sim"
	"github.com/ibkit/ibkit/test/ibsimtest"
	"github.com/ibkit/ibkit/umad"
	"github.com/ibkit/ibkit/umad/ibsim"
)

// saRig is the same fabric in ibsim with opensm, and in ibkit's simulator with its own
// subnet administration, with the same LIDs and the subnet manager at the same port.
type saRig struct {
	theirs *ibsimtest.Sim
	topo   string // fabric for ibkit's simulator: the ibnetdiscover output
}

func newSARig(t *testing.T) *saRig {
	t.Helper()
	r := &saRig{theirs: ibsimtest.New(t, "/usr/share/doc/ibsim-utils/net-examples/net.2sw2path4hca2port")}
	// ibnetdiscover prints the adapter that it runs on last. ibkit's subnet manager is at
	// the first adapter.
	r.theirs.NewSM(t, "Hca2")
	r.topo = "topo:" + filepath.Join(t.TempDir(), "topo")
	topo := r.theirs.MustRunC(t, "Hca1", "ibnetdiscover")
	if topo.Code != 0 {
		t.Fatalf("ibnetdiscover: %s", topo.Stderr)
	}
	if err := os.WriteFile(strings.TrimPrefix(r.topo, "topo:"), []byte(topo.Stdout), 0o666); err != nil {
		t.Fatal(err)
	}
	return r
}

// Differences between the simulators: capabilities, table sizes, ages, and how opensm and
// ibkit distribute routes with equal length.
var saDifferent = regexp.MustCompile(`(?m)^\s*(Capability mask|capability_mask|ActCount|partition_cap|revision|mtu|` +
	`LinearFDBCap|LifeTimeValue|PartitionEnforcementCap|flags|MulticastFDBTop)\b.*\n`)

// TestSaquery sends the same queries with Debian's saquery to both administrations, for
// records that fit in a single packet.
func TestSaquery(t *testing.T) {
	r := newSARig(t)
	ours := serveLive(t, r.topo)
	for _, line := range []string{
		"-c", "CPI", "-s",
		"NR 1", "NR 2", "NR 3", "NR 6", "NR 77",
		"SMIR", "SMIR 1", "SMIR 2",
		"SWIR 2", "SWIR 3", "SWIR 1",
		"-x", "LR 1", "LR 2", "LR 2/3", "LR 3/5 2/5", "LR 2/6",
		"--src-to-dst 1:2", "--src-to-dst 1:4", "--src-to-dst 2:3", "--src-to-dst 5:6", "--src-to-dst 3:3", "--src-to-dst 1:99",
		"-p --slid 1 --dlid 6 -r 1", "-p --slid 1 --dlid 6 --sl 1", "-p --slid 1 --dlid 6 -R 3", "-p --slid 1 --dlid 6 -R 67",
		"PKTR 1", "--smkey 1 PKTR 1/1/0", "SL2VL 1", "GIR 1/0", "GIR 2/0",
		"-S", "-I", "-g", "-m", "MCMR", "MFTR", "LFTR 2/9",
		"PIR 1/9",
	} {
		t.Run(line, func(t *testing.T) {
			args := strings.Fields(line)
			want := r.theirs.MustRunC(t, "Hca1", "saquery", args...)
			got := ours.MustRunC(t, "Hca1", "saquery", args...)
			for _, p := range []*ibsimtest.Result{&want, &got} {
				p.Stdout = sortRecords(saDifferent.ReplaceAllString(p.Stdout, ""))
			}
			if d := diff(want, got); d != "" {
				t.Errorf("opensm (-), ibkit (+)\n%s", d)
			}
		})
	}
}

// sortRecords sorts the records in the saquery output: their order depends on an
// administration's internal order.
func sortRecords(stdout string) string {
	var found []string
	for line := range strings.Lines(stdout) {
		if strings.HasPrefix(line, "\t") && len(found) > 0 {
			found[len(found)-1] += line
			continue
		}
		found = append(found, line)
	}
	slices.Sort(found)
	return strings.Join(found, "")
}

// tableOf reads records from a port's administration.
func tableOf[T any, R interface {
	*T
	mad.Attribute
}](t *testing.T, p umad.Port, match R, fields ...any) ([]T, bool) {
	t.Helper()
	c := umad.NewClient(p, umad.ClientOptions{})
	table, err := c.GetTable(t.Context(), &umad.TableRequest{Match: match, Mask: mad.Components(match, fields...)})
	if err != nil {
		t.Fatal(err)
	}
	all, err := umad.Records[T, R](table)
	if err != nil {
		t.Fatal(err)
	}
	return all, table.Clipped
}

// TestTables compares the tables that ibkit's client reads from opensm and from ibkit's
// administration in the same process, which answers in segments.
func TestTables(t *testing.T) {
	r := newSARig(t)
	_, socket, _ := strings.Cut(r.theirs.Env()[0], "=")
	theirs, err := ibsim.Open(t.Context(), ibsim.Options{SockName: socket, Node: "Hca1"})
	if err != nil {
		t.Fatal(err)
	}
	defer theirs.Close()
	f, err := sim.Build(r.topo)
	if err != nil {
		t.Fatal(err)
	}
	ours, err := f.Open("Hca1")
	if err != nil {
		t.Fatal(err)
	}

	byPorts := func(a, b mad.LinkRecord) int {
		return slices.Compare(
			[]int{int(a.FromLID), int(a.FromPort), int(a.ToLID), int(a.ToPort)},
			[]int{int(b.FromLID), int(b.FromPort), int(b.ToLID), int(b.ToPort)})
	}
	want, clipped := tableOf(t, theirs, &mad.LinkRecord{})
	got, cut := tableOf(t, ours, &mad.LinkRecord{})
	slices.SortFunc(want, byPorts)
	slices.SortFunc(got, byPorts)
	if d := cmp.Diff(want, got); d != "" || len(want) != 12 || clipped || cut {
		t.Errorf("links: opensm (-), ibkit (+)\n%s", d)
	}

	if nodes, clipped := tableOf(t, theirs, &mad.NodeRecord{}); len(nodes) != 1 || !clipped {
		t.Errorf("opensm's table of nodes has %d records, clipped %v", len(nodes), clipped)
	}
	nodes, _ := tableOf(t, ours, &mad.NodeRecord{})
	if len(nodes) != 6 {
		t.Fatalf("%d nodes", len(nodes))
	}
	for _, n := range nodes {
		q := mad.NodeRecord{LID: n.LID}
		same, _ := tableOf(t, theirs, &q, &q.LID)
		if len(same) != 1 {
			t.Fatalf("opensm has %d nodes with LID %d", len(same), n.LID)
		}
		// The nodes of the simulators differ in these fields.
		same[0].NodeInfo.PartitionCap, same[0].NodeInfo.Revision = n.NodeInfo.PartitionCap, n.NodeInfo.Revision
		if d := cmp.Diff(same[0], n); d != "" {
			t.Errorf("LID %d: opensm (-), ibkit (+)\n%s", n.LID, d)
		}
		for _, to := range nodes {
			q := mad.PathRecord{SLID: n.LID, DLID: to.LID, NumbPath: 1}
			want, _ := tableOf(t, theirs, &q, &q.SLID, &q.DLID, &q.NumbPath)
			got, _ := tableOf(t, ours, &q, &q.SLID, &q.DLID, &q.NumbPath)
			for _, paths := range [][]mad.PathRecord{want, got} {
				for i := range paths {
					paths[i].MTU = 0
				}
			}
			if d := cmp.Diff(want, got); d != "" || len(got) != 1 {
				t.Errorf("from %d to %d: opensm (-), ibkit (+)\n%s", n.LID, to.LID, d)
			}
		}
	}
}
