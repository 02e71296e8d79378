package mad

import "encoding/json"

// A HierarchyInfo is a block of a port's position description: its cage, its part in a
// split cage, its plane and the like (InfiniBand Architecture, Volume 1, annex A15).
// The modifier is the switch port in bits 0 to 7 and the block number in bits 8 to 15.
// A port has it if CapHierarchyInfo is set, on a switch at port 0.
//
// The layout is ib_hierarchy_info_t in NVIDIA's ib_types.h, which does not divide the
// records. The division into selector and value follows from the values in ibdm's
// Fabric.h, which use bits 0 to 23, and from the selectors: a template has 16 for at
// most 13 records per block.
type HierarchyInfo struct {
	TemplateGUID uint64 // record meaning; HierarchyTemplateNDR …
	MaxSupported uint8  // last block number that the port can have
	MaxActive    uint8  // last block number that the port has
	ActiveLevels uint8  // 4 bits; record count in this block
	Records      [13]HierarchyRecord
}

// HierarchyInfo templates for ports.
const (
	HierarchyTemplateNDR     = 3
	HierarchyTemplateXDR     = 4 // with planes
	HierarchyTemplateXDRHost = 5
)

// A HierarchyRecord is a value in a port's position description.
type HierarchyRecord uint32

// NewHierarchyRecord returns a record with a selector and a 24-bit value.
func NewHierarchyRecord(selector uint8, value uint32) HierarchyRecord {
	return HierarchyRecord(uint32(selector)<<hierarchyValueBits | value&(1<<hierarchyValueBits-1))
}

const hierarchyValueBits = 24

// Selector returns the value's meaning, which depends on the template.
func (r HierarchyRecord) Selector() uint8 { return uint8(r >> hierarchyValueBits) }

// Value returns the value.
func (r HierarchyRecord) Value() uint32 { return uint32(r) & (1<<hierarchyValueBits - 1) }

// HierarchyModifier returns the modifier for a HierarchyInfo block.
func HierarchyModifier(port, block uint8) uint32 { return uint32(block)<<8 | uint32(port) }

// Active returns the block's records that are in use.
func (a *HierarchyInfo) Active() []HierarchyRecord {
	return a.Records[:min(int(a.ActiveLevels), len(a.Records))]
}

// Spec returns the AttrHierarchyInfo spec.
func (*HierarchyInfo) Spec() Spec { return smpSpec(AttrHierarchyInfo) }

// MarshalJSON writes {"template_guid": "0x...", ..., "records": [{"selector": 2, "value":
// 7}, ...]} with the records in use.
func (a HierarchyInfo) MarshalJSON() ([]byte, error) {
	type record struct {
		Selector uint8  `json:"selector"`
		Value    uint32 `json:"value"`
	}
	records := []record{}
	for _, r := range a.Active() {
		records = append(records, record{r.Selector(), r.Value()})
	}
	return json.Marshal(struct {
		TemplateGUID string   `json:"template_guid"`
		MaxSupported uint8    `json:"max_supported_index"`
		MaxActive    uint8    `json:"max_active_index"`
		ActiveLevels uint8    `json:"active_levels"`
		Records      []record `json:"records"`
	}{string(appendHex(nil, a.TemplateGUID, 64)), a.MaxSupported, a.MaxActive, a.ActiveLevels, records})
}

// Layout declares the fields.
func (a *HierarchyInfo) Layout(c *Codec) {
	Bits(c, &a.TemplateGUID, 0, 64, "TemplateGuid", HexString)
	Bits(c, &a.MaxSupported, 64, 8, "MaxSupportedIndex", Decimal)
	Bits(c, &a.MaxActive, 72, 8, "MaxActiveIndex", Decimal)
	Bits(c, &a.ActiveLevels, 80, 4, "ActiveLevels", Decimal)
	Array(c, a.Records[:], 96, 32, "Record", HexLines)
}
