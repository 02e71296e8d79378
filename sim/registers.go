package sim

import (
	"encoding/binary"

	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/mad/register"
)

// local returns the port's number in registers. A switch has other numbers there than in
// PortInfo, as Quantum-2 has for ports that are not split.
func (p *Port) local() register.LocalPort {
	if p.Node.IsSwitch() {
		return register.LocalPort(2*int(p.Number) - 1)
	}
	return register.LocalPort(p.Number)
}

// localPort returns the port with a number in registers, nil if there is none.
func (n *Node) localPort(local register.LocalPort) *Port {
	number := int(local)
	if n.IsSwitch() {
		if local%2 == 0 {
			return nil
		}
		number = (number + 1) / 2
	}
	if number < 1 || number >= len(n.Ports) {
		return nil
	}
	return &n.Ports[number]
}

// A registerAgent fills in a register's value for a request with index fields.
type registerAgent func(f *Fabric, n *Node, request []byte) (mad.Attribute, register.AccessStatus)

// portAgent is the agent for a register that belongs to a port. value has the index fields
// in its argument, and returns nil for a port without the register.
func portAgent(value func(f *Fabric, p *Port, request []byte) register.Register) registerAgent {
	return func(f *Fabric, n *Node, request []byte) (mad.Attribute, register.AccessStatus) {
		local := register.LocalPort(request[1]) | register.LocalPort(request[2]>>4&3)<<8
		p := n.localPort(local)
		if p == nil {
			return nil, register.StatusBadParameter
		}
		r := value(f, p, request)
		if r == nil {
			return nil, register.StatusBadParameter
		}
		return r, 0
	}
}

var registerAgents = map[register.ID]registerAgent{
	register.IDPPCNT: portAgent(counterGroup),
	register.IDPDDR:  portAgent(pageOf),
	register.IDPMLP:  portAgent(func(_ *Fabric, p *Port, _ []byte) register.Register { return p.laneMapping() }),
	register.IDPAOS:  portAgent(func(_ *Fabric, p *Port, _ []byte) register.Register { return p.portStatus() }),
	register.IDPTYS:  portAgent(func(_ *Fabric, p *Port, _ []byte) register.Register { return p.linkRates() }),
	register.IDPPLM: portAgent(func(_ *Fabric, p *Port, _ []byte) register.Register {
		return &register.ActiveFEC{LocalPort: p.local(), Mask: 1 << p.fecCode()}
	}),
	register.IDSLRG:  portAgent(eye),
	register.IDPPBMC: portAgent(berMonitor),
	register.IDPLIB:  portNumber,
	register.IDPMAOS: moduleStatus,
	register.IDMTCAP: sensorList,
	register.IDMTMP:  sensor,
	register.IDMFCR:  fans,
	register.IDMFSM:  fanSpeed,
	register.IDMSPS:  powerSupplies,
	register.IDMGIR:  device,
	register.IDMSGI:  system,
	register.IDMFSL:  fanLimits,
	register.IDMTBR:  temperatures,
	register.IDMCIA:  eeprom,
	register.IDMPEIN: pcieLink,
	register.IDMPCNT: pcieCounters,
	register.IDMGPIR: moduleCount,

	// Registers that only mstlink reads.
	0x5027: echoAgent(0x4c, map[int]uint8{0: 4}), // SLTP: version 4, 7 nm
	0x5040: echoAgent(0x10, nil),                 // PPAOS
	0x5064: echoAgent(0x1c, nil),                 // PMPT
	0x506e: echoAgent(0x30, nil),                 // PMPD
	0x906c: echoAgent(0x20, nil),                 // MMCR
}

// registerSize has the sizes in bytes of registers that package register reads in part.
var registerSize = map[register.ID]int{register.IDPPCNT: 0x100, register.IDPDDR: 0x100, register.IDMPCNT: 0x100, register.IDMTBR: 0x410}

// switchRegisters are missing in other nodes.
var switchRegisters = map[register.ID]bool{
	register.IDPLIB: true, register.IDMFCR: true, register.IDMFSM: true, register.IDMFSL: true, register.IDMSPS: true,
}

// adapterRegisters are missing in switches, which are no PCI Express devices of a host.
var adapterRegisters = map[register.ID]bool{register.IDMPEIN: true, register.IDMPCNT: true}

// hasRegister reports whether the node's firmware has a register.
func (n *Node) hasRegister(id register.ID) bool {
	return (isRegisterList(id) || registerAgents[id] != nil) && !n.vendor.refused[id] && !(n.IsSwitch() && adapterRegisters[id] || !n.IsSwitch() && switchRegisters[id])
}

func isRegisterList(id register.ID) bool { return id == register.IDPCAM || id == register.IDMCAM }

// readRegister returns a register's bytes for a request with the index fields.
func (f *Fabric) readRegister(n *Node, id register.ID, request []byte) ([]byte, register.AccessStatus) {
	if !n.hasRegister(id) {
		return nil, register.StatusNoRegister
	}
	var value mad.Attribute
	var status register.AccessStatus
	if isRegisterList(id) {
		value, status = registerList(n, id, request)
	} else {
		value, status = registerAgents[id](f, n, request)
	}
	if status != 0 {
		return nil, status
	}
	size := max(value.Spec().Size, registerSize[id])
	data := make([]byte, size)
	if mad.Encode(value, data) != nil {
		return nil, register.StatusInternalError
	}
	return data, 0
}

// answerBlock answers a Get of a register's block.
func (f *Fabric) answerBlock(n *Node, p *mad.Packet) mad.Status {
	const noRegister, badLength = 5 << 2, 7 << 2
	var b register.Block
	if n.vendor.oldCarriers {
		return mad.StatusBadMethodAttr
	}
	if p.Method() != mad.MethodGet || mad.Decode(&b, p.Data()) != nil {
		return mad.StatusBadMethodAttr
	}
	data, status := f.readRegister(n, register.ID(p.Modifier()), b.Data[:])
	switch start := int(b.Number) * register.BlockSize; {
	case status == register.StatusNoRegister:
		return noRegister
	case status != 0, start >= len(data):
		return badLength
	default:
		clear(b.Data[:])
		copy(b.Data[:], data[start:])
	}
	return encode(p, &b)
}

// answerAccess answers a query of a register in a Set: in the vendor class or in subnet
// management, where the packet holds less. Only the port registers' index is used; a write
// is rejected.
func (f *Fabric) answerAccess(n *Node, head *register.Head, data []byte) {
	head.IsReply = 1
	if head.Operation != register.Query {
		head.Status = register.StatusBadOperation
		return
	}
	value, status := f.readRegister(n, head.ID, data)
	switch {
	case status != 0:
		head.Status = status
	case head.Size() > len(data):
		head.Status = register.StatusBadLength
	default:
		clear(data)
		copy(data[:head.Size()], value)
	}
}

// setRegisterAccess answers queries in the vendor class.
func (f *Fabric) setRegisterAccess(n *Node, p *mad.Packet) mad.Status {
	var a register.Access
	if p.Method() != mad.MethodSet || mad.Decode(&a, p.Data()) != nil {
		return mad.StatusBadMethodAttr
	}
	f.answerAccess(n, &a.Head, a.Data[:])
	return encode(p, &a)
}

// getSubnetAccess keeps the answer to a Set, and rejects a Get, which NVIDIA's firmware does
// not have.
func getSubnetAccess(_ *Fabric, d destination, p *mad.Packet) mad.Status {
	var a register.SubnetAccess
	if d.node.vendor == nil || mad.Decode(&a, p.Data()) != nil || a.IsReply == 0 {
		return mad.StatusBadMethodAttr
	}
	return 0
}

// setSubnetAccess answers queries in subnet management.
func setSubnetAccess(f *Fabric, d destination, p *mad.Packet) mad.Status {
	var a register.SubnetAccess
	if d.node.vendor == nil || mad.Decode(&a, p.Data()) != nil {
		return mad.StatusBadMethodAttr
	}
	f.answerAccess(d.node, &a.Head, a.Data[:])
	return encode(p, &a)
}

// word returns a register's 32-bit word at an offset in bytes.
func word(request []byte, offset int) uint32 { return binary.BigEndian.Uint32(request[offset:]) }
