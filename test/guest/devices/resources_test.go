//go:build guest

package devices_test

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"github.com/ibkit/ibkit/test/guest"
)

// resourceKinds has the object attributes: their names in the JSON from rdma resource and
// from ibkit. The owner is compared too.
var resourceKinds = []struct {
	theirs, ours string
	attrs        map[string]string
}{
	{"ctx", "contexts", map[string]string{"ctxn": "ctxn"}},
	{"pd", "pds", map[string]string{"pdn": "pdn", "ctxn": "ctxn", "users": "users", "local_dma_lkey": "local_dma_lkey"}},
	{"mr", "mrs", map[string]string{"mrn": "mrn", "pdn": "pdn", "mrlen": "length", "lkey": "lkey", "rkey": "rkey"}},
	{"cq", "cqs", map[string]string{"cqn": "cqn", "ctxn": "ctxn", "cqe": "cqe", "users": "users", "poll-ctx": "poll_context", "adaptive-moderation": "adaptive_moderation"}},
	{"srq", "srqs", map[string]string{"srqn": "srqn", "type": "type", "pdn": "pdn", "cqn": "cqn", "lqpn": "qps"}},
	{"qp", "qps", map[string]string{
		"lqpn": "qpn", "port": "port", "type": "type", "state": "state", "rqpn": "remote_qpn", "rq-psn": "rq_psn", "sq-psn": "sq_psn", "path-mig-state": "path_migration", "pdn": "pdn",
	}},
	{"cm_id", "cm_ids", map[string]string{
		"cm-idn": "cm_idn", "port": "port", "state": "state", "ps": "port_space", "qp-type": "qp_type", "lqpn": "qpn", "src-addr": "source", "dst-addr": "destination",
	}},
}

// An entry is an object in JSON.
type entry map[string]any

// text returns the attribute value; "" if it is missing. rdma prints keys as text in
// hexadecimal, and an empty list of queue pairs not at all.
func (e entry) text(name string) string {
	switch v := e[name].(type) {
	case nil:
		return ""
	case string:
		if n, err := strconv.ParseUint(v, 16, 32); err == nil && strings.HasSuffix(name, "key") {
			return fmt.Sprint(float64(n))
		}
		return v
	case []any:
		return strings.Trim(fmt.Sprint(v), "[]")
	default:
		return fmt.Sprint(v)
	}
}

// describe returns an object's attributes in a fixed order.
func (e entry) describe(names []string) string {
	var b strings.Builder
	for _, name := range names {
		fmt.Fprintf(&b, "%s ", e.text(name))
	}
	return b.String()
}

// compareResources compares ibkit's objects with rdma's, and returns their number by kind.
func compareResources(t *testing.T, g *guest.Guest) map[string]int {
	t.Helper()
	r := g.MustRun(t, "ibkit", "devinfo", "--resources", "--json")
	if r.Code != 0 || r.Stderr != "" {
		t.Fatalf("got exit code %d: %s", r.Code, r.Stderr)
	}
	var ours struct{ Devices []map[string]any }
	if err := json.Unmarshal([]byte(r.Stdout), &ours); err != nil {
		t.Fatal(err)
	}
	counts := map[string]int{}
	for _, kind := range resourceKinds {
		theirNames, ourNames := []string{"ifname", "pid", "comm"}, []string{"ifname", "pid", "comm"}
		if kind.theirs == "srq" {
			// rdma 6.1 prints the list of queue pairs as the process name.
			theirNames, ourNames = theirNames[:2], ourNames[:2]
		}
		for their, our := range kind.attrs {
			theirNames, ourNames = append(theirNames, their), append(ourNames, our)
		}
		var all []entry
		if err := json.Unmarshal([]byte(g.Must(t, "rdma", "-j", "resource", "show", kind.theirs)), &all); err != nil {
			t.Fatal(err)
		}
		var want, got []string
		for _, e := range all {
			want = append(want, e.describe(theirNames))
		}
		for _, d := range ours.Devices {
			for _, o := range d[kind.ours].([]any) {
				e := entry(o.(map[string]any))
				e["ifname"], e["comm"] = d["name"], e["process"]
				if e["kernel"] != nil {
					e["comm"] = e["kernel"]
				}
				got = append(got, e.describe(ourNames))
			}
		}
		counts[kind.theirs] = len(got)
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s: %v: rdma (-), ibkit (+)\n%s", kind.theirs, ourNames, d)
		}
	}
	return counts
}

// TestResources compares the objects that idle and working programs have, and the
// counters, with iproute2.
func TestResources(t *testing.T) {
	t.Parallel()
	with := spec
	with.Tools = append([]string{"rping", "ibv_srq_pingpong"}, spec.Tools...)
	g := guest.New(t, with)
	compareResources(t, g) // kernel objects only

	host := g.Ports[0].Addr.String()
	await := func(line string) {
		t.Helper()
		if err := g.Await(t.Context(), "sh", "-c", line); err != nil {
			t.Fatal(err)
		}
	}
	srq := g.MustStart(t, "ibv_srq_pingpong", "-d", "rxe0", "-g", "0")
	await("test $(rdma resource show qp | grep -c 'INIT.*comm ibv_srq_pingpon') -eq 16")
	server := g.MustStart(t, "rping", "-s", "-a", host)
	await("rdma resource show cm_id | grep LISTEN")
	client := g.MustStart(t, "ibkit", "rping", "-c", "-a", host)
	await("test $(rdma resource show qp | grep -c 'RTS.*comm rping\\|RTS.*comm ibkit') -eq 2")
	perfServer := g.MustStart(t, "ibkit", "perf", "--serve")
	if err := perfServer.AwaitOutput(t.Context(), "serving tests at"); err != nil {
		t.Fatal(err)
	}
	perfClient := g.MustStart(t, "ibkit", "perf", "--duration", "30m", "-d", "rxe0", host)
	await("test $(rdma resource show qp | grep -c 'RTS.*comm ibkit') -ge 3")
	// The packet sequence numbers of stopped programs do not change.
	running := []*guest.Process{client, server, perfClient, perfServer}
	signal := func(s unix.Signal) {
		for _, p := range running {
			if err := p.Signal(s); err != nil {
				t.Fatal(err)
			}
		}
	}
	signal(unix.SIGSTOP)
	counts := compareResources(t, g)
	for kind, least := range map[string]int{"ctx": 5, "pd": 5, "mr": 5, "cq": 5, "srq": 1, "qp": 20, "cm_id": 3} {
		if counts[kind] < least {
			t.Errorf("%s: got %d, want at least %d", kind, counts[kind], least)
		}
	}
	t.Run("views", func(t *testing.T) { resourceViews(t, g) })
	t.Run("counters", func(t *testing.T) { compareCounters(t, g) })
	t.Run("user", func(t *testing.T) { resourcesOfUser(t, g) })
	signal(unix.SIGKILL)
	if err := srq.Signal(unix.SIGKILL); err != nil {
		t.Fatal(err)
	}
	await("! rdma resource show ctx | grep .")
	if counts := compareResources(t, g); counts["ctx"] != 0 || counts["srq"] != 0 || counts["mr"] != 0 {
		t.Errorf("got objects of programs that have ended: %v", counts)
	}
}

// resourceViews checks the tables.
func resourceViews(t *testing.T, g *guest.Guest) {
	summary := g.Must(t, "ibkit", "devinfo", "--resources", "rxe0")
	t.Log(summary)
	for _, want := range []string{"ibv_srq_pingpon", "rping", "ibkit", "[ib_core]"} {
		if !strings.Contains(summary, want) {
			t.Errorf("summary does not contain %s:\n%s", want, summary)
		}
	}
	if strings.Contains(summary, "rxe1") {
		t.Errorf("summary of rxe0 contains rxe1:\n%s", summary)
	}
	wide := g.Must(t, "ibkit", "devinfo", "--resources", "--wide")
	t.Log(wide)
	for _, want := range []string{"RTS", "LISTEN", "CONNECT", "BASIC", "queue pairs", "connection IDs", "0x0000"} {
		if !strings.Contains(wide, want) {
			t.Errorf("list of objects does not contain %s:\n%s", want, wide)
		}
	}
}

// compareCounters compares port counters.
func compareCounters(t *testing.T, g *guest.Guest) {
	var theirs []map[string]any
	if err := json.Unmarshal([]byte(g.Must(t, "rdma", "-j", "statistic", "show")), &theirs); err != nil {
		t.Fatal(err)
	}
	var ours struct {
		Devices []struct {
			Name       string
			Statistics []struct {
				Port     int
				Counters map[string]any
			}
		}
	}
	if err := json.Unmarshal([]byte(g.Must(t, "ibkit", "devinfo", "--resources", "--statistics", "--json")), &ours); err != nil {
		t.Fatal(err)
	}
	var got []map[string]any
	for _, d := range ours.Devices {
		for _, s := range d.Statistics {
			s.Counters["ifname"], s.Counters["port"] = d.Name, float64(s.Port)
			got = append(got, s.Counters)
		}
	}
	for _, all := range [][]map[string]any{got, theirs} {
		for _, s := range all {
			if s["ifname"] == "rxe0" && s["sent_pkts"].(float64) == 0 {
				t.Error("got no packets of rxe0")
			}
		}
	}
	if d := cmp.Diff(theirs, got); d != "" {
		t.Errorf("rdma (-), ibkit (+)\n%s", d)
	}
	if text := g.Must(t, "ibkit", "devinfo", "--resources", "--statistics"); !strings.Contains(text, "counters of rxe1/1\n") {
		t.Errorf("got no counters of rxe1/1:\n%s", text)
	}
}

// resourcesOfUser lists objects without privileges: all but the keys.
func resourcesOfUser(t *testing.T, g *guest.Guest) {
	r, err := g.Run(t.Context(), guest.Command{Args: []string{"ibkit", "devinfo", "--resources", "--wide"}, User: true})
	if err != nil {
		t.Fatal(err)
	}
	if r.Code != 0 || !strings.Contains(r.Stdout, "RTS") || strings.Contains(r.Stdout, "0x0000") || !strings.Contains(r.Stderr, "CAP_NET_ADMIN") {
		t.Errorf("got exit code %d, want 0 without keys\n%s%s", r.Code, r.Stdout, r.Stderr)
	}
}
