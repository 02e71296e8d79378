package linkinfo

import (
	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/mad"
)

// extendedSpeeds are the speeds that the fields LinkSpeedExt… hold.
const extendedSpeeds = mad.FDR | mad.EDR | mad.HDR | mad.NDR | mad.XDR

// CouldBe returns what iblinkinfo says of a link that has a peer: the best
// width and the best speed that both ends support, whether enabled or not, each
// "" where the link runs at it.
//
// The rules are those of get_max_msg in rdma-core's
// infiniband-diags/ibdiag_common.c.
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
	if best == 0 {
		best = mad.Width1X
	}
	if here.LinkWidthActive&best == 0 {
		width = "Could be " + best.String()
	}

	mine := here.SupportedSpeeds(p.Caps(), nil) & extendedSpeeds
	theirs := there.SupportedSpeeds(p.Peer.Caps(), nil) & extendedSpeeds
	switch {
	case mine != 0 && theirs != 0:
		// Without a common extended speed the bottom one is named, as bit 0
		// is the maximum of an empty set there.
		best := max((mine & theirs).Max(), mad.FDR)
		if !here.ActiveSpeed(p.Caps(), nil).Has(best) {
			speed = "Could be " + best.Classic()
		}
	case supportsFDR10(p) && supportsFDR10(p.Peer):
		switch {
		case p.Ext.LinkSpeedActive.Speed() == mad.FDR10:
		case here.LinkSpeedActive.Speed() == mad.QDR:
			speed = "Could be FDR10 (Found link at QDR but expected speed is FDR10)"
		default:
			speed = "Could be FDR10"
		}
	default:
		best := max((here.LinkSpeedSupported & there.LinkSpeedSupported).Speed().Max(), mad.SDR)
		if !here.LinkSpeedActive.Speed().Has(best) {
			speed = "Could be " + best.Classic()
		}
	}
	return width, speed
}

func supportsFDR10(p *fabric.Port) bool {
	return p.Ext != nil && p.Ext.LinkSpeedSupported.Speed() == mad.FDR10
}
