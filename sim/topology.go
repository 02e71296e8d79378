package sim

import (
	"errors"
	"io"
	"strings"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/mad"
)

// ParseTopology parses a topology file: ibnetdiscover output (infiniband-diags,
// ibnetdiscover.c), also with -g or -f. The fabric has the names, GUIDs, LIDs and active
// widths and speeds from the file. The file does not contain supported widths and speeds:
// ports support the active and all lower widths and speeds. Links are in state Initialize,
// as before a subnet manager has run; [Fabric.Configure] keeps the LIDs.
//
// Unknown widths and speeds are read as 4X and SDR. Errors name the file (name), line
// and column.
func ParseTopology(r io.Reader, name string) (*Fabric, error) {
	n := newNetReader(topologyRules)
	n.open = func(string) (io.ReadCloser, error) {
		return nil, errors.New("include is not supported in a topology file")
	}
	return n.load(r, name)
}

// An activeRate is a link's active width and speed.
type activeRate struct {
	width ib.LinkWidth
	speed ib.Speed
}

// parseRunning parses "lid 4 4xHDR". It reports false if the text has another form.
func parseRunning(text string) (activeRate, bool) {
	fields := strings.Fields(text)
	if len(fields) < 3 || fields[0] != "lid" {
		return activeRate{}, false
	}
	width, speed, ok := strings.Cut(fields[2], "x")
	if strings.HasPrefix(fields[2], "??") {
		width, speed, ok = "??", fields[2][2:], true
	}
	r := activeRate{width: widthByName(width + "X"), speed: speedByName(speed)}
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

// enable enables the widths and speeds for a link that runs at r, as ibsim does: 4X and 12X
// include narrower widths, a speed includes all slower speeds.
func (r activeRate) enable(a *ability) {
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
