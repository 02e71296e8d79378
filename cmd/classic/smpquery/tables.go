package smpquery

import (
	"errors"
	"fmt"

	"github.com/ibkit/ibkit/mad"
)

func (q *query) pkeyTable(operands []string) error {
	number := portNumber(operands)
	var node mad.NodeInfo
	if !q.get(&node, 0) {
		return errNodeInfo
	}
	if number > int32(node.NumPorts) {
		return errPortNumber
	}
	capacity := int(node.PartitionCap)
	if node.IsSwitch() && number != 0 {
		var info mad.SwitchInfo
		if !q.get(&info, 0) {
			return errors.New("switch info failed")
		}
		capacity = int(info.PartitionEnforcementCap)
	}
	const row = 8
	for first := 0; first < capacity; first += len(mad.PKeyTable{}.PKeys) {
		var block mad.PKeyTable
		if !q.get(&block, uint32(first/len(block.PKeys))|uint32(number)<<16) {
			return errors.New("pkey table query failed")
		}
		for i := 0; i < len(block.PKeys) && first+i < capacity; i += row {
			fmt.Fprintf(q.out, "%4d:", first+i)
			for _, key := range block.PKeys[i : i+row] {
				fmt.Fprintf(q.out, " %v", key)
			}
			q.out.WriteByte('\n')
		}
	}
	fmt.Fprintf(q.out, "%d pkeys capacity for this port\n", capacity)
	return nil
}

func (q *query) slToVL(operands []string) error {
	number := portNumber(operands)
	var node mad.NodeInfo
	if !q.get(&node, 0) {
		return errNodeInfo
	}
	if number > int32(node.NumPorts) {
		return errPortNumber
	}
	fmt.Fprintf(q.out, "# SL2VL table: %s\n#                 SL: |", q.to.Text)
	for sl := range 16 {
		fmt.Fprintf(q.out, "%2d|", sl)
	}
	q.out.WriteByte('\n')
	if !node.IsSwitch() {
		return q.slToVLOf(0, 0)
	}
	for in := range int32(node.NumPorts) + 1 {
		if err := q.slToVLOf(in, number); err != nil {
			return err
		}
	}
	return nil
}

// slToVLOf prints the table for an input and an output port.
func (q *query) slToVLOf(in, out int32) error {
	var table mad.SLtoVLMapping
	if !q.get(&table, uint32(in<<8|out)) {
		return errors.New("slvl query failed")
	}
	fmt.Fprintf(q.out, "ports: in %2d, out %2d: ", in, out)
	return mad.Dump(q.out, &table)
}

func (q *query) vlArbitration(operands []string) error {
	number := portNumber(operands)
	if number == 0 {
		var node mad.NodeInfo
		if !q.get(&node, 0) {
			return errNodeInfo
		}
		if node.IsSwitch() {
			var info mad.SwitchInfo
			if !q.get(&info, 0) {
				return errors.New("switch info query failed")
			}
			if info.EnhancedPort0 == 0 {
				fmt.Fprintf(q.out, "# No VLArbitration tables (BSP0): %s port %d\n", q.to.Text, 0)
				return nil
			}
		}
	}
	var info mad.PortInfo
	if !q.get(&info, uint32(number)) {
		return errPortInfo
	}
	low, high := int(info.VLArbLowCap), int(info.VLArbHighCap)
	fmt.Fprintf(q.out, "# VLArbitration tables: %s port %d LowCap %d HighCap %d\n", q.to.Text, number, low, high)
	if err := q.vlArbitrationOf("Low", number, 1, low); err != nil {
		return err
	}
	return q.vlArbitrationOf("High", number, 3, high)
}

// vlArbitrationOf prints a priority's table: one or two blocks from the given block.
func (q *query) vlArbitrationOf(priority string, number int32, block uint32, entries int) error {
	if entries == 0 {
		return nil
	}
	fmt.Fprintf(q.out, "# %s priority VL Arbitration Table:", priority)
	var table mad.VLArbitration
	for rest := min(entries, 2*len(table.Entries)); rest > 0; rest -= len(table.Entries) {
		if !q.get(&table, block<<16|uint32(number)) {
			return errors.New("vl arb query failed")
		}
		q.out.Write(table.AppendRows(nil, min(rest, len(table.Entries))))
		block++
	}
	return nil
}

func (q *query) guidInfo([]string) error {
	var info mad.PortInfo
	if !q.get(&info, 0) {
		return errors.New("port info failed")
	}
	capacity := int(info.GUIDCap)
	for first := 0; first < capacity; first += len(mad.GUIDInfo{}.GUIDs) {
		var block mad.GUIDInfo
		if !q.get(&block, uint32(first/len(block.GUIDs))) {
			return errors.New("guid info query failed")
		}
		for i := 0; i < len(block.GUIDs) && first+i < capacity; i += 2 {
			fmt.Fprintf(q.out, "%4d: %v %v\n", first+i, block.GUIDs[i], block.GUIDs[i+1])
		}
	}
	fmt.Fprintf(q.out, "%d guids capacity for this port\n", capacity)
	return nil
}
