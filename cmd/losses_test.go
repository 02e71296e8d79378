package cmd

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ibkit/ibkit/cmd/internal/cmdtest"
	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/internal/testenv"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/mad/register"
	"github.com/ibkit/ibkit/sim"
	"github.com/ibkit/ibkit/umad"
)

// tree is a fabric without defects, on which a result is partial only because of a loss.
const tree = "fat-tree:radix=4,pods=2,spines=2"

// A lossCase is a command line that is repeated without each one of its replies.
type lossCase struct{ fabric, line string }

var lossCases = []lossCase{
	{"demo", "linkinfo --json"},
	{"demo", "linkinfo --json --from sa"},
	{"demo", "topology --json"},
	{"demo", "route --json node01 node07"},
	{"demo", "routes --json"},
	{"demo", "query PortInfo * --source nodes --json"},
	{"demo", "query PortInfo leaf1[3] --json"},
	{"demo", "query LinearForwardingTable leaf1 --json"},
	{"demo", "query PortInfo leaf1 3 --sa --json"},
	{"demo", "sa NodeRecord --json"},
	{"demo", "sa PathRecord from=node01 to=node07 --json"},
	{"demo", "sm --json"},
	{"demo", "sm --json --source sa"},
	{"demo", "addr node07 --json"},
	{"demo", "addr leaf* --source nodes --json"},
	{"demo", "addr 0x0002c90000100a01 --source nodes --json"},
	{"demo", "ping --via sma -c 1 --interval 1ms --json --switches"},
	{tree, "linkinfo --json --counters"},
	{tree, "counters --all --json"},
	{tree, "counters --json"},
	{tree, "check routes --json"},
	{tree, "check fabric --json"},
	{tree, "cc --json"},
	{tree, "exporter --once"},
	{tree, "top --once --interval 1ms --json"},
	{"mixed", "topology --json"},
	{"mixed", "exporter --once"},
}

// A losingPort loses one of the requests of a command line with all its repetitions. It returns
// the request as a kernel does after the timeout, but at once, so that the time of all other
// replies is the same.
type losingPort struct {
	umad.Port
	log  *requestLog
	back []umad.Message // to be returned
}

// A requestLog has the different requests of a command line.
type requestLog struct {
	lost string // content of the lost request; "": all arrive
	seen map[string]bool
	all  []umad.Message
}

// contentOf returns what the repetitions of a request have in common.
func contentOf(m *umad.Message) string {
	p := m.MAD
	clear(p[8:16]) // transaction ID
	return strconv.Itoa(int(m.Addr.LID)) + " " + string(p[:])
}

func (p *losingPort) Send(m *umad.Message) error {
	content := contentOf(m)
	if !p.log.seen[content] {
		p.log.seen[content] = true
		p.log.all = append(p.log.all, *m)
	}
	if content != p.log.lost {
		return p.Port.Send(m)
	}
	back := *m
	back.Status = syscall.ETIMEDOUT
	p.back = append(p.back, back)
	return nil
}

func (p *losingPort) Recv(m *umad.Message, deadline time.Time) error {
	if len(p.back) == 0 {
		return p.Port.Recv(m, deadline)
	}
	*m, p.back = p.back[0], p.back[1:]
	return nil
}

// An outcome is the result of a command line.
type outcome struct {
	code    int
	out     string
	err     string
	content document
}

// run runs the command line without the replies to a request.
func (c lossCase) run(t *testing.T, f *lossFabric, lost string) (o outcome, requests []umad.Message) {
	log := &requestLog{lost: lost, seen: map[string]bool{}}
	synctest.Test(t, func(t *testing.T) {
		env := map[string]string{"IBKIT_SIM": c.fabric, "IBKIT_SYSFS": "/nonexistent"}
		var out, errOut bytes.Buffer
		e := &cmdutil.Env{In: strings.NewReader(""), Out: &out, ErrOut: &errOut, Getenv: func(k string) string { return env[k] }}
		e.Transport = func(p umad.Port) umad.Port { return &losingPort{Port: p, log: log} }
		o.code = run(t.Context(), e, strings.Fields(c.line))
		o.out, o.err = out.String(), errOut.String()
	})
	o.content = parseDocument(f.guids.Replace(o.out))
	return o, log.all
}

// Without one reply, a result is complete and true, or it is marked as partial, names the
// request, and has no wrong value.
func TestLostReplies(t *testing.T) {
	t.Parallel()
	cmdtest.OutsideBubbles()
	for _, c := range lossCases {
		t.Run(c.fabric+"/"+c.line, func(t *testing.T) {
			t.Parallel()
			f := newLossFabric(t, c.fabric)
			truth, requests := c.run(t, f, "")
			if truth.code == cmdutil.ExitFailed || truth.code == cmdutil.ExitUsage || len(requests) == 0 {
				t.Fatalf("got exit code %d, %d requests\n%s", truth.code, len(requests), truth.err)
			}
			kept := slices.DeleteFunc(requests, func(m umad.Message) bool { return c.mayLose(&m) })
			for _, m := range chooseRequests(kept) {
				got, _ := c.run(t, f, contentOf(m))
				for _, problem := range f.check(m, &truth, &got) {
					t.Errorf("without the reply to %s: exit code %d: %s", f.describe(m), got.code, problem)
				}
			}
		})
	}
}

// chooseRequests returns the first, the middle and the last request for each attribute, or all
// requests with [testenv.AllCases].
func chooseRequests(requests []umad.Message) (chosen []*umad.Message) {
	type kind struct {
		class mad.Class
		attr  mad.AttrID
	}
	byKind := map[kind][]*umad.Message{}
	for i := range requests {
		m := &requests[i]
		k := kind{m.MAD.Class(), m.MAD.Attr()}
		byKind[k] = append(byKind[k], m)
	}
	for _, all := range byKind {
		if testenv.AllCases() {
			chosen = append(chosen, all...)
			continue
		}
		for _, i := range slices.Compact([]int{0, len(all) / 2, len(all) - 1}) {
			chosen = append(chosen, all[i])
		}
	}
	return chosen
}

// mayLose reports whether the result need not mention that a request had no reply: it is a
// probe of a ping, or for an attribute that agents need not have, or skips a stage.
func (c lossCase) mayLose(m *umad.Message) bool {
	switch m.MAD.Attr() {
	case mad.AttrPortRcvErrorDetails, mad.AttrPortXmitDiscardDetails, mad.AttrPortExtendedSpeedsCounters, mad.AttrPortSamplesControl:
		return m.MAD.Class() == mad.ClassPM && c.fabric == "demo"
	}
	if strings.HasPrefix(c.line, "check fabric") && m.MAD.Class() == mad.ClassSA {
		return true // the stage is skipped, with the reason
	}
	return strings.HasPrefix(c.line, "ping") && m.MAD.Class() != mad.ClassSMPDirected
}

// A lossFabric finds the nodes to which packets go.
type lossFabric struct {
	*sim.Fabric
	local *sim.Port
	byLID map[ib.LID]*sim.Node
	guids *strings.Replacer // of names by GUIDs, which texts have for unknown names
}

func newLossFabric(t *testing.T, description string) *lossFabric {
	f, err := sim.Build(description)
	if err != nil {
		t.Fatal(err)
	}
	local, err := f.Place("")
	if err != nil {
		t.Fatal(err)
	}
	l := &lossFabric{Fabric: f, local: local, byLID: map[ib.LID]*sim.Node{}}
	var names []string
	for _, n := range f.Nodes {
		names = append(names, n.Desc.Clean(), n.Info.NodeGUID.String())
		for i := range n.Ports {
			l.byLID[n.Ports[i].Info.LID] = n
		}
	}
	l.guids = strings.NewReplacer(names...)
	return l
}

// places returns the names of the destination of a request, any of which a message may have.
func (f *lossFabric) places(m *umad.Message) []string {
	n, before := f.byLID[m.Addr.LID], (*sim.Node)(nil)
	names := []string{fmt.Sprintf("LID %d,", m.Addr.LID), fmt.Sprintf("LID %d:", m.Addr.LID)}
	if m.MAD.Class() == mad.ClassSMPDirected {
		n = f.local.Node
		route := m.MAD.InitialPath()
		for _, exit := range route.Ports() {
			before, n = n, n.Ports[exit].Peer.Node
		}
		names = []string{"route " + route.String() + ","}
	}
	for _, n := range []*sim.Node{n, before} {
		if n != nil {
			names = append(names, n.Desc.Clean(), n.Info.NodeGUID.String())
		}
	}
	return names
}

// describe names a request.
func (f *lossFabric) describe(m *umad.Message) string {
	return fmt.Sprintf("%s %d to %s", nameOf(m), m.MAD.Modifier(), strings.Join(f.places(m), " "))
}

// nameOf returns the name of a request's attribute or register.
func nameOf(m *umad.Message) string {
	if m.MAD.Class() == mad.ClassMlnx && m.MAD.Attr() == mad.AttrMlnxRegister {
		return register.ID(m.MAD.Modifier()).String()
	}
	return m.MAD.Class().AttrName(m.MAD.Attr())
}

// check returns what is wrong with the result without one reply.
func (f *lossFabric) check(m *umad.Message, truth, got *outcome) (problems []string) {
	diffs := slices.Concat(truth.content.wrongIn(got.content, volatile), got.content.wrongIn(truth.content, volatile))
	if got.code == truth.code && len(diffs) == 0 {
		return nil
	}
	if got.code == truth.code && !got.content.isPartial() {
		problems = append(problems, diffs...)
		problems = append(problems, "got another result, which is not marked as partial")
	}
	if got.code != cmdutil.ExitPartial && got.code != truth.code && got.code != cmdutil.ExitFailed {
		problems = append(problems, fmt.Sprintf("got exit code %d, want %d, 1 or %d", got.code, cmdutil.ExitPartial, truth.code))
	}
	if got.code == cmdutil.ExitPartial && !got.content.isPartial() {
		problems = append(problems, "the document is not marked as partial")
	}
	text := got.err + got.out
	isNamed := func(s string) bool { return strings.Contains(text, s) }
	if name := nameOf(m); !slices.ContainsFunc(f.places(m), isNamed) || !isNamed(name) {
		problems = append(problems, fmt.Sprintf("%s is not named: %s", name, got.err))
	}
	for _, claim := range falsehoods {
		if strings.Contains(text, claim) && !strings.Contains(truth.err+truth.out, claim) {
			problems = append(problems, "got "+claim)
		}
	}
	return append(problems, truth.content.wrongIn(got.content, incomplete)...)
}

// volatile are differences that do not concern the fabric: costs of requests.
var volatile = regexp.MustCompile(`^\.stats|^\.seconds|rtt|^ibkit_mad|_retries_total|\.(found_by|described_by):`)

// incomplete are differences between a complete and a partial result: also counts, failures,
// findings about missing replies, and the sources of values. A module is reported at its other
// port, and light without the power that was sent.
var incomplete = regexp.MustCompile(volatile.String() +
	`|^\.(summary|unanswered|failures|missing|unresolved|total|partial|stages|values|errors|warnings)\b` +
	`|^\.(switches|end_ports|destinations|paths|reached|lost\.unseen|hops\[\]\.\w+|links\.\w+|levels\[\]\.\w+|nodes\[\]\.links): got` +
	`|^\.balance\[\]\.(ports\[\]\.(paths|lids)|\w+_lids): got|^\.findings\[\]\.(data\.count: got|detail: .*(paths cross | modules |went down|fan ))|^\.findings\[\]: extra {"data":{"stage":"(cables|temperature)"}` +
	`|\.(failures\[\]|errors\[\]|error|hint|route|wait|missing\[\]|cause|read):` +
	`|(findings|nodes)\[\]: extra .*("(no-reply|no-peer|no-congestion-control|unchecked|blind|missing-node|unscanned-node)|"failures":\[{)|^\.links\[\]: extra .*"far":null` +
	`|^ibkit_(sweep|node_failed|link_findings|link_finding{.*kind="no-)|^infiniband_(scrape_ok|switch_up|hca_up|exporter_collect)|_(error|collect_timeout|collect_error){`)

// falsehoods are claims that a lost reply does not justify.
var falsehoods = []string{"no node has this name", "no node or port has this GUID", "no port has this GID", "has no LID", "no master among", "X none"}
