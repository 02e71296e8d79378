package sim

import (
	"errors"
	"io"
	"strings"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/mad"
)

// ParseTopology reads a topology file, as ibnetdiscover prints it (with -g and
// -f too; infiniband-diags, ibnetdiscover.c). Names, GUIDs, LIDs and what the
// links run at are kept; of what ports could do the file says nothing, so they
// can do what they do and everything slower and narrower. Links are in state
// Initialize, as before a subnet manager ran; [Fabric.Configure] keeps the LIDs.
//
// A width or speed that ibnetdiscover could not name is taken for 4X or SDR.
// name stands for the file in errors; after an error there is no fabric.
func ParseTopology(r io.Reader, name string) (*Fabric, error) {
	n := newNetReader(topologyRules)
	n.open = func(string) (io.ReadCloser, error) {
		return nil, errors.New("a topology file includes no other")
	}
	return n.load(r, name)
}

// running is what a link runs at.
type running struct {
	width ib.LinkWidth
	speed ib.Speed
}

// parseRunning reads "lid 4 4xHDR". It reports false where there is no such
// thing.
func parseRunning(text string) (running, bool) {
	fields := strings.Fields(text)
	if len(fields) < 3 || fields[0] != "lid" {
		return running{}, false
	}
	width, speed, ok := strings.Cut(fields[2], "x")
	if strings.HasPrefix(fields[2], "??") {
		width, speed, ok = "??", fields[2][2:], true
	}
	r := running{width: widthByName(width + "X"), speed: speedByName(speed)}
	if speed == ib.FDR10.String() {
		r.speed = ib.FDR10
	}
	if width == "??" {
		r.width = ib.Width4X
	}
	if speed == "???" {
		r.speed = ib.SDR
	}
	return r, ok && r.width != 0 && r.speed != 0
}

// enable makes a port able to run at what is said of its link, as ibsim does:
// a width of 4 and 12 lanes allows for the narrower ones, others do not; a
// speed allows for all slower ones.
func (r running) enable(a *ability) {
	switch r.width {
	case ib.Width12X:
		a.width = ib.Width1X | ib.Width4X | ib.Width12X
	case ib.Width4X:
		a.width = ib.Width1X | ib.Width4X
	default:
		a.width = r.width
	}
	up := upTo(r.speed)
	a.speed = mad.LinkSpeed(up & (ib.SDR | ib.DDR | ib.QDR))
	if r.speed > ib.QDR && r.speed != ib.FDR10 {
		a.ext = mad.LinkSpeedExt(up / ib.FDR & maxExtSpeeds)
	}
	if r.speed > ib.QDR {
		a.fdr10 = true
	}
}
