package sim

import (
	"encoding/binary"

	"github.com/ibkit/ibkit/mad"
)

// The configuration space has the words that mstflint reads before registers: the
// hardware ID, and a gateway to the firmware with a mailbox ("ICMD").
const (
	configHardwareID = 0xf0014

	gatewaySwitch  = 0x100000 // word with the mailbox address
	gatewayAdapter = 0
	gatewayVersion = 1
	mailbox        = 0x200000
	mailboxControl = mailbox + 0x3fc

	controlBusy       = 1
	opcodeAccessLevel = 0x8400
	allRegisters      = 1 << 29 // in the mailbox's first word
)

// hardwareIDs are the IDs in configuration space by device ID.
var hardwareIDs = map[uint16]uint16{
	52000: 0x247, 4115: 0x209, // Switch-IB, ConnectX-4
	54000: 0x24d, 4123: 0x20f, // Quantum, ConnectX-6
	54002: 0x257, 4129: 0x218, // Quantum-2, ConnectX-7
	54004: 0x25b, 4131: 0x21e, // Quantum-3, ConnectX-8
}

func (n *Node) hardwareID() uint16 { return hardwareIDs[n.Info.DeviceID] }

// readWord returns a word in the configuration space. Words are 0 until they are written,
// except for counters and the firmware's words.
func (f *Fabric) readWord(n *Node, address uint32) uint32 {
	gateway := uint32(gatewayAdapter)
	if n.IsSwitch() {
		gateway = gatewaySwitch
	}
	switch address {
	case configHardwareID:
		if id := n.hardwareID(); id != 0 {
			return n.Info.Revision&0xff<<16 | uint32(id)
		}
	case gateway:
		if n.hardwareID() != 0 {
			return gatewayVersion<<24 | mailbox
		}
	}
	if wait, ok := f.portWait(n, address); ok {
		return wait
	}
	return n.vendor.config[address]
}

// writeWord writes a word's bits that a mask selects. A command in the mailbox's control
// word is executed at once.
func (n *Node) writeWord(address, data, mask uint32) {
	config := n.vendor.config
	config[address] = config[address]&^mask | data&mask
	if address != mailboxControl || config[address]&controlBusy == 0 {
		return
	}
	if config[address]>>16 == opcodeAccessLevel {
		config[mailbox] |= allRegisters
	}
	config[address] &^= controlBusy | 0xff00 // done, status 0
}

// accessWords reads or writes consecutive words (mode 0). The data begin with the key.
func (f *Fabric) accessWords(n *Node, p *mad.Packet, set bool) mad.Status {
	const keySize = 8
	modifier, data := p.Modifier(), p.Data()
	count, address := int(modifier>>16&0x3f), modifier&0xffff|modifier>>24<<16
	if modifier>>22&3 != 0 || count == 0 || keySize+4*count > len(data) {
		return mad.StatusBadValue
	}
	for i := range count {
		at, word := address+uint32(4*i), data[keySize+4*i:]
		if set {
			n.writeWord(at, binary.BigEndian.Uint32(word), 1<<32-1)
		}
		binary.BigEndian.PutUint32(word, f.readWord(n, at))
	}
	return 0
}

// getWords and setWords answer the same requests in subnet management.
func getWords(f *Fabric, d destination, p *mad.Packet) mad.Status {
	if d.node.vendor == nil {
		return mad.StatusBadMethodAttr
	}
	return f.accessWords(d.node, p, false)
}

func setWords(f *Fabric, d destination, p *mad.Packet) mad.Status {
	if d.node.vendor == nil {
		return mad.StatusBadMethodAttr
	}
	return f.accessWords(d.node, p, true)
}

// hasSemaphore reports whether the node's firmware has the semaphore in subnet management.
// mstflint 4.21 and 4.31 copy its reply beyond a buffer, so old firmware does not have it.
func (n *Node) hasSemaphore() bool {
	return n.vendor != nil && !n.vendor.oldCarriers && !n.vendor.managementOnly
}

// getSemaphore answers with a semaphore that no program holds.
func getSemaphore(_ *Fabric, d destination, p *mad.Packet) mad.Status {
	if !d.node.hasSemaphore() {
		return mad.StatusBadMethodAttr
	}
	clear(p.Data())
	return 0
}

// setSemaphore accepts each owner.
func setSemaphore(_ *Fabric, d destination, _ *mad.Packet) mad.Status {
	if !d.node.hasSemaphore() {
		return mad.StatusBadMethodAttr
	}
	return 0
}
