package devinfo

import (
	"fmt"

	"github.com/ibkit/ibkit/report"
)

// IsRoCEv2 reports whether packets with the GID have UDP and IP headers.
func (g GID) IsRoCEv2() bool { return g.Type != nil && *g.Type == "RoCE v2" }

// RoutableGID returns the RoCE v2 GID that suits most programs: the first over IPv4, else
// the first over a global or unique local IPv6 address.
func (p *Port) RoutableGID() (GID, bool) {
	var found *GID
	for i := range p.GIDs {
		switch g := &p.GIDs[i]; {
		case !g.IsRoCEv2():
		case g.GID.Is4In6():
			return *g, true
		case found == nil && g.GID.IsGlobalUnicast():
			found = g
		}
	}
	if found == nil {
		return GID{}, false
	}
	return *found, true
}

// gidFinding rates the GIDs of an active RoCE port, for all commands alike; nil if there is
// a RoCE v2 GID over IPv4. A port with IPv6 addresses works, except for programs that use
// IPv4 addresses. GIDs of link-local addresses do not pass routers. Without a GID, the port
// cannot send.
func (d *Device) gidFinding(p *Port) *report.Finding {
	f := d.finding(report.NoIPv4GID, p.Number, "", "no RoCE v2 GID over IPv4")
	switch g, ok := p.RoutableGID(); {
	case ok && g.GID.Is4In6():
		return nil
	case ok:
		f.Severity = report.Info
		f.Detail = fmt.Sprintf("%s, only over IPv6: index %d, %v", f.Detail, g.Index, g.GID)
	case len(p.GIDs) == 0:
		f.Severity, f.Detail = report.Error, "no GID"
	}
	return &f
}
