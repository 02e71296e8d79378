// Package ibroute implements ibroute from infiniband-diags. It reads a single switch's
// table blocks in the selected range and prints entries before a failed block, while
// package route reads a scanned fabric's tables.
package ibroute

import (
	"context"
	"errors"
	"fmt"

	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/cmd/internal/getopt"
	"github.com/ibkit/ibkit/cmd/internal/render"
	"github.com/ibkit/ibkit/cmd/internal/shared/forwarding"
	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/umad"
)

// command is an ibroute call.
type command struct {
	*getopt.Diag
	forwarding.Options
}

// New returns ibroute.
func New(env *cmdutil.Env) *getopt.Tool {
	c := &command{Diag: getopt.NewDiag(env, "ibroute")}
	return &getopt.Tool{
		Name: "ibroute", Family: getopt.InfinibandDiags, Operands: "[<dest dr_path|lid|guid> [<startlid> [<endlid>]]]",
		Examples: []string{
			" -- Unicast examples:",
			"4\t# dump all lids with valid out ports of switch with lid 4",
			"-a 4\t# same, but dump all lids, even with invalid out ports",
			"-n 4\t# simple dump format - no destination resolving",
			"4 10\t# dump lids starting from 10",
			"4 0x10 0x20\t# dump lid range",
			"-G 0x08f1040023\t# resolve switch by GUID",
			"-D 0,1\t# resolve switch by direct path",
			" -- Multicast examples:",
			"-M 4\t# dump all non empty mlids of switch with lid 4",
			"-M 4 0xc010 0xc020\t# same, but with range",
			"-M -n 4\t# simple dump format",
		},
		Options: append(c.Define(&c.NameMap), c.Diag.Options("K")...), Run: c.run,
	}
}

// A reader reads a single switch's tables.
type reader struct {
	*command
	ctx    context.Context
	client *umad.Client
	names  *fabric.NameMap
	to     getopt.PortID
	sw     forwarding.Switch
	out    *render.Output
}

func (c *command) run(ctx context.Context, operands []string) error {
	if len(operands) == 0 {
		return getopt.ErrUsage
	}
	if err := c.Complete(ctx, c.Env); err != nil {
		return err
	}
	var start, end uint
	if len(operands) > 1 {
		start = uint(getopt.Strtoull(operands[1]))
	}
	if len(operands) > 2 {
		end = uint(getopt.Strtoull(operands[2]))
	}
	names, err := c.Names(c.Env)
	if err != nil {
		return err
	}
	port, err := c.OpenPort(ctx)
	if err != nil {
		return err
	}
	defer port.Close()
	r := &reader{command: c, ctx: ctx, client: c.NewClient(port), names: names, out: render.NewOutput(c.Env.Out)}
	if r.to, err = c.PortID(ctx, r.client, operands[0]); err != nil {
		return err
	}
	if failure := r.checkSwitch(); failure != "" {
		return c.Iberror("main", nil, "dump tables: %s", failure)
	}
	p := &forwarding.Printer{Options: c.Options, Out: r.out, Verbose: c.Verbose > 0, Warn: c.Ibwarn}
	if c.Multicast {
		r.multicast(p, start, end)
	} else {
		r.unicast(p, start, end)
	}
	return r.out.Flush()
}

// get queries a switch attribute.
func (r *reader) get(a mad.Attribute) bool {
	_, err := r.Call(r.ctx, r.client, getopt.MadRPC, r.to, &umad.Request{Value: a})
	return err == nil
}

// checkSwitch reads the switch attributes. It returns the C tool's text for the failure.
func (r *reader) checkSwitch() (failure string) {
	var info mad.NodeInfo
	var desc mad.NodeDescription
	switch {
	case !r.get(&info):
		return "node info failed: valid addr?"
	case !r.get(&desc):
		return "node desc failed"
	case !info.IsSwitch():
		return "not a switch"
	case !r.get(&r.sw.Info):
		return "switch info failed: is a switch node?"
	}
	r.sw.PortID, r.sw.GUID, r.sw.Name, r.sw.Ports = r.to.Text, info.NodeGUID, r.names.NameOf(info.NodeGUID, desc), int(info.NumPorts)
	return ""
}

// query submits requests for table blocks. The blocks before the first block without a
// response are valid, as for the C tool, which stops there. It returns the valid block
// count, and the next block's error.
func (r *reader) query(attr mad.AttrID, modifiers []uint32, store func(i int, data []byte) error) (valid int, err error) {
	failed := len(modifiers)
	errs := make([]error, len(modifiers))
	for i, modifier := range modifiers {
		r.client.Submit(&umad.Request{To: r.to.Target, Attr: attr, Modifier: modifier, Done: func(_ *umad.Request, reply *umad.Reply) {
			if errs[i] = reply.Err; errs[i] == nil {
				errs[i] = store(i, reply.Data())
			}
			if errs[i] != nil {
				failed = min(failed, i)
			}
		}})
	}
	if err := r.client.Run(r.ctx); err != nil {
		return 0, err
	}
	if failed < len(modifiers) {
		err = errs[failed]
	}
	return failed, err
}

// printFailure prints a block's error.
func (r *reader) printFailure(modifier uint32, err error) {
	r.WarnRPC(r.Env.ErrOut, getopt.MadRPC, r.to.Text, err)
	var status mad.StatusError
	errors.As(err, &status)
	fmt.Fprintf(r.Env.ErrOut, "SubnGet() failed; MAD status 0x%x AM 0x%x\n", uint16(status), modifier)
}

func (r *reader) unicast(p *forwarding.Printer, start, end uint) {
	first, last := p.Range(&r.sw, start, end)
	const size = 64
	table := make([]uint8, 0x10000)
	var modifiers []uint32
	for block := first / size; first >= 0 && block <= last/size; block++ {
		modifiers = append(modifiers, uint32(block))
	}
	valid, err := r.query(mad.AttrLinearForwardingTable, modifiers, func(i int, data []byte) error {
		var block mad.LinearForwardingTable
		err := mad.Decode(&block, data)
		copy(table[modifiers[i]*size:], block.Ports[:])
		return err
	})
	known := func(lid ib.LID) (uint8, bool) { return table[lid], int(lid)/size < first/size+valid }
	d := &forwarding.Destinations{Unknown: "unknown node and type"}
	if !r.Brief {
		d.Find = r.destinations(first, last, known)
	}
	whole := valid == len(modifiers)
	p.UnicastUntil(&r.sw, first, last, known, d, whole)
	if !whole {
		r.printFailure(modifiers[valid], err)
	}
}

// maxMulticastGroups is the count of 16-port groups.
const maxMulticastGroups = 16

func (r *reader) multicast(p *forwarding.Printer, start, end uint) {
	first, last := p.MulticastRange(&r.sw, start, end)
	const size = 32
	groups := uint(r.sw.Ports+16) / 16
	table := map[ib.LID]mad.PortMask{}
	var modifiers []uint32
	for block := first / size; block <= last/size; block++ {
		for group := range min(groups, maxMulticastGroups) {
			modifiers = append(modifiers, uint32(block-uint(ib.MinMulticastLID)/size)|uint32(group)<<28)
		}
	}
	valid, err := r.query(mad.AttrMulticastForwardingTable, modifiers, func(i int, data []byte) error {
		var block mad.MulticastForwardingTable
		if err := mad.Decode(&block, data); err != nil {
			return err
		}
		for k, bits := range block.Masks {
			lid := ib.MinMulticastLID + ib.LID(modifiers[i]&0x1ff*size) + ib.LID(k)
			mask := table[lid]
			for bit := range 16 {
				if bits>>bit&1 != 0 {
					mask.Add(uint8(modifiers[i]>>28*16) + uint8(bit))
				}
			}
			if mask != (mad.PortMask{}) {
				table[lid] = mask
			}
		}
		return nil
	})
	whole := uint(valid) / groups // blocks with all groups
	p.MulticastUntil(&r.sw, first, last, func(lid ib.LID) (mad.PortMask, bool) {
		return table[lid], uint(lid)/size < first/size+whole
	}, valid == len(modifiers))
	if valid < len(modifiers) {
		r.printFailure(modifiers[valid], err)
	}
}
