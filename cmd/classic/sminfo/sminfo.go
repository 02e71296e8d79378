// Package sminfo implements sminfo from infiniband-diags. It sends a request to a single
// port, with any state and priority, and prints the reply, while package sm scans the
// fabric for all managers and verifies changes.
package sminfo

import (
	"context"
	"fmt"

	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/cmd/internal/getopt"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/umad"
)

// command is an sminfo call.
type command struct {
	*getopt.Diag
	state, priority, activity int
}

// New returns sminfo.
func New(env *cmdutil.Env) *getopt.Tool {
	c := &command{Diag: getopt.NewDiag(env, "sminfo"), state: int(mad.SMStandby)}
	number := func(to *int) func(string) error {
		return func(value string) error {
			*to = getopt.Strtol(value)
			return nil
		}
	}
	return &getopt.Tool{
		Name: "sminfo", Family: getopt.InfinibandDiags, Operands: "<sm_lid|sm_dr_path> [modifier]",
		Options: append([]getopt.Option{
			{Long: "state", Short: 's', Arg: "<0-3>", Help: "set SM state", Set: number(&c.state)},
			{Long: "priority", Short: 'p', Arg: "<0-15>", Help: "set SM priority", Set: number(&c.priority)},
			{Long: "activity", Short: 'a', Arg: "<val>", Help: "set activity count", Set: number(&c.activity)},
		}, c.Options("sK")...),
		Run: c.run,
	}
}

// stateNames are the state names that sminfo prints.
var stateNames = [...]string{
	mad.SMNotActive:   "SMINFO_NOTACT",
	mad.SMDiscovering: "SMINFO_DISCOVER",
	mad.SMStandby:     "SMINFO_STANDBY",
	mad.SMMaster:      "SMINFO_MASTER",
}

func stateName(s mad.SMState) string {
	if int(s) < len(stateNames) {
		return stateNames[s]
	}
	return "???"
}

func (c *command) run(ctx context.Context, operands []string) error {
	port, err := c.CompleteAndOpen(ctx)
	if err != nil {
		return err
	}
	defer port.Close()
	client := c.NewClient(port)
	var to getopt.PortID
	if len(operands) > 0 {
		if to, err = c.PortID(ctx, client, operands[0]); err != nil {
			return err
		}
	} else {
		if to.LID = port.Attr().SMLID; to.LID == 0 {
			to.Route = mad.Local
		}
		to.Text = to.String()
	}
	// The C tool's fields have as many bits as the attribute.
	info := mad.SMInfo{
		ActCount: uint32(c.activity), Priority: uint8(c.priority) & 0xf, State: mad.SMState(c.state) & 0xf,
	}
	payload := make([]byte, info.Spec().Size)
	if err := mad.Encode(&info, payload); err != nil {
		return err
	}
	q := umad.Request{Value: &info, Data: payload}
	if len(operands) > 1 {
		// An operation on the subnet manager (InfiniBand Architecture, Volume 1,
		// 14.4.1).
		if q.Modifier = uint32(getopt.Atoi(operands[1])); q.Modifier != 0 {
			q.Method, q.Expect = mad.MethodSet, c.Identify(ctx, client, to.Target, operands[0])
		}
	}
	if _, err := c.Call(ctx, client, getopt.MadRPC, to, &q); err != nil {
		return c.Iberror("main", nil, "query")
	}
	_, err = fmt.Fprintf(c.Env.Out, "sminfo: sm lid %d sm guid 0x%x, activity count %d priority %d state %d %s\n",
		to.LID, uint64(info.GUID), info.ActCount, info.Priority, info.State, stateName(info.State))
	return err
}
