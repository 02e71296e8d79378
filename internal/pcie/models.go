package pcie

import (
	"bytes"
	"fmt"
	"os"
)

// An ID identifies a function's model: the PCI vendor in the upper half, the device in the
// lower.
type ID uint32

// NewID returns the ID with a vendor and a device.
func NewID(vendor, device uint16) ID { return ID(vendor)<<16 | ID(device) }

// models are the RDMA adapters by the tables of their drivers: efa_pci_tbl of efa, bnxt_pci_tbl
// of bnxt_en, ice_devids.h, i40e_devids.h and idpf_devids.h. NVIDIA's drivers report the
// model themselves (hca_type).
var models = map[ID]string{
	0x1d0f_efa0: "Elastic Fabric Adapter 0", 0x1d0f_efa1: "Elastic Fabric Adapter 1", 0x1d0f_efa2: "Elastic Fabric Adapter 2",
	0x1d0f_efa3: "Elastic Fabric Adapter 3", 0x1d0f_efa4: "Elastic Fabric Adapter 4",

	0x14e4_16d6: "BCM57412 NetXtreme-E", 0x14e4_16d7: "BCM57414 NetXtreme-E", 0x14e4_16d8: "BCM57416 NetXtreme-E", 0x14e4_16d9: "BCM57417 NetXtreme-E",
	0x14e4_16dc: "NetXtreme-E virtual function", 0x14e4_16e2: "BCM57417 NetXtreme-E SFP", 0x14e4_16e3: "BCM57416 NetXtreme-E SFP",
	0x14e4_16eb: "BCM57412 NetXtreme-E partition", 0x14e4_16ed: "BCM57414 NetXtreme-E partition", 0x14e4_16ef: "BCM57416 NetXtreme-E partition",
	0x14e4_16f0: "BCM58808 NetXtreme-S", 0x14e4_16f1: "BCM57452 NetXtreme-E", 0x14e4_1614: "BCM57454 NetXtreme-E",
	0x14e4_1750: "BCM57508 NetXtreme-E (Thor)", 0x14e4_1751: "BCM57504 NetXtreme-E (Thor)", 0x14e4_1752: "BCM57502 NetXtreme-E (Thor)",
	0x14e4_1760: "BCM57608 (Thor 2)", 0x14e4_1761: "BCM57604 (Thor 2)", 0x14e4_1762: "BCM57602 (Thor 2)", 0x14e4_1763: "BCM57601 (Thor 2)",
	0x14e4_1800: "BCM57502 partition (Thor)", 0x14e4_1801: "BCM57504 partition (Thor)", 0x14e4_1802: "BCM57508 partition (Thor)",
	0x14e4_1803: "BCM57502 partition (Thor)", 0x14e4_1804: "BCM57504 partition (Thor)", 0x14e4_1805: "BCM57508 partition (Thor)",
	0x14e4_1806: "BCM5750X virtual function (Thor)", 0x14e4_1807: "BCM5750X virtual function (Thor)", 0x14e4_1808: "BCM5750X virtual function (Thor)",
	0x14e4_1809: "BCM5750X virtual function (Thor)", 0x14e4_1819: "BCM5760X virtual function (Thor 2)", 0x14e4_181b: "BCM5760X virtual function (Thor 2)",
	0x14e4_d802: "BCM58802 NetXtreme-S", 0x14e4_d804: "BCM58804 NetXtreme-S",

	0x8086_1591: "E810-C backplane", 0x8086_1592: "E810-C QSFP", 0x8086_1593: "E810-C SFP",
	0x8086_1599: "E810-XXV backplane", 0x8086_159a: "E810-XXV QSFP", 0x8086_159b: "E810-XXV SFP",
	0x8086_188a: "E823-C backplane", 0x8086_188b: "E823-C QSFP", 0x8086_188c: "E823-C SFP", 0x8086_188d: "E823-C 10GBASE-T", 0x8086_188e: "E823-C 1 GbE",
	0x8086_124c: "E823-L backplane", 0x8086_124d: "E823-L SFP", 0x8086_124e: "E823-L 10GBASE-T", 0x8086_124f: "E823-L 1 GbE", 0x8086_151d: "E823-L QSFP",
	0x8086_1890: "E822-C backplane", 0x8086_1891: "E822-C QSFP", 0x8086_1892: "E822-C SFP", 0x8086_1893: "E822-C 10GBASE-T", 0x8086_1894: "E822-C 1 GbE",
	0x8086_1897: "E822-L backplane", 0x8086_1898: "E822-L SFP", 0x8086_1899: "E822-L 10GBASE-T", 0x8086_189a: "E822-L 1 GbE",
	0x8086_579c: "E825-C backplane", 0x8086_579d: "E825-C QSFP", 0x8086_579e: "E825-C SFP", 0x8086_579f: "E825-C SGMII",
	0x8086_12d1: "E830-CC backplane", 0x8086_12d2: "E830-CC QSFP", 0x8086_12d3: "E830-CC SFP", 0x8086_12d4: "E830-CC SFP-DD",
	0x8086_12d5: "E830-C backplane", 0x8086_12d8: "E830-C QSFP", 0x8086_12da: "E830-C SFP",
	0x8086_12dc: "E830-XXV backplane", 0x8086_12dd: "E830-XXV QSFP", 0x8086_12de: "E830-XXV SFP",
	0x8086_1248: "E835-CC backplane", 0x8086_1249: "E835-CC QSFP", 0x8086_124a: "E835-CC SFP",
	0x8086_1261: "E835-C backplane", 0x8086_1262: "E835-C QSFP", 0x8086_1263: "E835-C SFP",
	0x8086_1265: "E835-L backplane", 0x8086_1266: "E835-L QSFP", 0x8086_1267: "E835-L SFP",
	0x8086_37ce: "X722 backplane", 0x8086_37cf: "X722 QSFP+", 0x8086_37d0: "X722 SFP+", 0x8086_37d1: "X722 1 GbE", 0x8086_37d2: "X722 10GBASE-T",
	0x8086_37d3: "X722 SFP+", 0x8086_1452: "Infrastructure Data Path Function", 0x8086_145c: "Infrastructure Data Path virtual function",
}

// databases are the files of PCI names on a host: hwdata, and Debian's pci.ids.
var databases = []string{"/usr/share/hwdata/pci.ids", "/usr/share/misc/pci.ids"}

// Model returns the name of a model: by a database of PCI names if it has the model, else by
// the drivers' tables; "" for an unknown model. A database is the content of a file pci.ids, or
// empty.
func (id ID) Model(database []byte) string {
	_, vendor, _ := bytes.Cut(database, fmt.Appendf(nil, "\n%04x  ", uint16(id>>16)))
	prefix := fmt.Appendf(nil, "\t%04x  ", uint16(id))
	first := true
	for line := range bytes.Lines(vendor) {
		name, isModel := bytes.CutPrefix(line, prefix)
		switch {
		case isModel:
			return string(bytes.TrimSpace(name))
		case !first && len(line) > 0 && line[0] != '\t' && line[0] != '#': // the next vendor
			return models[id]
		}
		first = false
	}
	return models[id]
}

// Database reads the host's database of PCI names; nil if it has none.
func Database() []byte {
	for _, path := range databases {
		if b, err := os.ReadFile(path); err == nil {
			return b
		}
	}
	return nil
}
