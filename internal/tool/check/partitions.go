package check

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/report"
	"github.com/ibkit/ibkit/umad"
)

// defaultPartition is the default partition's P_Key base, which packets to subnet
// administration use (InfiniBand Architecture, Volume 1, 10.9.1.2).
const defaultPartition = 0x7fff

// partitions are a port's P_Keys.
type partitions struct {
	port   *fabric.Port
	keys   []mad.PKey
	failed bool
}

// checkPartitions compares end port P_Keys with the P_Keys on the switch ports that enforce
// them.
func checkPartitions(ctx context.Context, r *fabricRun) error {
	var ends []*partitions
	edges := map[*fabric.Port]*partitions{} // by end port
	err := r.call(ctx, r.opts.Source.Client, func(c *umad.Client) {
		for p := range r.endPorts() {
			t := &partitions{port: p}
			ends = append(ends, t)
			r.readPKeys(c, t, p.Node.Info.PartitionCap, 0)
			if edge := p.Peer; edge != nil && enforces(edge) {
				e := &partitions{port: edge}
				edges[p] = e
				r.readPKeys(c, e, edge.Node.Switch.PartitionEnforcementCap, uint32(edge.Number)<<16)
			}
		}
	})
	if err != nil {
		return err
	}
	members := map[uint16]*membership{}
	for _, t := range ends {
		if t.failed {
			continue
		}
		r.checkKeys(t, edges[t.port])
		countMembers(members, t)
	}
	for _, base := range slices.Sorted(maps.Keys(members)) {
		if m := members[base]; m.full == 0 && m.limited > 1 {
			r.add(finding(report.LimitedMembers, fmt.Sprintf("partition %#04x", base),
				"all %d members are limited: they cannot communicate with each other, for example %s", m.limited, r.names.PortName(m.example)))
		}
	}
	r.comment("%s, %s, %d enforced by switches", count(len(ends), "port"), count(len(members), "partition"), len(edges))
	r.skippedIf(len(ends) == 0, "no active port of an adapter or router")
	return nil
}

// endPorts yields active adapter and router ports.
func (r *fabricRun) endPorts() func(func(*fabric.Port) bool) {
	return func(yield func(*fabric.Port) bool) {
		for _, n := range r.fabric.Nodes {
			for _, p := range n.Ports {
				if !n.IsSwitch() && p != nil && p.Info != nil && p.Info.State == ib.PortActive && !yield(p) {
					return
				}
			}
		}
	}
}

// enforces reports whether a switch drops packets with P_Keys that the port lacks.
func enforces(p *fabric.Port) bool {
	return p.Node.Switch != nil && p.Node.Switch.PartitionEnforcementCap > 0 && p.Info != nil &&
		(p.Info.PartEnforceInbound != 0 || p.Info.PartEnforceOutbound != 0)
}

// pkeysPerBlock is the entry count per attribute.
const pkeysPerBlock = len(mad.PKeyTable{}.PKeys)

// readPKeys requests the blocks of a port's table.
func (r *fabricRun) readPKeys(c *umad.Client, t *partitions, entries uint16, modifier uint32) {
	blocks := (int(entries) + pkeysPerBlock - 1) / pkeysPerBlock
	t.keys = make([]mad.PKey, blocks*pkeysPerBlock)
	for block := range blocks {
		var a mad.PKeyTable
		c.SubmitGet(target(t.port), &a, func(err error) {
			if err != nil {
				if !t.failed {
					r.add(r.portFinding(report.Unchecked, t.port, "%v: %v", mad.AttrPKeyTable, err).WithHint("ibkit query P_KeyTable {node}"))
				}
				t.failed = true
				return
			}
			copy(t.keys[block*pkeysPerBlock:], a.PKeys[:])
		}, umad.Modifier(modifier|uint32(block)))
	}
}

// target returns the address of a port's subnet management agent.
func target(p *fabric.Port) umad.Target {
	if lid := p.LID(); lid != 0 {
		return umad.Target{LID: lid}
	}
	return umad.Target{Route: p.Node.Route}
}

// checkKeys checks an end port's P_Keys.
func (r *fabricRun) checkKeys(t, edge *partitions) {
	best := map[uint16]mad.PKey{} // the edge's keys; a full member's key if it has both
	if edge != nil {
		for _, k := range edge.keys {
			if k != 0 {
				best[k.Base()] = max(best[k.Base()], k)
			}
		}
	}
	hasDefault := false
	var missing []string
	for _, k := range t.keys {
		if k == 0 {
			continue
		}
		hasDefault = hasDefault || k.Base() == defaultPartition
		if edge != nil && !edge.failed && best[k.Base()] < k {
			missing = append(missing, k.String())
		}
	}
	if !hasDefault {
		r.add(r.portFinding(report.NoDefaultPKey, t.port, "the P_Key table has neither 0xffff nor 0x7fff: no access to subnet administration"))
	}
	if missing != nil {
		slices.Sort(missing)
		r.add(r.portFinding(report.NotOnSwitch, t.port, "%s enforces partitions without P_Key %s", r.names.PortName(edge.port), strings.Join(slices.Compact(missing), ", ")))
	}
}

// membership counts a partition's members.
type membership struct {
	full, limited int
	example       *fabric.Port
}

// countMembers counts a port as a member in its partitions.
func countMembers(members map[uint16]*membership, t *partitions) {
	full := map[uint16]bool{}
	for _, k := range t.keys {
		if k != 0 {
			full[k.Base()] = full[k.Base()] || k.Full()
		}
	}
	for base, isFull := range full {
		m := members[base]
		if m == nil {
			m = &membership{}
			members[base] = m
		}
		m.example = cmp.Or(m.example, t.port)
		if isFull {
			m.full++
		} else {
			m.limited++
		}
	}
}
