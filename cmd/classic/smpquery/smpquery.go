// Package smpquery implements smpquery from infiniband-diags. It prints a single
// attribute in libibmad's dump format (dump.c), which has other names, units and widths
// than the field texts in package query.
package smpquery

import (
	"context"
	"errors"
	"strings"

	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/cmd/internal/getopt"
	"github.com/ibkit/ibkit/cmd/internal/render"
	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/umad"
)

// operations are the operations in usage text order. Each takes the operands after the
// destination. Its error is the C tool's text.
var operations = []getopt.Operation[func(*query, []string) error]{
	{Name: "NodeInfo", Alias: "NI", Run: (*query).nodeInfo},
	{Name: "NodeDesc", Alias: "ND", Run: (*query).nodeDescription},
	{Name: "PortInfo", Alias: "PI", Port: true, Run: (*query).portInfo},
	{Name: "PortInfoExtended", Alias: "PIE", Port: true, Run: (*query).portInfoExtended},
	{Name: "SwitchInfo", Alias: "SI", Run: (*query).switchInfo},
	{Name: "PKeyTable", Alias: "PKeys", Port: true, Run: (*query).pkeyTable},
	{Name: "SL2VLTable", Alias: "SL2VL", Port: true, Run: (*query).slToVL},
	{Name: "VLArbitration", Alias: "VLArb", Port: true, Run: (*query).vlArbitration},
	{Name: "GUIDInfo", Alias: "GI", Run: (*query).guidInfo},
	{Name: "MlnxExtPortInfo", Alias: "MEPI", Port: true, Run: (*query).extendedPortInfo},
}

// command is an smpquery call.
type command struct {
	*getopt.Diag
	combined bool // the destination is a LID and a route
	extended bool
}

// New returns smpquery.
func New(env *cmdutil.Env) *getopt.Tool {
	c := &command{Diag: getopt.NewDiag(env, "smpquery")}
	options := append([]getopt.Option{
		{Long: "combined", Short: 'c', Help: "use Combined route address argument", Set: getopt.True(&c.combined)},
		{Long: "node-name-map", Arg: "<file>", Help: "node name map file", Set: getopt.Text(&c.NameMap)},
		{Long: "extended", Short: 'x', Help: "use extended speeds", Set: getopt.True(&c.extended)},
	}, c.Options("")...)
	for i := range options {
		if o := &options[i]; strings.IndexByte("DLG", o.Short) >= 0 {
			set := o.Set
			o.Set = func(value string) error { // the last address kind applies
				c.combined = false
				return set(value)
			}
		}
	}
	return &getopt.Tool{
		Name: "smpquery", Family: getopt.InfinibandDiags,
		Operands: getopt.OperationUsage("<op> <dest dr_path|lid|guid> [op params]", "<addr>", operations),
		Examples: []string{
			"portinfo 3 1\t\t\t\t# portinfo by lid, with port modifier",
			"-G switchinfo 0x2C9000100D051 1\t# switchinfo by guid",
			"-D nodeinfo 0\t\t\t\t# nodeinfo by direct route",
			"-c nodeinfo 6 0,12\t\t\t# nodeinfo by combined route",
		},
		Options: options,
		Run:     c.run,
	}
}

// A query is an operation's state.
type query struct {
	*command
	ctx    context.Context
	client *umad.Client
	names  *fabric.NameMap
	to     getopt.PortID
	out    *render.Output
}

func (c *command) run(ctx context.Context, operands []string) (err error) {
	if len(operands) < 2 {
		return getopt.ErrUsage
	}
	name, operands := operands[0], operands[1:]
	operation := getopt.FindOperation(operations, name)
	if operation == nil {
		return c.Iberror("main", nil, "operation '%s' not supported", name)
	}
	port, err := c.CompleteAndOpen(ctx)
	if err != nil {
		return err
	}
	defer port.Close()
	q := &query{command: c, ctx: ctx, client: c.NewClient(port), out: render.NewOutput(c.Env.Out)}
	if q.names, err = c.Names(c.Env); err != nil {
		return err
	}
	rest, err := q.resolve(operands, port.Attr().LID)
	if err != nil {
		return err
	}
	failure := operation.Run(q, rest)
	if err := q.out.Flush(); err != nil {
		return err
	}
	var exit *cmdutil.ExitError
	if failure == nil || errors.As(failure, &exit) {
		return failure
	}
	return c.Iberror("main", nil, "operation %s: %v", name, failure)
}

// resolve finds the destination and returns the operands after it.
func (q *query) resolve(operands []string, local ib.LID) (rest []string, err error) {
	if !q.combined {
		q.to, err = q.PortID(q.ctx, q.client, operands[0])
		return operands[1:], err
	}
	route, rest := "(null)", nil // as the C tool prints a route that is missing
	if len(operands) > 1 {
		route, rest = operands[1], operands[2:]
	}
	q.to, err = q.CombinedPortID(operands[0]+" "+route, local)
	return rest, err
}

// get requests an attribute, and reports whether it has received it.
func (q *query) get(a mad.Attribute, modifier uint32) bool {
	_, err := q.Call(q.ctx, q.client, getopt.MadRPC, q.to, &umad.Request{Value: a, Modifier: modifier})
	return err == nil
}

// portNumber returns the port number in an operation's operands, or 0.
func portNumber(operands []string) int32 {
	if len(operands) == 0 {
		return 0
	}
	return int32(getopt.Strtol(operands[0]))
}
