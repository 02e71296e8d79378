package mad

import (
	"encoding/hex"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// tsharkPackets are the packets for the comparison with tshark by golden file name:
// X.hex contains the PutSMP and Encode output, X.fields the fields that tshark found in
// the packet, a "name value" pair per line. tshark 4.0.17 and 4.4.19 find the same fields.
func tsharkPackets(t *testing.T) map[string]*Packet {
	random := loadGolden(t, "libibmad")
	build := func(r SMPRequest, kind string) *Packet {
		p := new(Packet)
		p.PutSMP(r)
		if kind != "" {
			a, _ := decodeDump(t, random[kind])
			if err := Encode(a, p.Data()); err != nil {
				t.Fatal(err)
			}
		}
		return p
	}
	get := build(SMPRequest{
		TID: 0x0102030405060708, Method: MethodGet, Attr: AttrNodeInfo, Modifier: 0,
		MKey: 0x1112131415161718, Directed: true, Route: RouteOf(1, 5, 36), DrSLID: 0xffff, DrDLID: 0xfffe,
	}, "")
	resp := build(SMPRequest{
		TID: 0xa1a2a3a4a5a6a7a8, Method: MethodGetResp, Attr: AttrNodeInfo,
		Directed: true, Route: RouteOf(1, 5), DrSLID: 0xffff, DrDLID: 0xffff,
	}, "nodeinfo-1")
	resp[offStatus] = 0x80 // on its way back
	resp.SetStatus(StatusBadValue)
	port := build(SMPRequest{TID: 7, Method: MethodGetResp, Attr: AttrPortInfo, Modifier: 3, MKey: 9}, "portinfo-1")
	sw := build(SMPRequest{TID: 8, Method: MethodGetResp, Attr: AttrSwitchInfo}, "switchinfo-1")
	return map[string]*Packet{"get-nodeinfo": get, "nodeinfo": resp, "portinfo": port, "switchinfo": sw}
}

// TestAgainstTshark compares encoded and decoded headers and attributes with the
// Wireshark dissector's fields for the same packets.
func TestAgainstTshark(t *testing.T) {
	for name, p := range tsharkPackets(t) {
		t.Run(name, func(t *testing.T) {
			file := "testdata/tshark/" + name
			if *update {
				if err := os.WriteFile(file+".hex", []byte(hex.EncodeToString(p[:])+"\n"), 0o666); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file + ".hex")
			if err != nil {
				t.Fatal(err)
			}
			if got := hex.EncodeToString(p[:]); got != strings.TrimSpace(string(want)) {
				t.Fatalf("built\n%s\ntshark was given\n%s", got, want)
			}
			text, err := os.ReadFile(file + ".fields")
			if err != nil {
				t.Fatal(err)
			}
			ours := tsharkFields(t, p)
			for line := range strings.Lines(string(text)) {
				field, value, _ := strings.Cut(strings.TrimSpace(line), " ")
				theirs, err := strconv.ParseUint(value, 0, 64)
				if err != nil {
					t.Fatalf("%s: %v", line, err)
				}
				got, ok := ours[field]
				if !ok {
					t.Errorf("%s is not compared", field)
				} else if got != theirs {
					t.Errorf("%s: got %#x, tshark has %#x", field, got, theirs)
				}
				delete(ours, field)
			}
			if len(ours) > 0 {
				t.Errorf("tshark has no %v", slices.Sorted(maps.Keys(ours)))
			}
		})
	}
}

// tsharkFields returns p's fields by the dissector's names.
func tsharkFields(t *testing.T, p *Packet) map[string]uint64 {
	h := p.Header()
	status := uint64(h.Status)
	if p.Returning() {
		status |= uint64(directionBit) // which the dissector leaves in the status
	}
	f := map[string]uint64{
		"mad.baseversion":       uint64(h.BaseVersion),
		"mad.mgmtclass":         uint64(h.Class),
		"mad.classversion":      uint64(h.ClassVersion),
		"mad.method":            uint64(h.Method),
		"mad.status":            status,
		"mad.classspecific":     uint64(h.HopPointer)<<8 | uint64(h.HopCount),
		"mad.transactionid":     h.TID,
		"mad.attributeid":       uint64(h.Attr),
		"mad.attributemodifier": uint64(h.Modifier),
		"smplid.mkey":           uint64(p.Key()),
	}
	if h.Class == ClassSMPDirected {
		f["smpdirected.smpstatus"] = status
		f["smpdirected.hoppointer"] = uint64(h.HopPointer)
		f["smpdirected.hopcount"] = uint64(h.HopCount)
		f["smpdirected.drslid"] = uint64(p.DrSLID())
		f["smpdirected.drdlid"] = uint64(p.DrDLID())
	}
	switch h.Attr {
	case AttrNodeInfo:
		var a NodeInfo
		if err := Decode(&a, p.Data()); err != nil {
			t.Fatal(err)
		}
		maps.Copy(f, map[string]uint64{
			"nodeinfo.baseversion":     uint64(a.BaseVersion),
			"nodeinfo.classversion":    uint64(a.ClassVersion),
			"nodeinfo.nodetype":        uint64(a.NodeType),
			"nodeinfo.numports":        uint64(a.NumPorts),
			"nodeinfo.systemimageguid": uint64(a.SystemGUID),
			"nodeinfo.nodeguid":        uint64(a.NodeGUID),
			"nodeinfo.portguid":        uint64(a.PortGUID),
			"nodeinfo.partitioncap":    uint64(a.PartitionCap),
			"nodeinfo.deviceid":        uint64(a.DeviceID),
			"nodeinfo.revision":        uint64(a.Revision),
			"nodeinfo.localportnum":    uint64(a.LocalPort),
			"nodeinfo.vendorid":        uint64(a.VendorID),
		})
	case AttrPortInfo:
		var a PortInfo
		if err := Decode(&a, p.Data()); err != nil {
			t.Fatal(err)
		}
		maps.Copy(f, map[string]uint64{
			"portinfo.m_key":                        uint64(a.MKey),
			"portinfo.guid":                         a.GIDPrefix,
			"portinfo.lid":                          uint64(a.LID),
			"portinfo.mastersmlid":                  uint64(a.SMLID),
			"portinfo.capabilitymask":               uint64(a.CapMask),
			"portinfo.diagcode":                     uint64(a.DiagCode),
			"portinfo.m_keyleaseperiod":             uint64(a.MKeyLeasePeriod),
			"portinfo.localportnum":                 uint64(a.LocalPort),
			"portinfo.linkwidthenabled":             uint64(a.LinkWidthEnabled),
			"portinfo.linkwidthsupported":           uint64(a.LinkWidthSupported),
			"portinfo.linkwidthactive":              uint64(a.LinkWidthActive),
			"portinfo.linkspeedsupported":           uint64(a.LinkSpeedSupported),
			"portinfo.portstate":                    uint64(a.State),
			"portinfo.portphysicalstate":            uint64(a.PhysState),
			"portinfo.linkdowndefaultstate":         uint64(a.LinkDownDefault),
			"portinfo.m_keyprotectbits":             uint64(a.MKeyProtect),
			"portinfo.lmc":                          uint64(a.LMC),
			"portinfo.linkspeedactive":              uint64(a.LinkSpeedActive),
			"portinfo.linkspeedenabled":             uint64(a.LinkSpeedEnabled),
			"portinfo.neighbormtu":                  uint64(a.NeighborMTU),
			"portinfo.mastersmsl":                   uint64(a.SMSL),
			"portinfo.vlcap":                        uint64(a.VLCap),
			"portinfo.inittype":                     uint64(a.InitType),
			"portinfo.vlhighlimit":                  uint64(a.VLHighLimit),
			"portinfo.vlarbitrationhighcap":         uint64(a.VLArbHighCap),
			"portinfo.vlarbitrationlowcap":          uint64(a.VLArbLowCap),
			"portinfo.inittypereply":                uint64(a.InitReply),
			"portinfo.mtucap":                       uint64(a.MTUCap),
			"portinfo.vlstallcount":                 uint64(a.VLStallCount),
			"portinfo.hoqlife":                      uint64(a.HOQLife),
			"portinfo.operationalvls":               uint64(a.OperVLs),
			"portinfo.partitionenforcementinbound":  uint64(a.PartEnforceInbound),
			"portinfo.partitionenforcementoutbound": uint64(a.PartEnforceOutbound),
			"portinfo.filterrawinbound":             uint64(a.FilterRawInbound),
			"portinfo.filterrawoutbound":            uint64(a.FilterRawOutbound),
			"portinfo.m_keyviolations":              uint64(a.MKeyViolations),
			"portinfo.p_keyviolations":              uint64(a.PKeyViolations),
			"portinfo.q_keyviolations":              uint64(a.QKeyViolations),
			"portinfo.guidcap":                      uint64(a.GUIDCap),
			"portinfo.clientreregister":             uint64(a.ClientReregister),
			"portinfo.subnettimeout":                uint64(a.SubnetTimeout),
			"portinfo.resptimevalue":                uint64(a.RespTimeValue),
			"portinfo.localphyerrors":               uint64(a.LocalPhysErrors),
			"portinfo.overrunerrors":                uint64(a.OverrunErrors),
			"portinfo.maxcredithint":                uint64(a.MaxCreditHint),
			"portinfo.linkroundtriplatency":         uint64(a.LinkRoundTripLatency),
		})
	case AttrSwitchInfo:
		var a SwitchInfo
		if err := Decode(&a, p.Data()); err != nil {
			t.Fatal(err)
		}
		maps.Copy(f, map[string]uint64{
			"switchinfo.linearfdbcap":                      uint64(a.LinearFDBCap),
			"switchinfo.randomfdbcap":                      uint64(a.RandomFDBCap),
			"switchinfo.multicastfdbcap":                   uint64(a.MulticastFDBCap),
			"switchinfo.linearfdbtop":                      uint64(a.LinearFDBTop),
			"switchinfo.defaultport":                       uint64(a.DefaultPort),
			"switchinfo.defaultmulticastprimaryport":       uint64(a.DefaultMulticastPrimaryPort),
			"switchinfo.defaultmulticastnotprimaryport":    uint64(a.DefaultMulticastNotPrimaryPort),
			"switchinfo.lifetimevalue":                     uint64(a.LifeTimeValue),
			"switchinfo.portstatechange":                   uint64(a.PortStateChange),
			"switchinfo.optimizedsltovlmappingprogramming": uint64(a.OptimizedSLtoVL),
			"switchinfo.lidsperport":                       uint64(a.LIDsPerPort),
			"switchinfo.partitionenforcementcap":           uint64(a.PartitionEnforcementCap),
			"switchinfo.inboundenforcementcap":             uint64(a.InboundEnforcement),
			"switchinfo.outboundenforcementcap":            uint64(a.OutboundEnforcement),
			"switchinfo.filterrawinboundcap":               uint64(a.FilterRawInbound),
			"switchinfo.filterrawoutboundcap":              uint64(a.FilterRawOutbound),
			"switchinfo.enhancedportzero":                  uint64(a.EnhancedPort0),
		})
	}
	return f
}
