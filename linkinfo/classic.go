package linkinfo

import (
	"cmp"

	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/mad"
)

// extendedSpeeds are the speeds of the fields LinkSpeedExt….
const extendedSpeeds = ib.FDR | ib.EDR | ib.HDR | ib.NDR | ib.XDR

// CouldBe returns the remarks of iblinkinfo on the link of a port with a peer: the
// best width and the best speed that both ends support, enabled or not. A remark
// is "" if the link runs at that width or speed.
//
// The rules are those of get_max_msg in rdma-core's
// infiniband-diags/ibdiag_common.c, except for ends without a common width or
// speed: rdma-core prints the lowest, CouldBe returns "".
func CouldBe(p *fabric.Port) (width, speed string) {
	var none mad.PortInfo
	here, there := p.Info, p.Peer.Info
	if here == nil {
		here = &none
	}
	if there == nil {
		there = &none
	}
	best := (here.LinkWidthSupported & there.LinkWidthSupported).Max()
	if best != 0 && here.LinkWidthActive&best == 0 {
		width = "Could be " + best.String()
	}
	return width, couldBeSpeed(p, here, there)
}

func couldBeSpeed(p *fabric.Port, here, there *mad.PortInfo) string {
	mine := here.SupportedSpeeds(ClassicCaps(p), nil) & extendedSpeeds
	theirs := there.SupportedSpeeds(ClassicCaps(p.Peer), nil) & extendedSpeeds
	active, best := here.LinkSpeedActive.Speed(), (here.LinkSpeedSupported & there.LinkSpeedSupported).Speed().Max()
	switch {
	case mine != 0 && theirs != 0:
		active, best = here.ActiveSpeed(ClassicCaps(p), nil), (mine & theirs).Max()
	case supportsFDR10(p) && supportsFDR10(p.Peer):
		switch {
		case p.Ext.LinkSpeedActive.Speed() == ib.FDR10:
			return ""
		case active == ib.QDR:
			return "Could be FDR10 (Found link at QDR but expected speed is FDR10)"
		}
		return "Could be FDR10"
	}
	if best == 0 || active.Has(best) {
		return ""
	}
	return "Could be " + best.Classic()
}

// ClassicCaps returns the PortInfo whose capability masks apply to a port. As iblinkinfo
// does, it takes unknown capabilities for none.
func ClassicCaps(p *fabric.Port) *mad.PortInfo {
	return cmp.Or(p.Caps(), new(mad.PortInfo))
}

func supportsFDR10(p *fabric.Port) bool {
	return p.Ext != nil && p.Ext.LinkSpeedSupported.Speed() == ib.FDR10
}
