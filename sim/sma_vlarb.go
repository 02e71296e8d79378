package sim

import "github.com/ibkit/ibkit/mad"

// vlArbitration is a port's virtual lane arbitration state.
type vlArbitration struct{ low, high [64]mad.VLArbEntry }

// defaultVLArbitration gives VL 0 high priority and shares the rest between the other data
// lanes, as ibsim and opensm's default configuration do.
var defaultVLArbitration = func() vlArbitration {
	const dataVLs, weight = 15, 4
	var v vlArbitration
	for vl := range uint8(dataVLs) {
		v.low[vl], v.high[vl] = mad.VLArbEntry{VL: vl, Weight: weight}, mad.VLArbEntry{VL: vl}
	}
	v.low[0].Weight, v.high[0].Weight = 0, weight
	return v
}()

// A vlArbBlock is a block in a port's table: the entries that the port has.
type vlArbBlock struct {
	port    *Port
	entries func(*vlArbitration) []mad.VLArbEntry
}

// vlArbBlock returns the block that a modifier selects: the upper half is 1 or 2 for the
// low-priority table and 3 or 4 for the high-priority table, the lower half is the switch
// port (InfiniBand Architecture, Volume 1, 14.2.5.9).
func (d destination) vlArbBlock(modifier uint32) (vlArbBlock, bool) {
	number := uint32(0)
	if d.node.IsSwitch() {
		number = modifier & 0xffff
	}
	port, block := d.port(number), modifier>>16-1
	if port == nil || block > 3 {
		return vlArbBlock{}, false
	}
	return port.vlArbBlock(block)
}

// vlArbBlock returns a port's block by index, from 0 to 3. It reports false if the port's
// table is shorter.
func (p *Port) vlArbBlock(block uint32) (vlArbBlock, bool) {
	const size = 32
	capacity, first := int(p.Info.VLArbLowCap), int(block%2)*size
	if block >= 2 {
		capacity = int(p.Info.VLArbHighCap)
	}
	if first >= capacity {
		return vlArbBlock{}, false
	}
	last := min(capacity, first+size, len(vlArbitration{}.low))
	return vlArbBlock{p, func(v *vlArbitration) []mad.VLArbEntry {
		if block >= 2 {
			return v.high[first:last]
		}
		return v.low[first:last]
	}}, true
}

func (b vlArbBlock) read() (a mad.VLArbitration) {
	v := b.port.vlArb
	if v == nil {
		v = &defaultVLArbitration
	}
	copy(a.Entries[:], b.entries(v))
	return a
}

func getVLArbitration(_ *Fabric, d destination, p *mad.Packet) mad.Status {
	block, ok := d.vlArbBlock(p.Modifier())
	if !ok {
		return mad.StatusBadValue
	}
	a := block.read()
	return encode(p, &a)
}

func setVLArbitration(_ *Fabric, d destination, p *mad.Packet) mad.Status {
	block, ok := d.vlArbBlock(p.Modifier())
	var set mad.VLArbitration
	if !ok || p.Decode(&set) != nil {
		return mad.StatusBadValue
	}
	if block.port.vlArb == nil {
		v := defaultVLArbitration
		block.port.vlArb = &v
	}
	copy(block.entries(block.port.vlArb), set.Entries[:])
	return 0
}
