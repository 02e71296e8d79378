package doctor

import (
	"context"
	"errors"
	"fmt"

	"github.com/ibkit/ibkit/devinfo"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/umad"
)

const whySM = "the subnet manager assigns LIDs and answers path queries: without it, ports do not become active and connections fail"

// checkSM queries each port's subnet manager.
func checkSM(ctx context.Context, h *host) []Item {
	return h.forEachLink(func(d *devinfo.Device, p *devinfo.Port) Item {
		if p.SMLID != nil && *p.SMLID == 0 {
			return h.smError("no subnet manager has configured the port")
		}
		port, failed := h.openPort(d, p)
		if port == nil {
			return failed
		}
		defer port.Close()
		return h.querySM(ctx, port)
	})
}

// querySM queries the subnet manager's SMInfo and subnet administration's ClassPortInfo
// (InfiniBand Architecture, Volume 1, 14.2.5.13, 15.2.5).
func (h *host) querySM(ctx context.Context, port umad.Port) Item {
	attr := port.Attr()
	c := umad.NewClient(port, umad.ClientOptions{Timeout: h.timeout, Attempts: 2})
	to := umad.Target{LID: attr.SMLID, SL: attr.SMSL}

	var sm mad.SMInfo
	err := c.Get(ctx, umad.Target{LID: attr.SMLID}, &sm)
	var status mad.StatusError
	switch {
	case errors.As(err, &status): // the port's SMA responded
		return h.smError("the subnet manager at LID %d is gone: %v", attr.SMLID, err)
	case err != nil:
		return h.smError("the subnet manager at LID %d does not respond: %v", attr.SMLID, err)
	}
	found := fmt.Sprintf("LID %d, port 0x%016x, %v with priority %d", attr.SMLID, sm.GUID, sm.State, sm.Priority)
	if sm.State != mad.SMMaster {
		return h.smError("the subnet manager that configured the port is not the master: %s", found)
	}
	if err := c.Get(ctx, to, &mad.ClassPortInfo{}, umad.InClass(mad.ClassSA)); err != nil {
		return h.smError("%s, but subnet administration does not respond: %v", found, err)
	}
	return good("", "%s", found)
}

// smError returns an item for a port with a subnet manager that is missing or does not
// work.
func (h *host) smError(format string, args ...any) Item {
	i := Item{Verdict: Error, Found: fmt.Sprintf(format, args...), Why: whySM}
	i.Hint = "check the switch or host that runs the subnet manager"
	if h.exists("usr/sbin/opensm") && !h.isContainer() {
		i.Fix = []string{"opensm -B"}
		if h.exists("run/systemd/system") {
			i.Fix = []string{"systemctl restart opensm"}
			i.Persist = []string{"systemctl enable opensm"}
		}
		i.Hint += "; the command starts a subnet manager on this host"
	}
	return i
}
