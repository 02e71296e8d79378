// Package ibccquery implements ibccquery from infiniband-diags. It prints a single
// attribute in libibmad's dump format, which differs from the field texts in package cc.
package ibccquery

import (
	"context"
	"errors"
	"fmt"

	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/cmd/internal/getopt"
	"github.com/ibkit/ibkit/cmd/internal/render"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/umad"
)

// operations are the operations in usage text order. Their errors are the C tool's texts.
var operations = []getopt.Operation[func(*query, []string) error]{
	{Name: "ClassPortInfo", Alias: "CP", Run: show("ClassPortInfo", "class port info", func() mad.Attribute { return &mad.ClassPortInfo{} })},
	{Name: "CongestionInfo", Alias: "CI", Run: show("CongestionInfo", "congestion info", func() mad.Attribute { return &mad.CongestionInfo{} })},
	{Name: "CongestionKeyInfo", Alias: "CK", Run: show("CongestionKeyInfo", "congestion key info", func() mad.Attribute { return &mad.CongestionKeyInfo{} })},
	{Name: "CongestionLog", Alias: "CL", Run: (*query).log},
	{Name: "SwitchCongestionSetting", Alias: "SS", Run: show("SwitchCongestionSetting", "switch congestion setting", func() mad.Attribute { return &mad.SwitchCongestionSetting{} })},
	{Name: "SwitchPortCongestionSetting", Alias: "SP", Port: true, Run: (*query).ports},
	{Name: "CACongestionSetting", Alias: "CS", Run: show("CACongestionSetting", "ca congestion setting", func() mad.Attribute { return &mad.CACongestionSetting{} })},
	{Name: "CongestionControlTable", Alias: "CT", Run: (*query).table},
	{Name: "Timestamp", Alias: "TI", Run: show("Timestamp", "timestamp", func() mad.Attribute { return &mad.TimeStamp{} })},
}

// command is an ibccquery call.
type command struct {
	*getopt.Diag
	key mad.Key
}

// New returns ibccquery.
func New(env *cmdutil.Env) *getopt.Tool {
	c := &command{Diag: getopt.NewDiag(env, "ibccquery")}
	c.Subject = "destination"
	return &getopt.Tool{
		Name: "ibccquery", Family: getopt.InfinibandDiags,
		Operands: getopt.OperationUsage("[-c key] <op> <lid|guid>", "<lid|guid>", operations),
		Examples: []string{
			"CongestionInfo 3\t\t\t# Congestion Info by lid",
			"SwitchPortCongestionSetting 3\t# Query all Switch Port Congestion Settings",
			"SwitchPortCongestionSetting 3 1\t# Query Switch Port Congestion Setting for port 1",
		},
		Options: append([]getopt.Option{getopt.CCKey(&c.key)}, c.Options("DK")...),
		Run:     c.run,
	}
}

// A query is an operation's state.
type query struct {
	*command
	ctx    context.Context
	client *umad.Client
	to     getopt.PortID
	out    *render.Output
}

func (c *command) run(ctx context.Context, operands []string) error {
	if len(operands) < 2 {
		return getopt.ErrUsage
	}
	operation := getopt.FindOperation(operations, operands[0])
	if operation == nil {
		return c.Iberror("main", nil, "operation '%s' not supported", operands[0])
	}
	port, err := c.CompleteAndOpen(ctx)
	if err != nil {
		return err
	}
	defer port.Close()
	q := &query{command: c, ctx: ctx, client: c.NewClient(port), out: render.NewOutput(c.Env.Out)}
	if q.to, err = c.PortID(ctx, q.client, operands[1]); err != nil {
		return err
	}
	failure := operation.Run(q, operands[2:])
	if err := q.out.Flush(); err != nil || failure == nil {
		return err
	}
	return c.Iberror("main", nil, "operation %s: %v", operands[0], failure)
}

// get requests a congestion control attribute, and returns its data.
func (q *query) get(a mad.Attribute, modifier uint32) (data []byte, ok bool) {
	reply, err := q.Call(q.ctx, q.client, getopt.MadRPC, q.to, &umad.Request{Class: mad.ClassCC, Value: a, Modifier: modifier, Key: q.key})
	if err != nil {
		return nil, false
	}
	return reply.Data(), true
}

// show returns an operation that prints an attribute as a whole.
func show(title, what string, empty func() mad.Attribute) func(*query, []string) error {
	return func(q *query, _ []string) error {
		a := empty()
		if _, ok := q.get(a, 0); !ok {
			return errors.New(what + " query failed")
		}
		fmt.Fprintf(q.out, "# %s: %s\n", title, q.to.Text)
		return mad.Dump(q.out, mad.WithKeys(a))
	}
}

func (q *query) log([]string) error {
	var log mad.CongestionLog
	data, ok := q.get(&log, 0)
	if !ok {
		return errors.New("congestion log query failed")
	}
	const logSwitch, logCA = 1, 2
	if kind := data[0]; kind != logSwitch && kind != logCA {
		return errors.New("unrecognized log type")
	}
	fmt.Fprintf(q.out, "# CongestionLog: %s\n", q.to.Text)
	return mad.Dump(q.out, &log)
}
