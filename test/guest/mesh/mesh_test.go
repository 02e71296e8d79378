//go:build guest

package mesh_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ibkit/ibkit/internal/testenv"
	"github.com/ibkit/ibkit/internal/tool/mesh"
	"github.com/ibkit/ibkit/test/guest"
)

// A verdict is the part of the JSON of mesh serve that tests read.
type verdict struct {
	Paths    string
	Flows    int
	Findings []struct {
		Kind, Subject, Detail string
		Data                  *struct {
			Retests []struct {
				Share *float64
				Signs []string
			}
		}
	}
}

// A fault is a bad part of the rig with the findings that name it.
type fault struct {
	name     string
	plant    func(*rig)
	subjects []string
	kinds    []string
	sign     string // in the finding
}

var (
	slow  = guest.Cable{Rate: 0.4 * rate}
	lossy = guest.Cable{Rate: rate, Loss: 0.1}
	dead  = guest.Cable{Rate: rate, Loss: 1}
	good  = guest.Cable{Rate: rate}

	// Faults of the second rail leave the connections of the coordinator alone.
	lossyPlug, onePlug = guest.Plug{Guest: 4, Rail: 1}, guest.Plug{Guest: 2, Rail: 1}
)

// The slow trunk is that of the first leaf to the first spine.
var (
	trunk = fmt.Sprintf("leaf1[%d]", below+1)

	representative = []fault{
		{"slow trunk", func(r *rig) { r.SetTrunk(trunk, guest.Cable{Rate: 0.3 * rate}) }, []string{trunk}, []string{"slow-link"}, ""},
	}
	otherFaults = []fault{
		{"healthy", func(*rig) {}, nil, nil, ""},
		{"slow host", func(r *rig) {
			for rail := range rails {
				r.SetCable(guest.Plug{Guest: 3, Rail: rail}, slow, slow)
			}
		}, []string{"n3"}, []string{"slow-node"}, ""},
		{"lossy cable", func(r *rig) { r.SetCable(lossyPlug, lossy, lossy) },
			[]string{portName(lossyPlug), "n4 rxe1"}, []string{"slow-cable", "slow-node", "slow-pair", "unreachable", "hung"}, "requests out of sequence"},
		{"one-way fault", func(r *rig) { r.SetCable(onePlug, dead, good) },
			[]string{portName(onePlug), "n2 rxe1"}, []string{"unreachable", "hung"}, "no figure"},
	}
)

// TestMesh finds faults in a network of guests by name: the network is described to the
// coordinator as check routes --save does.
func TestMesh(t *testing.T) {
	t.Parallel()
	rig := newRig(t)
	for _, test := range testenv.Cases(representative, otherFaults...) {
		t.Run(test.name, func(t *testing.T) {
			rig.reset()
			test.plant(rig)
			duration := brief
			if test.subjects == nil {
				duration = long
			}
			r := measure(t, rig.guests, duration)
			var v verdict
			if err := json.Unmarshal([]byte(r.Stdout), &v); err != nil {
				t.Fatalf("got exit code %d, %v:\n%s%s", r.Code, err, r.Stdout, r.Stderr)
			}
			t.Logf("%v: %s\n%s", r.Elapsed, r.Stderr, r.Stdout)
			if flows := rails * guests * (guests - 1); v.Flows != flows || v.Paths != "tables" {
				t.Errorf("got %d flows, paths by %s, want %d by tables", v.Flows, v.Paths, flows)
			}
			v.check(t, test)
			if duration == long {
				checkPlan(t, rig.guests[0], r)
			}
		})
	}
}

// check checks that a finding names the fault. Others are possible: a busy machine stops emulated
// guests, also while a suspect is measured again. The random cases of package mesh show that a
// healthy network has no findings.
func (v verdict) check(t *testing.T, want fault) {
	t.Helper()
	found := false
	for _, f := range v.Findings {
		named := slices.ContainsFunc(want.subjects, func(s string) bool { return strings.Contains(f.Subject, s) })
		if !named || !slices.Contains(want.kinds, f.Kind) || !strings.Contains(f.Detail, want.sign) {
			continue
		}
		found = true
		if f.Data == nil || len(f.Data.Retests) == 0 {
			t.Errorf("got %+v, want retests of %s", f.Data, f.Subject)
		}
	}
	if want.subjects != nil && !found {
		t.Errorf("got no finding that names %q with %q", want.subjects, want.sign)
	}
}

// The test's flags that determine its duration. The plan is compared with a long measurement:
// on a busy machine, emulated processors need a second to connect.
const (
	measured = " --schedule rail --metric bandwidth --duration "
	brief    = "1s"
	long     = "4s"
)

// checkPlan checks a run's rounds against the rounds that mesh plan lists. They take at least their
// tests' time; a busy machine connects late, so that only the plan's estimate has a limit.
func checkPlan(t *testing.T, g *guest.Guest, r guest.Result) {
	t.Helper()
	var p mesh.Plan
	if err := json.Unmarshal([]byte(g.Must(t, "sh", "-c", "ibkit mesh plan --json --from "+tables+measured+long)), &p); err != nil {
		t.Fatal(err)
	}
	each, err := time.ParseDuration(long)
	if err != nil {
		t.Fatal(err)
	}
	summary, took, _ := strings.Cut(r.Stderr, " rounds in ")
	elapsed, err := time.ParseDuration(strings.TrimSpace(took))
	if err != nil {
		t.Fatal(err)
	}
	if want := fmt.Sprintf(", %d of %[1]d", p.Rounds); !strings.HasSuffix(summary, want) {
		t.Errorf("got %q, want the plan's %d rounds", r.Stderr, p.Rounds)
	}
	least := float64(p.Rounds) * each.Seconds()
	if elapsed.Seconds() < least || p.Seconds < least || p.Seconds > 2*least {
		t.Errorf("got %v for the rounds, and %.2f s planned, want at least %.2f s", elapsed, p.Seconds, least)
	}
}

// measure runs a cluster test of guests. The first coordinates.
func measure(t *testing.T, all []*guest.Guest, duration string) guest.Result {
	t.Helper()
	const token = "IBKIT_MESH_TOKEN=secret "
	serve := all[0].MustStart(t, "sh", "-c", fmt.Sprintf(token+"exec ibkit mesh serve --expect %d --bind 10.1.0.1:18600 --from %s --json"+
		" --message-size 1K --tx-depth 8 --qp-timeout 16 --events"+measured+"%s", len(all), tables, duration))
	if err := serve.AwaitOutput(t.Context(), "waiting for"); err != nil {
		t.Fatal(err)
	}
	for i, g := range all {
		g.MustStart(t, "sh", "-c", fmt.Sprintf(token+"exec ibkit mesh run --join 10.1.0.1:18600 --name n%d", i+1))
	}
	r, err := serve.Wait(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return r
}
