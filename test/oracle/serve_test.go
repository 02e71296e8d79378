package oracle

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/test/ibsimtest"
	"github.com/ibkit/ibkit/umad"
	"github.com/ibkit/ibkit/umad/ibsim"
)

// serveFabric starts ibkit's simulator in place of ibsim.
func serveFabric(t *testing.T, args ...string) *ibsimtest.Sim {
	t.Helper()
	return ibsimtest.NewServer(t, ibkit(), append([]string{"sim", "serve"}, args...)...)
}

// A runner runs a classic tool's command line and returns the result.
type runner func(tool string, args ...string) ibsimtest.Result

// theirTools returns the C tools at a node.
func theirTools(t *testing.T, s *ibsimtest.Sim, host string) runner {
	return func(tool string, args ...string) ibsimtest.Result { return s.MustRunC(t, host, tool, args...) }
}

// ourTools returns ibkit's classic tools at a node.
func ourTools(t *testing.T, s *ibsimtest.Sim, host string) runner {
	return func(tool string, args ...string) ibsimtest.Result {
		return s.MustRun(t, host, ibkit(), append([]string{tool}, args...)...)
	}
}

var served = []string{"demo", "single-switch:hosts=3", "fat-tree:levels=2,radix=8,pods=4"}

// TestServedLinks compares the C tool's output for a served fabric with ibkit's for the
// same fabric, in its own process and through the sockets.
func TestServedLinks(t *testing.T) {
	for i, fabric := range served {
		t.Run(fabric, func(t *testing.T) {
			s := serveFabric(t, fabric)
			for _, args := range ibsimtest.Every([][]string{nil, {"-l"}, {"-p"}, {"-D", "0,1"}, {"--switches-only"}}, i, len(served)) {
				want := s.MustRunC(t, "", "iblinkinfo", args...)
				if d := diff(want, s.MustRun(t, "", *binary, args...)); d != "" {
					t.Errorf("%v through the sockets: C tool (-), ibkit (+)\n%s", args, d)
				}
				if d := diff(want, s.MustRun(t, "", *binary, append([]string{"--sim", fabric}, args...)...)); d != "" {
					t.Errorf("%v in process: C tool (-), ibkit (+)\n%s", args, d)
				}
			}
		})
	}
}

var (
	listed  = regexp.MustCompile(`(?m)^\w+\s+: (0x[0-9a-f]{16}) ports \d+ devid \S+ vendid \S+ "(.*)"$`)
	ownLine = regexp.MustCompile(`(?m)^(?:CA|Switch): (?:(0x[0-9a-f]{16}) )?(.*):$`)
)

// TestServedNodes compares the nodes in the output from ibnetdiscover and from ibkit.
func TestServedNodes(t *testing.T) {
	for _, fabric := range served {
		t.Run(fabric, func(t *testing.T) { compareNodes(t, fabric) })
	}
}

// compareNodes compares the nodes in a single fabric.
func compareNodes(t *testing.T, fabric string) {
	s := serveFabric(t, fabric)
	var got, want []string
	for _, m := range listed.FindAllStringSubmatch(s.MustRunC(t, "", "ibnetdiscover", "-l").Stdout, -1) {
		got = append(got, m[2])
	}
	for _, m := range ownLine.FindAllStringSubmatch(s.MustRun(t, "", *binary, "--sim", fabric).Stdout, -1) {
		want = append(want, m[2])
	}
	slices.Sort(got)
	slices.Sort(want)
	if d := cmp.Diff(want, got); d != "" || len(want) == 0 {
		t.Errorf("ibkit (-), ibnetdiscover (+)\n%s", d)
	}
}

// ctl runs a command on the server console.
func ctl(t *testing.T, s *ibsimtest.Sim, command string) string {
	t.Helper()
	out, err := s.Control(t.Context(), command)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// within waits until a condition holds.
func within(t *testing.T, limit time.Duration, condition string, holds func() bool) {
	t.Helper()
	poll := time.NewTicker(10 * time.Millisecond)
	defer poll.Stop()
	for start := time.Now(); !holds(); <-poll.C {
		if time.Since(start) > limit {
			t.Fatalf("timeout after %v: %s", limit, condition)
		}
	}
}

func lidOfSwitch(t *testing.T, s *ibsimtest.Sim, name string) string {
	t.Helper()
	_, after, _ := strings.Cut(ctl(t, s, "dump "+name), "[0] lid ")
	lid, _, _ := strings.Cut(after, " ")
	return lid
}

var lidLine = regexp.MustCompile(`Lid:\.+(\d+)`)

// lidOf returns a node's LID as seen by a program that is attached to it.
func lidOf(t *testing.T, s *ibsimtest.Sim, node string) string {
	t.Helper()
	m := lidLine.FindStringSubmatch(s.MustRunC(t, node, "smpquery", "portinfo", "-D", "0").Stdout)
	if m == nil || m[1] == "0" {
		t.Fatalf("%s has no LID", node)
	}
	return m[1]
}

// native is the program under test by its own name.

var (
	hostLine = regexp.MustCompile(`(?m)^(?:Hca|Ca)\s+\d+\s+"([^"]+)"`)
	nodeLine = regexp.MustCompile(`(?m)^(\w+)\s+: (0x[0-9a-f]{16}) `)
)

// joinGroup makes a host's port a member of a multicast group, and creates the group if it
// does not exist.
func joinGroup(t *testing.T, s *ibsimtest.Sim, host string, group byte) {
	t.Helper()
	_, socket, _ := strings.Cut(s.Env()[0], "=")
	p, err := ibsim.Open(t.Context(), ibsim.Options{SockName: socket, Node: host})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	attr := p.Attr()
	r := &mad.MCMemberRecord{
		MGID:    ib.GID{0: 0xff, 1: 0x12, 2: 0xa0, 3: 0x1c, 15: group},
		PortGID: ib.MakeGID(attr.GIDPrefix, attr.PortGUID), QKey: 0xb1b, PKey: 0xffff, JoinState: 1,
	}
	valid := umad.Match(&r.MGID, &r.PortGID, &r.QKey, &r.PKey, &r.SL, &r.FlowLabel, &r.TrafficClass, &r.JoinState)
	c := umad.NewClient(p, umad.ClientOptions{Timeout: time.Minute})
	if err := c.Set(t.Context(), umad.Target{LID: attr.SMLID}, r, valid); err != nil {
		t.Fatalf("join: %v", err)
	}
}
