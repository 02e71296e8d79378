package linkinfo

import (
	"fmt"
	"slices"
	"testing"

	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/report"
)

// extended is the capability mask of a port that knows extended speeds.
const extended = mad.CapExtendedSpeeds | mad.CapCapMask2

// link returns one end of a link between two adapters with the PortInfo given;
// nil stands for an end that did not respond.
func link(here, there *mad.PortInfo) *fabric.Port {
	a := &fabric.Node{GUID: 1, Info: mad.NodeInfo{NodeType: mad.NodeTypeCA, NumPorts: 1}}
	b := &fabric.Node{GUID: 2, Info: mad.NodeInfo{NodeType: mad.NodeTypeCA, NumPorts: 1}}
	p := &fabric.Port{Node: a, Number: 1, GUID: 1, Info: here}
	p.Peer = &fabric.Port{Node: b, Number: 1, GUID: 2, Info: there, Peer: p}
	a.Ports, b.Ports = []*fabric.Port{nil, p}, []*fabric.Port{nil, p.Peer}
	return p
}

// unlinked returns a port without a peer.
func unlinked(info *mad.PortInfo) *fabric.Port {
	p := link(info, nil)
	p.Peer = nil
	return p
}

// active returns the PortInfo of a port at 4X HDR, the best that the port supports
// and has enabled. change modifies it.
func active(change func(*mad.PortInfo)) *mad.PortInfo {
	i := &mad.PortInfo{
		State:                 ib.PortActive,
		PhysState:             ib.PhysLinkUp,
		CapMask:               extended,
		LinkWidthSupported:    ib.Width1X | ib.Width4X,
		LinkWidthEnabled:      ib.Width1X | ib.Width4X,
		LinkWidthActive:       ib.Width4X,
		LinkSpeedSupported:    7,
		LinkSpeedEnabled:      7,
		LinkSpeedActive:       4,
		LinkSpeedExtSupported: 7,
		LinkSpeedExtEnabled:   7,
		LinkSpeedExtActive:    4,
	}
	if change != nil {
		change(i)
	}
	return i
}

func TestFindings(t *testing.T) {
	invalid := func(change func(*fabric.Port)) *fabric.Port {
		p := link(active(nil), active(nil))
		change(p)
		return p
	}
	stored := func(width ib.LinkWidth) *mad.PortInfo { // of ibnetdiscover, without a state
		return &mad.PortInfo{PhysState: ib.PhysLinkUp, LinkWidthActive: width}
	}
	both := func(change func(*mad.PortInfo)) *fabric.Port { return link(active(change), active(change)) }
	for _, test := range []struct {
		name string
		port *fabric.Port
		want string
	}{
		{"good", both(nil), "[]"},
		{"no reply", link(nil, active(nil)), "[no-reply: the port did not respond]"},
		{"other end does not answer", link(active(nil), nil), "[]"},
		{"nothing behind it", unlinked(active(nil)),
			"[no-peer: the link is up, but the peer did not respond]"},
		{"not in use", unlinked(&mad.PortInfo{State: ib.PortDown, PhysState: ib.PhysPolling}), "[]"},
		{"switched off", unlinked(&mad.PortInfo{State: ib.PortDown, PhysState: ib.PhysDisabled}),
			"[disabled: disabled by configuration]"},
		{"training", unlinked(&mad.PortInfo{State: ib.PortDown, PhysState: ib.PhysTraining}),
			"[unstable: the physical state is PortConfigurationTraining]"},
		{"no subnet manager", both(func(i *mad.PortInfo) { i.State = ib.PortInit }),
			"[not-active: not activated by a subnet manager]"},
		{"narrow", both(func(i *mad.PortInfo) { i.LinkWidthActive = ib.Width1X }),
			"[narrow: 1X, but both ends have 4X enabled]"},
		{"slow", both(func(i *mad.PortInfo) { i.LinkSpeedExtActive = 2 }),
			"[slow: EDR, but both ends have HDR enabled]"},
		{"slower than one end can do", link(active(func(i *mad.PortInfo) { i.LinkSpeedExtActive = 2 }), active(func(i *mad.PortInfo) {
			i.LinkSpeedExtSupported, i.LinkSpeedExtEnabled, i.LinkSpeedExtActive = 3, 3, 2
		})), "[]"},
		{"limited by configuration", both(func(i *mad.PortInfo) { i.LinkSpeedExtEnabled, i.LinkSpeedExtActive = 3, 2 }),
			"[limited: both ends support 4X HDR]"},
		{"one end enables 1X only", link(active(func(i *mad.PortInfo) { i.LinkWidthEnabled, i.LinkWidthActive = ib.Width1X, ib.Width1X }), active(func(i *mad.PortInfo) { i.LinkWidthActive = ib.Width1X })),
			"[uneven: 1X HDR enabled, 4X HDR at the peer limited: both ends support 4X HDR]"},
		{"the peer enables EDR only", link(active(func(i *mad.PortInfo) { i.LinkSpeedExtActive = 2 }), active(func(i *mad.PortInfo) { i.LinkSpeedExtEnabled, i.LinkSpeedExtActive = 3, 2 })),
			"[uneven: 4X HDR enabled, 4X EDR at the peer limited: both ends support 4X HDR]"},
		{"extended speeds switched off", both(func(i *mad.PortInfo) { i.LinkSpeedExtEnabled, i.LinkSpeedExtActive = 30, 0 }),
			"[limited: both ends support 4X HDR]"},
		{"other end is down", link(active(nil), active(func(i *mad.PortInfo) { i.State, i.PhysState = ib.PortDown, ib.PhysPolling })),
			"[one-sided: the peer reports Down/Polling]"},
		{"other end says another speed", link(active(nil), active(func(i *mad.PortInfo) { i.LinkSpeedExtActive = 2 })),
			"[one-sided: the peer reports 4X EDR]"},
		{"stored, other width", link(stored(ib.Width4X), stored(ib.Width1X)), "[one-sided: the peer reports 1X]"},
		{"stored, width of an end unknown", link(stored(ib.Width4X), stored(0)), "[]"},
		{"node without GUID", invalid(func(p *fabric.Port) { p.Node.GUID = 0 }), "[invalid: node GUID 0]"},
		{"invalid LID, and slow", invalid(func(p *fabric.Port) { p.Info.LID, p.Info.LinkSpeedExtActive = 0xffff, 2 }),
			"[invalid: LID 65535 with LMC 0 one-sided: the peer reports 4X HDR slow: EDR, but both ends have HDR enabled]"},
		{"invalid number and GUID, no answer", invalid(func(p *fabric.Port) { p.Number, p.GUID, p.Info = 9, 0, nil }),
			"[invalid: port number 9, port GUID 0]"},
	} {
		t.Run(test.name, func(t *testing.T) {
			e := NewEnd(test.port, true)
			texts := []string{}
			for _, f := range e.Findings {
				texts = append(texts, f.Brief())
			}
			if got := fmt.Sprint(texts); got != test.want {
				t.Errorf("got %s, want %s", got, test.want)
			}
		})
	}
}

// TestSpeedWithoutCapabilities checks that the speed of a switch's port is unknown
// and not compared with the peer's if port 0 did not respond.
func TestSpeedWithoutCapabilities(t *testing.T) {
	p := link(active(nil), active(nil))
	p.Node.Info.NodeType, p.Node.Ports[0] = mad.NodeTypeSwitch, nil
	for _, end := range []*fabric.Port{p, p.Peer} {
		e := NewEnd(end, true)
		if len(e.Findings) > 0 || e.BestSpeed != 0 || (end == p) != (e.Speed == 0) {
			t.Errorf("speed %v, best %v, findings %v", e.Speed, e.BestSpeed, e.Findings)
		}
	}
}

// TestFindingsOfAbortedScan checks that missing data is not a finding if the scan
// ended early.
func TestFindingsOfAbortedScan(t *testing.T) {
	for _, p := range []*fabric.Port{
		link(nil, active(nil)),
		unlinked(active(nil)),
	} {
		if e := NewEnd(p, false); len(e.Findings) > 0 {
			t.Errorf("got %v", e.Findings)
		}
	}
}

func TestCouldBe(t *testing.T) {
	legacy := func(i *mad.PortInfo) { i.CapMask = 0 }
	fdr10 := func(p *fabric.Port, active mad.MlnxLinkSpeed) *fabric.Port {
		p.Ext = &mad.MlnxExtPortInfo{LinkSpeedSupported: 1, LinkSpeedActive: active}
		p.Peer.Ext = &mad.MlnxExtPortInfo{LinkSpeedSupported: 1}
		return p
	}
	for _, test := range []struct {
		name         string
		port         *fabric.Port
		width, speed string
	}{
		{"best", link(active(nil), active(nil)), "", ""},
		{"narrow", link(active(func(i *mad.PortInfo) { i.LinkWidthActive = ib.Width1X }), active(nil)), "Could be 4X", ""},
		{"slow", link(active(func(i *mad.PortInfo) { i.LinkSpeedExtActive = 1 }), active(nil)), "", "Could be 53.125 Gbps"},
		{"limited by configuration is slow to it", link(active(func(i *mad.PortInfo) { i.LinkSpeedExtEnabled, i.LinkSpeedExtActive = 1, 1 }), active(nil)), "", "Could be 53.125 Gbps"},
		{"XDR", link(active(func(i *mad.PortInfo) { i.CapMask2, i.LinkSpeedExt2Supported = mad.Cap2ExtendedSpeeds2, 1 }),
			active(func(i *mad.PortInfo) { i.CapMask2, i.LinkSpeedExt2Supported = mad.Cap2ExtendedSpeeds2, 1 })), "", "Could be 212.5 Gbps"},
		{"no extended speeds", link(active(func(i *mad.PortInfo) { legacy(i); i.LinkSpeedActive = 1 }), active(legacy)), "", "Could be 10.0 Gbps"},
		{"no extended speed in common", link(active(func(i *mad.PortInfo) { i.LinkSpeedExtSupported = 1 }), active(func(i *mad.PortInfo) { i.LinkSpeedExtSupported = 2 })), "", ""},
		{"other end did not answer", link(active(nil), nil), "", ""},
		{"FDR10 not active", fdr10(link(active(legacy), active(legacy)), 0), "", "Could be FDR10 (Found link at QDR but expected speed is FDR10)"},
		{"FDR10 active", fdr10(link(active(legacy), active(legacy)), 1), "", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			width, speed := CouldBe(test.port)
			if width != test.width || speed != test.speed {
				t.Errorf("got %q %q, want %q %q", width, speed, test.width, test.speed)
			}
		})
	}
}

func TestParseChecks(t *testing.T) {
	if c, err := ParseChecks("port,State,lid,nodedesc"); err != nil || c != (Checks{Connection: true, State: true, LID: true, Description: true}) {
		t.Errorf("got %v, %v", c, err)
	}
	if _, err := ParseChecks("port,speed"); err == nil {
		t.Error("no error for an unknown key")
	}
}

// Parallel links between two switches are compared, links to adapters and links with another
// finding are not.
func TestEnds_Parallel(t *testing.T) {
	node := func(guid ib.GUID, kind mad.NodeType) *fabric.Node {
		return fabric.NewNode(mad.NodeInfo{NodeGUID: guid, NodeType: kind, NumPorts: 5}, mad.NodeDescription{})
	}
	a, b := node(1, mad.NodeTypeSwitch), node(2, mad.NodeTypeSwitch)
	other, ca := node(3, mad.NodeTypeSwitch), node(4, mad.NodeTypeCA)
	connect := func(number uint8, peer *fabric.Node, info *mad.PortInfo) {
		p, q := a.At(number), peer.At(number)
		p.Info, q.Info, p.Peer, q.Peer = info, info, q, p
	}
	slower := func(i *mad.PortInfo) { i.LinkSpeedExtActive, i.LinkSpeedExtEnabled = 2, 3 }
	connect(1, b, active(nil))
	connect(2, b, active(slower))
	connect(3, b, active(func(i *mad.PortInfo) { i.LinkWidthActive = ib.Width1X })) // narrow
	connect(4, other, active(slower))
	connect(5, ca, active(slower))
	for _, n := range []*fabric.Node{a, b, other} {
		n.At(0).Info = active(nil) // with the capability mask
	}
	f := fabric.Assemble([]*fabric.Node{a, b, other, ca}, a.At(1))
	var got []string
	for _, e := range Ends(f, f.Nodes) {
		for _, finding := range e.Findings {
			if finding.Kind == report.SlowParallel {
				got = append(got, fmt.Sprintf("%d[%d] %s", e.Port.Node.GUID, e.Port.Number, finding.Detail))
			}
		}
	}
	want := []string{"1[2] 4X EDR, but a parallel link runs at 4X HDR", "2[2] 4X EDR, but a parallel link runs at 4X HDR"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
