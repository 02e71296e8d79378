// Package smpdump implements smpdump from infiniband-diags. It sends any attribute number
// and prints the bytes, while package query sends the attributes that it can decode.
package smpdump

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/cmd/internal/getopt"
	"github.com/ibkit/ibkit/cmd/internal/render"
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/umad"
)

// command is an smpdump call.
type command struct {
	*getopt.Diag
	asString bool
}

// New returns smpdump.
func New(env *cmdutil.Env) *getopt.Tool {
	c := &command{Diag: getopt.NewDiag(env, "smpdump")}
	return &getopt.Tool{
		Name: "smpdump", Family: getopt.InfinibandDiags, Operands: "<dlid|dr_path> <attr> [mod]",
		Examples: []string{
			" -- DR routed examples:",
			"-D 0,1,2,3,5 16\t# NODE DESC",
			"-D 0,1,2 0x15 2\t# PORT INFO, port 2",
			" -- LID routed examples:",
			"3 0x15 2\t# PORT INFO, lid 3 port 2",
			"0xa0 0x11\t# NODE INFO, lid 0xa0",
		},
		Options: append([]getopt.Option{
			{Long: "string", Short: 's', Set: getopt.True(&c.asString)},
		}, c.Options("GKs")...),
		Run: c.run,
	}
}

func (c *command) run(ctx context.Context, operands []string) error {
	if len(operands) < 2 {
		return getopt.ErrUsage
	}
	to, err := c.target(operands[0])
	if err != nil {
		return err
	}
	q := umad.Request{To: to, Attr: mad.AttrID(getopt.Strtol(operands[1]))}
	if len(operands) > 2 {
		q.Modifier = uint32(getopt.Strtol(operands[2]))
	}
	if err := c.Complete(ctx, c.Env); err != nil {
		return err
	}
	port, err := c.Open(ctx)
	if err != nil {
		device, number := c.LocalPort()
		return fmt.Errorf("can't open UMAD port (%s:%d): %w", device, number, err)
	}
	defer port.Close()
	o := c.Client(c.Env)
	o.MKey, o.Attempts = 0, 1
	reply, err := umad.NewClient(port, o).Call(ctx, &q)
	var status mad.StatusError
	if err != nil && !errors.As(err, &status) {
		return err
	}
	out := render.NewOutput(c.Env.Out)
	if c.asString {
		text, _, _ := bytes.Cut(reply.Data(), []byte{0})
		out.WriteString(render.Printable(text) + "\n")
	} else {
		dump(out, reply.Data())
	}
	// A directed route's direction bit is part of the number, as in the C tool.
	if raw := binary.BigEndian.Uint16(reply.MAD[offStatus:]); raw != 0 {
		fmt.Fprintf(out, "SMP status: 0x%x\n", raw)
	}
	return out.Flush()
}

// offStatus is the status offset in a packet (InfiniBand Architecture, Volume 1, 13.4.3).
const offStatus = 4

// target parses the destination.
func (c *command) target(operand string) (to umad.Target, err error) {
	if c.Direct {
		if to.Route, err = getopt.ParseRoute(operand); err != nil {
			return to, fmt.Errorf("bad path str '%s': %w", operand, err)
		}
		return to, nil
	}
	if to.LID = ib.LID(getopt.Strtol(operand)); to.LID == 0 {
		return to, fmt.Errorf("bad LID '%s': no port has LID 0", operand)
	}
	return to, nil
}

// dump writes bytes like libibmad's xdump: eight words in a line.
func dump(out *render.Output, data []byte) {
	const word, line = 2, 16
	for i := 0; i < len(data); i += word {
		end := byte(' ')
		if (i+word)%line == 0 {
			end = '\n'
		}
		fmt.Fprintf(out, "%x%c", data[i:i+word], end)
	}
}
