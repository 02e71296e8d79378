// Package ibccconfig implements ibccconfig from infiniband-diags. It sends a single
// attribute with the values on the command line unchecked, while package cc reads,
// compares and verifies settings on all agents.
package ibccconfig

import (
	"context"
	"errors"

	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/cmd/internal/getopt"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/umad"
)

// An operation is a tool operation with its operands in the usage text. Its errors are
// the C tool's texts.
type operation struct {
	name, alias, operands string
	run                   func(*call, []string) error
}

var operations = []operation{
	{"CongestionKeyInfo", "CK", "<cckey> <cckeyprotectbit> <cckeyleaseperiod> <cckeyviolations>", (*call).setKey},
	{
		"SwitchCongestionSetting", "SS",
		"<controlmap> <victimmask> <creditmask> <threshold> <packetsize> <csthreshold> <csreturndelay> <markingrate>", (*call).switchSetting,
	},
	{"SwitchPortCongestionSetting", "SP", "<portnum> <valid> <control_type> <threshold> <packet_size> <cong_parm_marking_rate>", (*call).switchPort},
	{"CACongestionSetting", "CS", "<port_control> <control_map> <ccti_timer> <ccti_increase> <trigger_threshold> <ccti_min>", (*call).adapter},
	{"CongestionControlTable", "CT", "<cctilimit> <index> <cctentry> <cctentry> ...", (*call).table},
}

// A command is an ibccconfig call.
type command struct {
	*getopt.Diag
	key mad.Key
}

// New returns ibccconfig.
func New(env *cmdutil.Env) *getopt.Tool {
	c := &command{Diag: getopt.NewDiag(env, "ibccconfig")}
	c.Subject = "destination"
	usage := "[-c key] <op> <lid|guid>\n\nWARNING -- You should understand what you are doing before using this tool." +
		"  Misuse of this tool could result in a broken fabric.\n\nSupported ops (and aliases, case insensitive):\n"
	for _, o := range operations {
		usage += "  " + o.name + " (" + o.alias + ") <lid|guid> " + o.operands + "\n"
	}
	return &getopt.Tool{
		Name: "ibccconfig", Family: getopt.InfinibandDiags, Operands: usage,
		Examples: []string{
			"SwitchCongestionSetting 2 0x1F 0x1FFFFFFFFF 0x0 0xF 8 0 0:0 1\t# Configure Switch Congestion Settings",
			"CACongestionSetting 1 0 0x3 150 1 0 0\t\t# Configure CA Congestion Settings to SL 0 and SL 1",
			"CACongestionSetting 1 0 0x4 200 1 0 0\t\t# Configure CA Congestion Settings to SL 2",
			"CongestionControlTable 1 63 0 0:0 0:1 ...\t# Configure first block of Congestion Control Table",
			"CongestionControlTable 1 127 0 0:64 0:65 ...\t# Configure second block of Congestion Control Table",
		},
		Options: append([]getopt.Option{getopt.CCKey(&c.key)}, c.Options("DK")...),
		Run:     c.run,
	}
}

// A call is an operation's state.
type call struct {
	*command
	ctx    context.Context
	client *umad.Client
	to     getopt.PortID
	port   *umad.Identity // for which the changes are meant
}

func (c *command) run(ctx context.Context, operands []string) error {
	if len(operands) < 2 {
		return getopt.ErrUsage
	}
	var list []getopt.Operation[func(*call, []string) error]
	for _, o := range operations {
		list = append(list, getopt.Operation[func(*call, []string) error]{Name: o.name, Alias: o.alias, Run: o.run})
	}
	o := getopt.FindOperation(list, operands[0])
	if o == nil {
		return c.Iberror("main", nil, "operation '%s' not supported", operands[0])
	}
	port, err := c.CompleteAndOpen(ctx)
	if err != nil {
		return err
	}
	defer port.Close()
	q := &call{command: c, ctx: ctx, client: c.NewClient(port)}
	if q.to, err = c.PortID(ctx, q.client, operands[1]); err != nil {
		return err
	}
	q.port = c.Identify(ctx, q.client, q.to.Target, operands[1])
	if failure := o.Run(q, operands[2:]); failure != nil {
		return c.Iberror("main", nil, "operation %s: %v", operands[0], failure)
	}
	return nil
}

// send sends a request with attribute data, and returns the reply data; nil: it failed.
func (c *call) send(method mad.Method, a mad.Attribute, modifier uint32, data []byte) []byte {
	reply, err := c.Call(c.ctx, c.client, getopt.MadRPC, c.to, &umad.Request{
		Class: mad.ClassCC, Method: method, Attr: a.Spec().ID, Modifier: modifier, Data: data, Key: c.key,
		Expect: c.port,
	})
	if err != nil {
		return nil
	}
	return reply.Data()
}

// set sends a Set for an attribute. what is the attribute name in the error.
func (c *call) set(a mad.Attribute, modifier uint32, what string) error {
	data := make([]byte, a.Spec().Size)
	if err := mad.Encode(a, data); err != nil {
		return err
	}
	if c.send(mad.MethodSet, a, modifier, data) == nil {
		return errors.New(what + " config failed")
	}
	return nil
}
