package smpquery

import (
	"errors"
	"fmt"
	"strings"

	"github.com/ibkit/ibkit/cmd/internal/shared/portdump"
	"github.com/ibkit/ibkit/mad"
)

// Failures that several operations share.
var (
	errNodeInfo   = errors.New("node info query failed")
	errPortInfo   = errors.New("port info query failed")
	errPortNumber = errors.New("invalid port number")
)

func (q *query) nodeInfo([]string) error {
	var node mad.NodeInfo
	if !q.get(&node, 0) {
		return errNodeInfo
	}
	fmt.Fprintf(q.out, "# Node info: %s\n", q.to.Text)
	return mad.Dump(q.out, &node)
}

func (q *query) nodeDescription([]string) error {
	var node mad.NodeInfo
	if !q.get(&node, 0) {
		return errNodeInfo
	}
	var desc mad.NodeDescription
	if !q.get(&desc, 0) {
		return errors.New("node desc query failed")
	}
	const column = 32
	name := q.names.NameOf(node.NodeGUID, desc)
	_, err := fmt.Fprintf(q.out, "Node Description:%s%s\n", strings.Repeat(".", max(column-len(name), 1)), name)
	return err
}

// A failure is a C tool text that begins with a capital.
type failure string

func (f failure) Error() string { return string(f) }

// extendedSpeeds is the PortInfo modifier bit that requests the extended speed fields.
const extendedSpeeds = 1 << 31

func (q *query) portInfo(operands []string) error {
	number := portNumber(operands)
	modifier := uint32(number)
	if q.extended {
		modifier |= extendedSpeeds
	}
	var info mad.PortInfo
	if !q.get(&info, modifier) {
		return errPortInfo
	}
	fmt.Fprintf(q.out, "# Port info: %s port %d\n", q.to.Text, number)
	return portdump.Write(q.out, &info, 0, q.ShowKeys)
}

func (q *query) portInfoExtended(operands []string) error {
	number := portNumber(operands)
	if ok, err := q.hasPortInfoExtended(number); err != nil {
		return err
	} else if !ok {
		return errors.New("port info extended not supported")
	}
	var info mad.PortInfoExtended
	if !q.get(&info, uint32(number)) {
		return errors.New("port info extended query failed")
	}
	fmt.Fprintf(q.out, "# Port info Extended: %s port %d\n", q.to.Text, number)
	return mad.Dump(q.out, &info)
}

// hasPortInfoExtended reports whether a port's capabilities include PortInfoExtended. It
// ends the tool if it cannot read them.
func (q *query) hasPortInfoExtended(number int32) (bool, error) {
	const function = "is_port_info_extended_supported"
	var node mad.NodeInfo
	if !q.get(&node, 0) {
		return false, q.Iberror(function, nil, "%v", errNodeInfo)
	}
	if node.IsSwitch() {
		number = 0
	}
	var info mad.PortInfo
	if !q.get(&info, uint32(number)) {
		return false, q.Iberror(function, nil, "%v", errPortInfo)
	}
	switch {
	case !info.CapMask.Has(mad.CapCapMask2):
		q.Ibwarn(function, "port info capability mask2 not supported")
		return false, nil
	case info.CapMask2&mad.Cap2PortInfoExtended == 0:
		q.Ibwarn(function, "port info capability mask2 = 0x%x doesn't indicate PortInfoExtended support", uint16(info.CapMask2))
		return false, nil
	}
	return true, nil
}

func (q *query) extendedPortInfo(operands []string) error {
	number := portNumber(operands)
	var info mad.MlnxExtPortInfo
	if !q.get(&info, uint32(number)) {
		return failure("Mellanox ext port info query failed")
	}
	fmt.Fprintf(q.out, "# MLNX ext Port info: %s port %d\n", q.to.Text, number)
	return mad.Dump(q.out, &info)
}

func (q *query) switchInfo([]string) error {
	var info mad.SwitchInfo
	if !q.get(&info, 0) {
		return errors.New("switch info query failed")
	}
	fmt.Fprintf(q.out, "# Switch info: %s\n", q.to.Text)
	return mad.Dump(q.out, &info)
}
