package ibdiagnet

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/internal/textfile"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/mad/register"
	"github.com/ibkit/ibkit/sim"
	"github.com/ibkit/ibkit/umad"
)

// scan scans a simulated fabric.
func scan(t *testing.T, description string) *fabric.Fabric {
	t.Helper()
	s, err := sim.Build(description)
	if err != nil {
		t.Fatal(err)
	}
	port, err := s.Open("")
	if err != nil {
		t.Fatal(err)
	}
	f, err := fabric.Discover(t.Context(), umad.NewClient(port, umad.ClientOptions{}), fabric.DiscoverOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// write returns a database's text.
func write(t *testing.T, d *Database) string {
	t.Helper()
	var b bytes.Buffer
	if err := d.Write(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// attributes formats nodes, ports and links. The original group's active speed is the
// file's speed: QDR for a faster link.
func attributes(f *fabric.Fabric) string {
	var b strings.Builder
	fmt.Fprintf(&b, "start %v port %d, %d hops, %d systems, partial %v\n", f.Start.GUID, f.StartPort, f.MaxHops, len(f.Systems), f.Partial())
	for _, n := range f.Nodes {
		fmt.Fprintf(&b, "%q %v %+v %+v\n", n.Desc.String(), n.Route, n.Info, n.Switch)
		for _, p := range n.Ports {
			if p == nil {
				continue
			}
			fmt.Fprintf(&b, "  %d %v", p.Number, p.GUID)
			if p.Info != nil {
				i := *p.Info
				i.MKey = 0
				if i.LinkSpeedExtActive != 0 || i.LinkSpeedExt2Active != 0 || p.Ext != nil {
					i.LinkSpeedActive = 4
				}
				fmt.Fprintf(&b, " %v %+v", i.ActiveSpeed(p.Caps(), p.Ext), i)
			}
			if p.Peer != nil {
				fmt.Fprintf(&b, " to %v port %d", p.Peer.Node.GUID, p.Peer.Number)
			}
			b.WriteByte('\n')
		}
	}
	return b.String()
}

// A database that was written and read is the same.
func TestDatabase(t *testing.T) {
	for _, description := range []string{"demo", "mixed", "chassis", "torus", "single-switch:speed=XDR"} {
		t.Run(description, func(t *testing.T) {
			f := scan(t, description)
			f.Nodes[1].Desc = mad.NewNodeDescription(`quotes " and, commas \ "x"`)
			created := time.Date(2026, 11, 22, 10, 4, 5, 0, time.UTC)
			text := write(t, &Database{Fabric: f, Created: created})
			d, err := ReadDatabase(strings.NewReader(text), "db")
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(attributes(f), attributes(d.Fabric)); diff != "" {
				t.Errorf("want (-), got (+)\n%s", diff)
			}
			if !d.Created.Equal(created) || d.Counters != nil || d.Increases != nil || d.Fabric.Sparse {
				t.Errorf("got %v, %v, %v, sparse %v", d.Created, d.Counters, d.Increases, d.Fabric.Sparse)
			}
			if again := write(t, d); again != text {
				t.Errorf("the second file differs:\n%s", cmp.Diff(text, again))
			}
		})
	}
}

// Each active speed has its own value, and is read again.
func TestSpeeds(t *testing.T) {
	for speed, want := range map[ib.Speed]uint64{
		ib.SDR: 1, ib.DDR: 2, ib.QDR: 4, ib.FDR10: 1 << 16, ib.FDR: 1 << 8, ib.EDR: 2 << 8, ib.HDR: 4 << 8, ib.NDR: 8 << 8, ib.XDR: 1 << 24,
	} {
		t.Run(speed.String(), func(t *testing.T) {
			var i, read mad.PortInfo
			x := i.SetActiveSpeed(&i, speed)
			enabled, active, supported := speeds(&i, x)
			if active != want || i.ActiveSpeed(&i, x) != speed {
				t.Errorf("got %#x and %v, want %#x and %v", active, i.ActiveSpeed(&i, x), want, speed)
			}
			read.CapMask, read.CapMask2 = i.CapMask, i.CapMask2
			x = setSpeeds(&read, enabled, active, supported)
			if read != i || read.ActiveSpeed(&read, x) != speed {
				t.Errorf("got %+v, want %+v", read, i)
			}
		})
	}
}

// Counters that an agent lacks have no value.
func TestDatabase_Counters(t *testing.T) {
	f := scan(t, "single-switch:hosts=3")
	sw := f.Start.Ports[1].Peer.Node
	want := map[*fabric.Port]*Counters{
		sw.Ports[1]: {
			Caps: mad.PerfExtendedWidth | mad.PerfXmitWait | mad.PerfQP1Dropped, Caps2: mad.PerfAdditionalExtended,
			Basic:        &mad.PortCounters{SymbolErrors: 1, LinkErrorRecovery: 2, LinkDowned: 3, RcvErrors: 4, XmitData: 1<<32 - 1, XmitWait: 5},
			Extended:     &mad.PortCountersExtended{XmitData: 1<<64 - 1, UnicastXmitPkts: 6, SymbolErrors: 7, XmitWait: 8, QP1Dropped: 9},
			RcvErrors:    &mad.PortRcvErrorDetails{MalformedPktErrors: 10},
			XmitDiscards: &mad.PortXmitDiscardDetails{SwHOQLifetimeLimitDiscards: 11},
		},
		sw.Ports[2]: {Basic: &mad.PortCounters{VL15Dropped: 12}},
		sw.Ports[3]: {Caps: mad.PerfExtendedWidthNoIETF, Extended: &mad.PortCountersExtended{RcvPkts: 13}},
	}
	increases := map[*fabric.Port]*Counters{sw.Ports[2]: {Basic: &mad.PortCounters{VL15Dropped: 1}}}
	text := write(t, &Database{Fabric: f, Counters: want, Increases: increases})
	d, err := ReadDatabase(strings.NewReader(text), "db")
	if err != nil {
		t.Fatal(err)
	}
	for p, counters := range want {
		if diff := cmp.Diff(counters, d.Counters[d.Fabric.NodeByGUID(p.Node.GUID).Ports[p.Number]]); diff != "" {
			t.Errorf("port %d: want (-), got (+)\n%s", p.Number, diff)
		}
	}
	if len(d.Counters) != len(want) || len(d.Increases) != 1 {
		t.Errorf("got %d ports and %d with increases, want %d and 1", len(d.Counters), len(d.Increases), len(want))
	}
}

// The section headers that published file parsers require. The headers for NODES,
// PORTS, SWITCHES and LINKS are constants in two independent parsers, in Go and in
// Rust, which compare them as a whole; the names for PM_INFO are as an InfluxDB
// exporter in Python reads them, and "PortNumber" as a shell script does.
func TestDatabase_Headers(t *testing.T) {
	text := write(t, &Database{Fabric: scan(t, "demo"), Counters: map[*fabric.Port]*Counters{}})
	for section, want := range map[string]string{
		"NODES":    "NodeDesc,NumPorts,NodeType,ClassVersion,BaseVersion,SystemImageGUID,NodeGUID,PortGUID,DeviceID,PartitionCap,revision,VendorID,LocalPortNum",
		"PORTS":    "NodeGuid,PortGuid,PortNum,MKey,GIDPrfx,MSMLID,LID,CapMsk,M_KeyLeasePeriod,DiagCode,LinkWidthActv,LinkWidthSup,LinkWidthEn,LocalPortNum,LinkSpeedEn,LinkSpeedActv,LMC,MKeyProtBits,LinkDownDefState,PortPhyState,PortState,LinkSpeedSup,VLArbHighCap,VLHighLimit,InitType,VLCap,MSMSL,NMTU,FilterRawOutb,FilterRawInb,PartEnfOutb,PartEnfInb,OpVLs,HoQLife,VLStallCnt,MTUCap,InitTypeReply,VLArbLowCap,PKeyViolations,MKeyViolations,SubnTmo,MulticastPKeyTrapSuppressionEnabled,ClientReregister,GUIDCap,QKeyViolations,MaxCreditHint,OverrunErrs,LocalPhyError,RespTimeValue,LinkRoundTripLatency,OOOSLMask,CapMsk2,FECActv,RetransActv",
		"SWITCHES": "NodeGUID,LinearFDBCap,RandomFDBCap,MCastFDBCap,LinearFDBTop,DefPort,DefMCastPriPort,DefMCastNotPriPort,LifeTimeValue,PortStateChange,OptimizedSLVLMapping,LidsPerPort,PartEnfCap,InbEnfCap,OutbEnfCap,FilterRawInbCap,FilterRawOutbCap,ENP0,MCastFDBTop",
		"LINKS":    "NodeGuid1,PortNum1,NodeGuid2,PortNum2",
	} {
		if !strings.Contains(text, "\nSTART_"+section+"\n"+want+"\n") || !strings.Contains(text, "\nEND_"+section+"\n") {
			t.Errorf("section %s has another header, want %s", section, want)
		}
	}
	_, rest, _ := strings.Cut(text, "\nSTART_PM_INFO\n")
	line, _, _ := strings.Cut(rest, "\n")
	columns := strings.Split(line, ",")
	if got := strings.Join(columns[:3], ","); got != "NodeGUID,PortGUID,PortNumber" || columns[19] != "PortXmitWait" { // field 20 in a Perl script
		t.Errorf("got columns %s and field 20 %s", got, columns[19])
	}
	for _, name := range strings.Fields(`ExcessiveBufferOverrunErrorsExt LinkDownedCounterExt LinkErrorRecoveryCounterExt LocalLinkIntegrityErrorsExt
		PortBufferOverrunErrors PortDLIDMappingErrors PortInactiveDiscards PortLocalPhysicalErrors PortLoopingErrors PortMalformedPacketErrors
		PortMultiCastRcvPkts PortMultiCastXmitPkts PortNeighborMTUDiscards PortRcvConstraintErrorsExt PortRcvDataExtended PortRcvErrorsExt
		PortRcvPktsExtended PortRcvRemotePhysicalErrorsExt PortRcvSwitchRelayErrorsExt PortSwHOQLifetimeLimitDiscards PortSwLifetimeLimitDiscards
		PortUniCastRcvPkts PortUniCastXmitPkts PortVLMappingErrors PortXmitConstraintErrorsExt PortXmitDataExtended PortXmitDiscardsExt
		PortXmitPktsExtended PortXmitWaitExt QP1DroppedExt SymbolErrorCounterExt VL15DroppedExt max_retransmission_rate retransmission_per_sec
		LinkDownedCounter SymbolErrorCounter PortRcvErrors PortXmitDiscards PortXmitWait VL15Dropped`) {
		if !strings.Contains(","+line+",", ","+name+",") {
			t.Errorf("PM_INFO has no column %s", name)
		}
	}
}

// A file in ibdiagnet's form, with values, columns and sections that this package does
// not know. The PORTS and SWITCHES rows have values from a published example.
func TestReadDatabase(t *testing.T) {
	text, err := os.ReadFile("testdata/ibdiagnet2.db_csv")
	if err != nil {
		t.Fatal(err)
	}
	d, err := ReadDatabase(bytes.NewReader(text), "ibdiagnet2.db_csv")
	if err != nil {
		t.Fatal(err)
	}
	n := d.Fabric.NodeByGUID(2)
	p := n.Ports[1]
	if n.Desc.String() != "host1 mlx5_0" || p.Peer != d.Fabric.NodeByGUID(1).Ports[5] || p.LID() != 7 || p.Info.State != ib.PortActive ||
		p.Info.ActiveSpeed(p.Caps(), p.Ext) != ib.NDR || p.Info.LinkWidthActive != ib.Width4X || p.Info.CapMask2 != 1074 {
		t.Errorf("got %q, %+v", n.Desc.String(), p)
	}
	if s := d.Fabric.NodeByGUID(1).Switch; s == nil || s.LinearFDBCap != 49152 || s.MulticastFDBTop != 49183 {
		t.Errorf("got switch %+v", s)
	}
	if c := d.Counters[p]; c == nil || c.Basic == nil || c.Basic.SymbolErrors != 3 || c.Extended.SymbolErrors != 300 || c.RcvErrors != nil || c.Caps.Has(mad.PerfXmitWait) {
		t.Errorf("got counters %+v", c)
	}
	if !d.Created.Equal(time.Date(2022, 8, 25, 17, 46, 20, 0, time.UTC)) {
		t.Errorf("got time %v", d.Created)
	}
}

func TestReadDatabase_Errors(t *testing.T) {
	const nodes = "START_NODES\nNodeDesc,NumPorts,NodeType,NodeGUID\n\"a\",2,1,0x1\n\"b\",2,1,0x2\nEND_NODES\n"
	links := func(rows string) string {
		return nodes + "START_LINKS\nNodeGuid1,PortNum1,NodeGuid2,PortNum2\n" + rows + "\nEND_LINKS\n"
	}
	for _, test := range []struct {
		name, text, want string
		line             int
	}{
		{"empty", "", "got no section NODES", 0},
		{"open section", "START_NODES\nNodeDesc,NodeGUID\n", "got the end of the file, want END_NODES", 2},
		{"nested", "START_NODES\nSTART_PORTS\n", `got "START_PORTS", want END_NODES`, 2},
		{"twice", nodes + nodes, `second section "NODES"`, 6},
		{"column twice", "START_NODES\nNodeGUID,nodeguid\n", "twice", 2},
		{"no GUID", "START_NODES\nNodeDesc,NodeGUID\na,\n", "got no value of column NodeGUID", 3},
		{"GUID", "START_NODES\nNodeDesc,NodeGUID\na,0xg\n", `NodeGUID: got "g"`, 3},
		{"number of ports", "START_NODES\nNodeDesc,NodeGUID,NumPorts\na,0x1,256\n", `NumPorts: got "256", want a number of 8 bits`, 3},
		{"node twice", "START_NODES\nNodeDesc,NodeGUID\na,0x1\nb,0x1\n", "occurs in an earlier line", 4},
		{"unknown node", links("0x3,1,0x2,1"), "0x0000000000000003 is not in section NODES", 8},
		{"port", links("0x1,3,0x2,1"), "want at most 2", 8},
		{"itself", links("0x1,1,0x1,1"), "is linked to itself", 8},
		{"two links", links("0x1,1,0x2,1\n0x1,1,0x2,2"), "port 0x0000000000000001[1] has another link", 9},
		{"port twice", nodes + "START_PORTS\nNodeGuid,PortNum\n0x1,1\n0x1,1\nEND_PORTS\n", "occurs in an earlier line", 9},
		{"no switch", nodes + "START_SWITCHES\nNodeGUID\n0x1\nEND_SWITCHES\n", "is not a switch", 8},
		{"counter", nodes + "START_PM_INFO\nNodeGUID,PortNumber,VL15Dropped\n0x1,1,70000\nEND_PM_INFO\n", `VL15Dropped: got "70000", want a number of 16 bits`, 8},
		{"long line", "START_NODES\n" + strings.Repeat("x", textfile.MaxLine+1), "longer than", 2},
	} {
		t.Run(test.name, func(t *testing.T) {
			d, err := ReadDatabase(strings.NewReader(test.text), "db")
			if err == nil && d.Fabric.Damaged() {
				err = d.Fabric.Failures[0].Err
			}
			var at *textfile.Error
			if err == nil || !strings.Contains(err.Error(), test.want) || !errors.As(err, &at) || at.Line != test.line {
				t.Errorf("got %v, want %s in line %d", err, test.want, test.line)
			}
		})
	}
}

// The sections from registers have the forms of ibdiagnet's, and the same values when they are
// read again, except the light.
func TestDatabase_PHY(t *testing.T) {
	f := scan(t, "optics")
	leaf := f.NodeByGUID(0x0002c90000800200)
	m := &register.Module{Type: register.CableOptical, Identifier: register.OSFP, Firmware: 46<<24 | 110<<16, Temperature: 47 << 8, TemperatureHigh: 75 << 8}
	copy(m.VendorName[:], "NVIDIA          ")
	copy(m.PartNumber[:], "MMA4Z00-NS      ")
	copy(m.Serial[:], "MT2607\"1\"        ")
	bits := register.NewBitErrors(1)
	bits.ReceivedBits, bits.RawBER, bits.EffectiveBER, bits.SymbolBER = 4e15, register.BER{Coefficient: 6, Magnitude: 5}, register.BER{Coefficient: 3, Magnitude: 9}, register.BER{Coefficient: 15, Magnitude: 255}
	text := write(t, &Database{Fabric: f, PHY: map[*fabric.Port]*PHY{leaf.Ports[1]: {Module: m, Bits: bits}}, Temperatures: map[*fabric.Node]int{leaf: 51}})
	for _, want := range []string{
		"START_CABLE_INFO\nNodeGuid,PortGuid,PortNum,Vendor,PN,SN,Rev,LengthCopperOrActive,TypeDesc,Temperature,FWVersion,AlarmTemperatureHighThresh,DateCode\n" +
			`0x0002c90000800200,0x0002c90000800200,1,"NVIDIA","MMA4Z00-NS","MT2607""1""",N/A,N/A,"optical module","47C","46.110.0","75C",N/A` + "\nEND_CABLE_INFO\n",
		",field17\n0x0002c90000800200,0x0002c90000800200,1,0,4000000000000000,0,0,0,0,0,0,0,0,0,0,6,5,3,9,15,255\nEND_PHY_DB16\n",
		"START_TEMP_SENSING\nNodeGUID,CurrentTemperature\n0x0002c90000800200,51\nEND_TEMP_SENSING\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("got %s, want %s", text[strings.Index(text, "START_CABLE"):], want)
		}
	}
	d, err := ReadDatabase(strings.NewReader(text), "db")
	if err != nil || len(d.Fabric.Failures) > 0 {
		t.Fatal(err, d.Fabric.Failures)
	}
	leaf = d.Fabric.NodeByGUID(0x0002c90000800200)
	got := d.PHY[leaf.Ports[1]]
	if got.Module.Temperature != m.Temperature || got.Module.Firmware != m.Firmware || register.Clean(got.Module.Serial[:]) != `MT2607"1"` || got.Module.Type != m.Type {
		t.Errorf("got %+v", got.Module)
	}
	if got.Bits.RawBER != bits.RawBER || !got.Bits.SymbolBER.IsZero() || got.Bits.EffectiveErrors != 12_000_000 || d.Temperatures[leaf] != 51 {
		t.Errorf("got %+v, %v", got.Bits, d.Temperatures)
	}
	if again := write(t, d); again != text {
		t.Errorf("got %s, want %s", again, text)
	}
}

// Bad values in sections from registers are damage at their line, and the rest is read.
func TestReadDatabase_BadPHY(t *testing.T) {
	text := write(t, &Database{Fabric: scan(t, "single-switch:hosts=1")})
	const key = "0x0002c90000800100,0x0002c90000800100,1,"
	for row, want := range map[string]string{
		"START_CABLE_INFO\nNodeGuid,PortGuid,PortNum,PN,Temperature\n" + key + "\"x\",\"warm\"\nEND_CABLE_INFO\n":            `temperature: got "warm"`,
		"START_CABLE_INFO\nNodeGuid,PortGuid,PortNum,LengthCopperOrActive\n" + key + "\"long\"\nEND_CABLE_INFO\n":            `LengthCopperOrActive: got "long", want metres`,
		"START_CABLE_INFO\nNodeGuid,PortGuid,PortNum,PN\n0x1,0x1,1,\"x\"\nEND_CABLE_INFO\n":                                  "is not in section NODES",
		"START_PHY_DB16\nNodeGuid,PortGuid,PortNum,field12\n" + key + "16\nEND_PHY_DB16\n":                                   `field12: got "16", want a number of 4 bits`,
		"START_TEMP_SENSING\nNodeGUID,CurrentTemperature\n0x0002c90000800100,hot\nEND_TEMP_SENSING\n":                        `CurrentTemperature: got "hot"`,
		"START_TEMP_SENSING\nNodeGUID,CurrentTemperature\n0x0002c90000800100,N/A\n0x0002c90000800100,40\nEND_TEMP_SENSING\n": "",
	} {
		t.Run(want, func(t *testing.T) {
			d, err := ReadDatabase(strings.NewReader(text+row), "db")
			if err != nil {
				t.Fatal(err)
			}
			damage := ""
			if len(d.Fabric.Failures) > 0 {
				damage = d.Fabric.Failures[0].Err.Error()
			}
			if !strings.Contains(damage, want) || (want == "") != (damage == "") {
				t.Errorf("got %q, want %q", damage, want)
			}
		})
	}
}

// Two nodes with the same GUID cannot be written, and a fabric without attributes
// neither.
func TestDatabase_Unwritable(t *testing.T) {
	f := scan(t, "demo")
	f.Nodes[0].Duplicate = true
	if err := (&Database{Fabric: f}).Write(new(bytes.Buffer)); err == nil || !strings.Contains(err.Error(), "several nodes") {
		t.Errorf("got %v, want an error about several nodes", err)
	}
	f.Nodes[0].Duplicate, f.Sparse = false, true
	if err := (&Database{Fabric: f}).Write(new(bytes.Buffer)); err == nil || !strings.Contains(err.Error(), "unknown") {
		t.Errorf("got %v, want an error about unknown attributes", err)
	}
}

// A partial fabric remains partial.
func TestDatabase_Partial(t *testing.T) {
	f := scan(t, "demo")
	f.Failures, f.Bounded, f.Aborted = make([]fabric.Failure, 3), true, errors.New("x")
	d, err := ReadDatabase(strings.NewReader(write(t, &Database{Fabric: f})), "db")
	if err != nil {
		t.Fatal(err)
	}
	if d.Fabric.Unanswered != 3 || !d.Fabric.Bounded || !errors.Is(d.Fabric.Aborted, fabric.ErrStoredAborted) {
		t.Errorf("got %d requests, bounded %v, aborted %v", d.Fabric.Unanswered, d.Fabric.Bounded, d.Fabric.Aborted)
	}
}

// Counters that were not read to the end make the file's fabric partial.
func TestDatabase_Ended(t *testing.T) {
	d, err := ReadDatabase(strings.NewReader(write(t, &Database{Fabric: scan(t, "demo"), Ended: true})), "db")
	if err != nil {
		t.Fatal(err)
	}
	if !errors.Is(d.Fabric.Aborted, fabric.ErrStoredAborted) {
		t.Errorf("got %v, want %v", d.Fabric.Aborted, fabric.ErrStoredAborted)
	}
}

func FuzzReadDatabase(f *testing.F) {
	seed, err := os.ReadFile("testdata/ibdiagnet2.db_csv")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(seed))
	f.Add(string(seed) + `START_PHY_DB16
NodeGuid,PortGuid,PortNum,field1,field12,field13,field14,field15
0x0000000000000002,0x0000000000000002,1,4000000,6,5,3,9
END_PHY_DB16
START_TEMP_SENSING
NodeGUID,CurrentTemperature
0x0000000000000002,51
END_TEMP_SENSING
`)
	f.Add(strings.ReplaceAll(string(seed), "Vendor,PN\n", "LengthCopperOrActive,TypeDesc,Temperature,FWVersion,PN\n"))
	f.Fuzz(func(t *testing.T, text string) {
		d, err := ReadDatabase(strings.NewReader(text), "db")
		if err != nil || d.Fabric.Sparse {
			return
		}
		first := write(t, d)
		again, err := ReadDatabase(strings.NewReader(first), "db")
		if err != nil {
			t.Fatal(err)
		}
		if got := write(t, again); got != first {
			t.Errorf("got\n%s\nwant\n%s", got, first)
		}
	})
}
