// Package ibtracert implements ibtracert from infiniband-diags. It has its own path
// search: the original prints each hop before it requests the next, with warnings between
// the hops, while package route reads all tables first.
package ibtracert

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/cmd/internal/getopt"
	"github.com/ibkit/ibkit/cmd/internal/render"
	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/umad"
)

// command is an ibtracert call.
type command struct {
	*getopt.Diag
	force     bool
	simple    bool // without names and LIDs
	multicast bool
	mlid      uint32
	portsFile string
}

// New returns ibtracert.
func New(env *cmdutil.Env) *getopt.Tool {
	c := &command{Diag: getopt.NewDiag(env, "ibtracert")}
	options := []getopt.Option{
		{Long: "force", Short: 'f', Help: "force", Set: getopt.True(&c.force)},
		{Long: "no_info", Short: 'n', Help: "simple format", Set: getopt.True(&c.simple)},
		{Long: "mlid", Short: 'm', Arg: "<mlid>", Help: "multicast trace of the mlid", Set: func(value string) error {
			c.multicast, c.mlid = true, uint32(getopt.Strtoull(value))
			return nil
		}},
		{Long: "node-name-map", Arg: "<file>", Help: "node name map file", Set: getopt.Text(&c.NameMap)},
		{Long: "ports-file", Arg: "<file>", Help: "port pairs file", Set: getopt.Text(&c.portsFile)},
	}
	return &getopt.Tool{
		Name: "ibtracert", Family: getopt.InfinibandDiags, Operands: "<src-addr> <dest-addr>",
		Examples: []string{
			"- Unicast examples:",
			"4 16\t\t\t# show path between lids 4 and 16",
			"-n 4 16\t\t# same, but using simple output format",
			"-G 0x8f1040396522d 0x002c9000100d051\t# use guid addresses",
			" - Multicast examples:",
			"-m 0xc000 4 16\t# show multicast path of mlid 0xc000 between lids 4 and 16",
		},
		Options: append(options, c.Options("DK")...), Run: c.run,
	}
}

// A tracer follows routes.
type tracer struct {
	*command
	ctx    context.Context
	client *umad.Client
	names  *fabric.NameMap
	out    *render.Output
}

// errRoute is a single route's failure; its reason was printed.
var errRoute = errors.New("no route")

func (c *command) run(ctx context.Context, operands []string) (err error) {
	if len(operands) < 2 && c.portsFile == "" {
		return getopt.ErrUsage
	}
	port, err := c.CompleteAndOpen(ctx)
	if err != nil {
		return err
	}
	defer port.Close()
	t := &tracer{command: c, ctx: ctx, client: c.NewClient(port), out: render.NewOutput(c.Env.Out)}
	if t.names, err = c.Names(c.Env); err != nil {
		return err
	}
	if c.portsFile != "" {
		return t.runPairs()
	}
	err = t.route(operands[0], operands[1])
	if flushed := t.out.Flush(); flushed != nil {
		return flushed
	}
	if err != nil {
		return c.Iberror("main", nil, "Failed to get route information")
	}
	return nil
}

// runPairs follows each pair's route in the file.
func (t *tracer) runPairs() error {
	file, err := os.Open(t.portsFile)
	if err != nil {
		return t.Iberror("main", nil, "cannot open ports-file %s", t.portsFile)
	}
	defer file.Close()
	pairs, line := 0, 0
	failed := func(format string, args ...any) error {
		if err := t.out.Flush(); err != nil {
			return err
		}
		return t.Iberror("main", nil, format, args...)
	}
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		line++
		fields := strings.Fields(lines.Text())
		if len(fields) == 0 || fields[0][0] == '#' {
			continue
		}
		if len(fields) < 2 {
			return failed("ports-file, %s, at line %d contains bad data", t.portsFile, line)
		}
		pairs++
		if t.route(fields[0], fields[1]) != nil {
			return failed("Failed to get route information at line %d", line)
		}
	}
	if errors.Is(lines.Err(), bufio.ErrTooLong) {
		return failed("ports-file, %s, at line %d contains bad data", t.portsFile, line+1)
	}
	fmt.Fprintf(t.out, "%d lid/guid pairs processed from %s\n", pairs, t.portsFile)
	return t.out.Flush()
}

// resolve returns an operand's LID.
func (t *tracer) resolve(operand string) (ib.LID, bool) {
	if t.ByGUID {
		guid := getopt.Strtoull(operand)
		if guid == 0 {
			return 0, false
		}
		to, err := t.client.TargetOf(t.ctx, ib.GUID(guid), t.SMLID)
		return to.LID, err == nil
	}
	n := int(int32(getopt.Strtol(operand)))
	return ib.LID(n), n > 0 && n <= int(ib.MaxUnicastLID)
}

// route follows the route from one operand to another.
func (t *tracer) route(from, to string) error {
	const function = "get_route"
	source, ok := t.resolve(from)
	if !ok {
		t.Ibwarn(function, "can't resolve source port %s", from)
		return errRoute
	}
	dest, ok := t.resolve(to)
	if !ok {
		t.Ibwarn(function, "can't resolve destination port %s", to)
		return errRoute
	}
	// A directed route to the source comes first.
	at := &place{route: mad.Local}
	if t.follow(at, &place{lid: source}, silent) != nil {
		t.Ibwarn(function, "can't find a route to the src port")
		return errRoute
	}
	if t.multicast {
		return t.followMulticast(at, &place{lid: dest})
	}
	if t.follow(at, &place{lid: dest}, t.level()) != nil {
		t.Ibwarn(function, "can't find a route from src to dest")
		return errRoute
	}
	return nil
}

// A level is the output detail.
type level uint8

const (
	silent level = iota
	brief
	full
)

func (t *tracer) level() level {
	if t.simple {
		return brief
	}
	return full
}
