package pcie

import (
	"fmt"
	"testing"
)

const someIDs = `#	Version: 2023.04.11
14e4  Broadcom Inc. and subsidiaries
	1750  BCM57508 NetXtreme-E 10Gb/25Gb Ethernet
		117c 00cf  FastFrame N422 Dual-port 100Gb Ethernet Adapter
# comment
	1751  BCM57504
1d0f  Amazon.com, Inc.
	1752  not of Broadcom
	efa0  Elastic Fabric Adapter (EFA)
`

func TestID_Model(t *testing.T) {
	for _, test := range []struct {
		id             ID
		database, want string
	}{
		{NewID(0x14e4, 0x1750), someIDs, "BCM57508 NetXtreme-E 10Gb/25Gb Ethernet"},
		{NewID(0x14e4, 0x1750), "", "BCM57508 NetXtreme-E (Thor)"},
		{NewID(0x14e4, 0x1751), someIDs, "BCM57504"},
		{NewID(0x14e4, 0x1752), someIDs, "BCM57502 NetXtreme-E (Thor)"},
		{NewID(0x1d0f, 0xefa0), someIDs, "Elastic Fabric Adapter (EFA)"},
		{NewID(0x1d0f, 0xefa3), someIDs, "Elastic Fabric Adapter 3"},
		{NewID(0x8086, 0x12d2), someIDs, "E830-CC QSFP"},
		{NewID(0x8086, 0x37d0), someIDs, "X722 SFP+"},
		{NewID(0x117c, 0x00cf), someIDs, ""},
		{0, someIDs, ""},
	} {
		t.Run(fmt.Sprintf("%08x %s", uint32(test.id), test.want), func(t *testing.T) {
			if got := test.id.Model([]byte(test.database)); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}
