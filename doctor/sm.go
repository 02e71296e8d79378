package doctor

import (
	"context"
	"errors"
	"fmt"

	"github.com/ibkit/ibkit/devinfo"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/umad"
)

const whySM = "it gives ports their LIDs and answers who is where: without it no port becomes active, and no connection is made"

// checkSM asks the subnet manager of each port.
func checkSM(ctx context.Context, h *host) []Item {
	return h.eachLink(func(d *devinfo.Device, p *devinfo.Port) Item {
		if p.SMLID != nil && *p.SMLID == 0 {
			return h.noSM("no subnet manager has configured the port")
		}
		port, unknown := h.openPort(d, p)
		if port == nil {
			return unknown
		}
		defer port.Close()
		return h.interview(ctx, port)
	})
}

// interview asks the manager who it is, and subnet administration what it can do
// (InfiniBand Architecture, Volume 1, 14.2.5.13, 15.2.5).
func (h *host) interview(ctx context.Context, port umad.Port) Item {
	attr := port.Attr()
	c := umad.NewClient(port, umad.ClientOptions{Timeout: h.timeout, Attempts: 2})
	to := umad.Target{LID: attr.SMLID, SL: attr.SMSL}

	var sm mad.SMInfo
	reply, err := c.Call(ctx, &umad.Request{To: umad.Target{LID: attr.SMLID}, Attr: mad.AttrSMInfo})
	if err == nil {
		err = mad.Decode(&sm, reply.Data())
	}
	var refused mad.StatusError
	switch {
	case errors.As(err, &refused): // by the agent of a port
		return h.noSM("there is no subnet manager any more at LID %d, where the port was told that one is: %v", attr.SMLID, err)
	case err != nil:
		return h.noSM("the subnet manager at LID %d does not answer: %v", attr.SMLID, err)
	}
	found := fmt.Sprintf("LID %d, port 0x%016x, %v with priority %d", attr.SMLID, sm.GUID, sm.State, sm.Priority)
	if sm.State != mad.SMMaster {
		return h.noSM("%s: there is no master where the port was told that one is", found)
	}
	payload, err := mad.SAPayload(mad.SAHeader{}, nil)
	if err == nil {
		_, err = c.Call(ctx, &umad.Request{To: to, Class: mad.ClassSA, Attr: mad.AttrClassPortInfo, Payload: payload})
	}
	if err != nil {
		return h.noSM("%s; but subnet administration does not answer: %v", found, err)
	}
	return good("", "%s", found)
}

// noSM is for a port that has no subnet manager, or one that is no good.
func (h *host) noSM(format string, args ...any) Item {
	i := Item{Verdict: Error, Found: fmt.Sprintf(format, args...), Why: whySM}
	i.Advice = "one runs on a switch or on one host of the subnet: look there"
	if h.exists("usr/sbin/opensm") && !h.isContainer() {
		i.Mend = []string{"opensm -B"}
		if h.exists("run/systemd/system") {
			i.Mend = []string{"systemctl restart opensm"}
			i.Keep = []string{"systemctl enable opensm"}
		}
		i.Advice += ". The commands start one here"
	}
	return i
}
