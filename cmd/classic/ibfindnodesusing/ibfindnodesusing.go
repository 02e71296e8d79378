// Package ibfindnodesusing implements the script ibfindnodesusing from infiniband-diags.
package ibfindnodesusing

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/cmd/internal/getopt"
	"github.com/ibkit/ibkit/cmd/internal/render"
	"github.com/ibkit/ibkit/cmd/internal/shared/forwarding"
	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/internal/lazyregexp"
	"github.com/ibkit/ibkit/internal/tool/route"
	"github.com/ibkit/ibkit/umad"
)

// command is an ibfindnodesusing call.
type command struct {
	*getopt.Diag
}

// New returns ibfindnodesusing.
func New(env *cmdutil.Env) *getopt.Tool {
	c := &command{getopt.NewDiag(env, "ibfindnodesusing")}
	return &getopt.Tool{
		Name: "ibfindnodesusing", Std: true,
		Family: &getopt.Family{Usage: usage, UsageToOut: true, UsageCode: cmdutil.ExitUsage, FailureCode: getopt.ExitFailure},
		Options: append([]getopt.Option{
			// ibkit stores no topology file: it always scans.
			{Short: 'R', Help: "scan the fabric again", Set: getopt.Ignore},
		}, c.StdOptions()...),
		Run: c.run,
	}
}

func usage(t *getopt.Tool) string {
	return "Usage: " + t.Name + ` [-R -C <ca_name> -P <ca_port>] <switch_guid|switch_name> <port>
   find a list of nodes which are routed through switch:port
   -R Recalculate ibnetdiscover information
   -C <ca_name> use selected Channel Adaptor name for queries
   -P <ca_port> use selected channel adaptor port for queries
`
}

func (c *command) run(ctx context.Context, operands []string) error {
	if len(operands) < 2 || operands[1] == "" {
		return getopt.ErrUsage
	}
	if err := c.Complete(ctx, c.Env); err != nil {
		return err
	}
	names, err := c.Names(c.Env)
	if err != nil {
		return err
	}
	port, err := c.Open(ctx)
	if err != nil {
		return err
	}
	defer port.Close()
	client := umad.NewClient(port, c.Client(c.Env))
	f, err := fabric.Discover(ctx, client, fabric.DiscoverOptions{NoExtendedPortInfo: true})
	if err != nil {
		return err
	}
	s := &search{fabric: f, nodes: f.Replay(nil).Nodes, names: names}
	target := formatGUID(operands[0])
	sw := s.find(operands[0], target)
	if sw == nil {
		fmt.Fprintf(c.Env.Out, "Switch \"%s\" not found\n   Try running with the \"-R\" or \"-P\" option.\n", target)
		return &cmdutil.ExitError{Code: cmdutil.ExitFailed}
	}
	peer := peerOf(sw, operands[1])
	if err := s.read(ctx, client, sw, peer); err != nil {
		return err
	}
	for _, failure := range s.routing.Failures {
		fmt.Fprintf(c.Env.ErrOut, "warning: %v\n", failure.Err)
	}
	return s.print(c.Env.Out, sw, operands[1], peer)
}

// formatGUID returns a GUID text as the script compares it: 16 digits in lower case, for
// any operand.
func formatGUID(operand string) string {
	lower := strings.Map(func(r rune) rune {
		if r >= 'A' && r <= 'F' {
			r += 'a' - 'A'
		}
		return r
	}, operand)
	if i := strings.Index(lower, "0x"); i >= 0 {
		lower = lower[i+2:]
	}
	return "0x" + strings.Repeat("0", max(0, 16-len(lower))) + lower
}

// A search finds the nodes that use a port.
type search struct {
	fabric  *fabric.Fabric
	nodes   []*fabric.Node // in libibnetdisc's order
	names   *fabric.NameMap
	routing *route.Routing
	ports   []*forwarding.Destination // by LID
}

// find returns the switch with a GUID or a name, or nil.
func (s *search) find(name, guid string) *fabric.Node {
	i := slices.IndexFunc(s.nodes, func(n *fabric.Node) bool {
		return n.IsSwitch() && (n.GUID.String() == guid || s.names.Name(n) == name)
	})
	if i < 0 {
		return nil
	}
	return s.nodes[i]
}

// peerOf returns the port at the other end of a port's link, nil without a link.
func peerOf(sw *fabric.Node, number string) *fabric.Port {
	for _, p := range sw.Ports {
		if p != nil && p.Number != 0 && strconv.Itoa(int(p.Number)) == number {
			return p.Peer
		}
	}
	return nil
}

// read reads the tables of the switch and its peer.
func (s *search) read(ctx context.Context, client *umad.Client, sw *fabric.Node, peer *fabric.Port) error {
	s.ports = forwarding.ByLID(s.nodes, s.names)
	s.routing = route.FromFabric(s.fabric)
	o := route.ReadOptions{Switches: []*route.Node{s.routing.NodeByGUID(sw.GUID)}}
	if peer != nil && peer.Node.Switch != nil && peer.Node != sw {
		o.Switches = append(o.Switches, s.routing.NodeByGUID(peer.Node.GUID))
	}
	return route.Read(ctx, client, s.routing, o)
}

// adapterEntry is the script's pattern for an ibroute entry.
var adapterEntry = lazyregexp.New(`\w+\s+(\d+)\s+:\s+\(Channel Adapter.*:\s+'(.*)'\)`)

// hosts returns the names of the adapters that a port leads to, after the nameless entry
// that the script puts in front.
func (s *search) hosts(n *fabric.Node, port string) []string {
	hosts := []string{""}
	if n == nil || n.Switch == nil {
		return hosts
	}
	tables := s.routing.NodeByGUID(n.GUID).Tables
	var text bytes.Buffer
	out := render.NewOutput(&text)
	p := &forwarding.Printer{Out: out, Warn: func(string, string, ...any) {}}
	sw := &forwarding.Switch{GUID: n.GUID, Info: *n.Switch, Ports: int(n.Info.NumPorts)}
	first, last := p.Range(sw, 0, 0)
	p.Unicast(sw, first, last, func(lid ib.LID) (uint8, bool) { return tables.Lookup(lid), true },
		&forwarding.Destinations{Find: func(lid ib.LID) *forwarding.Destination { return s.ports[lid] }, Unknown: "unknown node and type"})
	_ = out.Flush() // a Buffer has no errors
	want := getopt.Atoi(port)
	for line := range bytes.Lines(text.Bytes()) {
		if m := adapterEntry.FindSubmatch(line); m != nil && getopt.Atoi(string(m[1])) == want {
			hosts = append(hosts, string(m[2]))
		}
	}
	return hosts
}

// print prints the hosts behind the link in both directions.
func (s *search) print(w io.Writer, sw *fabric.Node, port string, peer *fabric.Port) error {
	kind := "base"
	if sw.Switch != nil && sw.Switch.EnhancedPort0 != 0 {
		kind = "enhanced"
	}
	near := fmt.Sprintf("%v %s (\"%s\" %s)", sw.GUID, port, s.names.Name(sw), kind)
	far, back := "  ()", []string{""}
	if peer != nil {
		number := strconv.Itoa(int(peer.Number))
		far = fmt.Sprintf("%v %s (%s)", peer.Node.GUID, number, s.names.Name(peer.Node))
		back = s.hosts(peer.Node, number)
	}
	out := render.NewOutput(w)
	fmt.Fprintf(out, "%s  ==>>  %s\n%s\n\n", near, far, compress(s.hosts(sw, port)))
	fmt.Fprintf(out, "%s  <<==  %s\n%s\n", near, far, compress(back))
	return out.Flush()
}
