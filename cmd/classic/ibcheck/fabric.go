package ibcheck

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/cmd/internal/getopt"
	"github.com/ibkit/ibkit/cmd/internal/shared/links"
	"github.com/ibkit/ibkit/cmd/internal/shared/pma"
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/internal/tool/topology"
	"github.com/ibkit/ibkit/linkinfo"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/umad"
)

// A node is a node in a topology file with the lines that follow it.
type node struct {
	kind, guid string
	lid        string // switch LID
	lines      []line
}

// A line is a port, or a program's message.
type line struct {
	port    string // "": a message
	lid     string
	message string
}

// maxLine is the maximum line length in a topology file.
const maxLine = 1 << 20

// parseTopology parses a topology file by the scripts' rules. The lines before the first
// node belong to a node without a type.
func parseTopology(text []byte) ([]*node, error) {
	nodes := []*node{{}}
	lines := bufio.NewScanner(bytes.NewReader(text))
	lines.Buffer(nil, maxLine)
	for lines.Scan() {
		s := lines.Text()
		last := nodes[len(nodes)-1]
		switch {
		case strings.HasPrefix(s, "Ca"), strings.HasPrefix(s, "Switch"), strings.HasPrefix(s, "Rt"):
			fields := append(strings.Fields(s), "", "", "")
			guid := fields[2][min(3, len(fields[2])):]
			n := &node{kind: fields[0], guid: guid[:min(16, len(guid))]}
			if n.kind == "Switch" {
				n.lid = wordAfter(s, "port 0 lid ")
			}
			nodes = append(nodes, n)
		case strings.HasPrefix(s, "["):
			port, _, _ := strings.Cut(strings.Fields(s)[0], "(")
			last.lines = append(last.lines, line{port: strings.Trim(port, "[]"), lid: wordAfter(s, " lid ")})
		case strings.HasPrefix(s, "ib"), strings.Contains(s, "ibpanic:"), strings.Contains(s, "ibwarn:"), strings.Contains(s, "iberror:"):
			last.lines = append(last.lines, line{message: s})
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("read topology file: %w", err)
	}
	return nodes, nil
}

// wordAfter returns the word after the first mark in a line.
func wordAfter(s, mark string) string {
	_, rest, _ := strings.Cut(s, mark)
	word, _, _ := strings.Cut(rest, " ")
	return word
}

// A session is a run over the nodes in a topology file or in a scan.
type session struct {
	nodes  []*node
	client *umad.Client
	close  func()
	err    error // scan error, which is reported after the summary
}

// open reads the operand's topology file, or scans the fabric, and opens the local port.
func (c *command) open(ctx context.Context) (*session, error) {
	if err := c.Complete(ctx, c.Env); err != nil {
		return nil, err
	}
	s := &session{}
	text, err := c.topology(ctx, s)
	if err != nil {
		return nil, err
	}
	if s.nodes, err = parseTopology(text); err != nil {
		return nil, err
	}
	port, err := c.OpenPort(ctx)
	if err != nil {
		return nil, err
	}
	s.close = func() { port.Close() }
	s.client = umad.NewClient(port, pma.ClientOptions(c.Diag))
	return s, nil
}

func (c *command) topology(ctx context.Context, s *session) ([]byte, error) {
	if len(c.operands) > 0 {
		return readFile(c.operands[0])
	}
	names, err := c.Names(c.Env)
	if err != nil {
		return nil, err
	}
	f, err := topology.Run(ctx, topology.Options{Source: c.Source()})
	if f == nil {
		return nil, c.Iberror("main", err, "discover failed\n")
	}
	links.PrintWarnings(c.Env, &linkinfo.Result{Fabric: f}, nil, false)
	if err != nil {
		s.err = &cmdutil.ExitError{Code: getopt.ExitFailure, Err: err}
	}
	var text bytes.Buffer
	err = (&topology.Text{Names: names}).WriteTopology(&text, f)
	return text.Bytes(), err
}

// totals are the summary numbers.
type totals struct{ nodes, badNodes, ports, badPorts int }

// each runs work for each node. Requests to many nodes are in flight; the
// output is in node order.
func (c *command) each(ctx context.Context, s *session, work func(*pma.Job, *node, *totals)) (totals, error) {
	all := make([]totals, len(s.nodes))
	var sum totals
	pool := pma.Pool{
		Diag: c.Diag, Client: s.client,
		Work: func(j *pma.Job) { work(j, s.nodes[j.Index], &all[j.Index]) },
		Done: func(j *pma.Job) {
			t := all[j.Index]
			sum.nodes += t.nodes
			sum.badNodes += t.badNodes
			sum.ports += t.ports
			sum.badPorts += t.badPorts
			_, _ = j.Out.WriteTo(c.Env.Out)
			_, _ = j.ErrOut.WriteTo(c.Env.ErrOut)
		},
	}
	err := pool.Run(ctx, len(s.nodes))
	return sum, errors.Join(err, s.err)
}

// checkFabric is ibcheckerrors and ibdatacounters.
func checkFabric(ctx context.Context, c *command) error {
	s, err := c.open(ctx)
	if err != nil {
		return err
	}
	defer s.close()
	c.quiet = true
	t, err := c.each(ctx, s, c.checkPorts)
	if c.data {
		fmt.Fprintf(c.Env.Out, "*** WARNING ***: this command is deprecated; Please use \"%s\n", c.instead)
		fmt.Fprintf(c.Env.Out, "\n## Summary: %d nodes checked, %d bad nodes found\n", t.nodes, t.badNodes)
		fmt.Fprintf(c.Env.Out, "##          %d ports checked\n", t.ports)
		return err
	}
	fmt.Fprintf(c.Env.Out, "\n*** WARNING ***: this command is deprecated; Please use \"%s\"", c.instead)
	fmt.Fprintf(c.Env.Out, "\n## Summary: %d nodes checked, %d bad nodes found\n", t.nodes, t.badNodes)
	fmt.Fprintf(c.Env.Out, "##          %d ports checked, %d ports have errors beyond threshold\n", t.ports, t.badPorts)
	return err
}

// checkPorts checks a node and its ports. Switch ports are checked only if the sums over
// all ports have errors.
func (c *command) checkPorts(j *pma.Job, n *node, sum *totals) {
	at := func(lid, port string) *target {
		return &target{address: lid, port: port, caller: j.Caller, out: &j.Out}
	}
	// check returns whether the node responds and whether the port has no errors.
	check := func(t *target) (responds, ok bool) {
		if !c.checkNode(t) {
			sum.badNodes++
			fmt.Fprintf(&j.Out, "\n# %s: nodeguid 0x%s failed\n", n.kind, n.guid)
			return false, false
		}
		return true, c.checkPort(t)
	}
	isSwitch := n.kind == "Switch"
	bad := false
	if n.kind != "" {
		sum.nodes++
		if c.verbose {
			fmt.Fprintf(&j.Out, "\n# Checking %s: nodeguid 0x%s\n", n.kind, n.guid)
		}
		if isSwitch {
			_, ok := check(at(n.lid, "255"))
			bad = !ok
		}
	}
	for _, l := range n.lines {
		if l.port == "" {
			fmt.Fprintln(&j.Out, l.message)
			continue
		}
		sum.ports++
		switch {
		case !isSwitch:
			if responds, ok := check(at(l.lid, l.port)); responds && !ok {
				sum.badPorts++
			}
		case bad:
			if !c.checkPort(at(n.lid, l.port)) {
				sum.badPorts++
			}
		}
	}
}

// clearFabric is ibclearerrors and ibclearcounters.
func clearFabric(ctx context.Context, c *command) error {
	s, err := c.open(ctx)
	if err != nil {
		return err
	}
	defer s.close()
	t, err := c.each(ctx, s, c.clearPorts)
	fmt.Fprintf(c.Env.Out, "\n*** WARNING ***: this command is deprecated; Please use \"%s\"\n", c.instead)
	fmt.Fprintf(c.Env.Out, "\n## Summary: %d nodes cleared %d errors\n", t.nodes, t.badNodes)
	return err
}

// maskErrors are CounterSelect's error counters.
const maskErrors = 0x0fff

// clearPorts clears a node's counters.
func (c *command) clearPorts(j *pma.Job, n *node, sum *totals) {
	mask := pma.Mask{}
	if c.name == "ibclearerrors" {
		mask = pma.Mask{Given: true, Bits: maskErrors}
	}
	reset := func(lid string, port int) {
		agent := pma.Agent{Caller: j.Caller, To: umad.Target{LID: ib.LID(getopt.Strtol(lid))}}
		agent.Identify(agent.To)
		if guid, err := strconv.ParseUint(n.guid, 16, 64); err == nil {
			agent.Expect.NodeGUID = ib.GUID(guid) // the file may be old
		}
		if err := resetPort(&agent, port, mask); err != nil {
			fmt.Fprintf(&j.Out, "perfquery: iberror: failed: %v\n", err)
			sum.badNodes++
		}
	}
	if n.kind != "" {
		sum.nodes++
		if n.kind == "Switch" {
			reset(n.lid, mad.AllPorts)
		}
	}
	for _, l := range n.lines {
		switch {
		case l.port == "":
			fmt.Fprintln(&j.Out, l.message)
		case n.kind != "Switch":
			port, _ := strconv.Atoi(l.port) // 0 without a number, as in C
			reset(l.lid, port)
		}
	}
}

// resetPort resets a port's counters, or each port's counters in turn if the agent has no
// sums over all ports.
func resetPort(agent *pma.Agent, port int, mask pma.Mask) error {
	if !agent.To.LID.IsUnicast() {
		return fmt.Errorf("can't resolve destination port %d", int(agent.To.LID))
	}
	if err := agent.Describe(port, true); err != nil {
		return err
	}
	ports := []int{port}
	if port == mad.AllPorts && !agent.Caps.Has(mad.PerfAllPortSelect) {
		var err error
		if ports, err = agent.Ports(); err != nil {
			return err
		}
		agent.WarnEmulated()
	}
	return agent.ResetPorts(ports, mask, false)
}
