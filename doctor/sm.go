package doctor

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/ibkit/ibkit/devinfo"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/umad"
	"github.com/ibkit/ibkit/umad/device"
)

// checkSM asks the subnet manager of each port, all at once: those that do not
// answer take their time.
func checkSM(ctx context.Context, h *host) []Item {
	var ports []string
	var asks []func() Item
	for d, p := range h.ports() {
		// 5: the link is up. What is not is a matter of the check of ports.
		if p.LinkLayer == nil || *p.LinkLayer != "InfiniBand" || p.PhysState == nil || *p.PhysState != uint8(mad.PhysLinkUp) {
			continue
		}
		ports = append(ports, portName(d, p))
		asks = append(asks, func() Item { return h.askSM(ctx, d, p) })
	}
	if ports == nil {
		return nothing("no InfiniBand port has a link")
	}
	items := make([]Item, len(ports))
	var all sync.WaitGroup
	for i := range asks {
		all.Go(func() {
			items[i] = asks[i]()
			items[i].Subject = ports[i]
		})
	}
	all.Wait()
	return items
}

const whySM = "it gives ports their LIDs and answers who is where: without it no port becomes active, and no connection is made"

func (h *host) askSM(ctx context.Context, d *devinfo.Device, p *devinfo.Port) Item {
	if p.SMLID != nil && *p.SMLID == 0 {
		return h.noSM("no subnet manager has configured the port")
	}
	if !h.live {
		return Item{Verdict: Unknown, Found: "only a running kernel can ask", Advice: onHost}
	}
	port, err := h.openPort(d.Name, p)
	if err != nil {
		i := Item{Verdict: Unknown, Found: err.Error()}
		var hinter interface{ Hint() string }
		if errors.As(err, &hinter) {
			i.Advice = hinter.Hint()
		}
		return i
	}
	defer port.Close()
	return h.interview(ctx, port)
}

// openPort opens the device node of a port for management datagrams.
func (h *host) openPort(name string, p *devinfo.Port) (umad.Port, error) {
	all, err := device.Candidates(h.sysfs())
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(all, func(c device.Candidate) bool { return c.Device.Name == name && int(c.Port.Number) == p.Number })
	if i < 0 {
		return nil, fmt.Errorf("ask subnet manager: %s port %d has no device node for management datagrams", name, p.Number)
	}
	port, err := all[i].Open(h.path("dev/infiniband"))
	if err != nil {
		return nil, err // not one that is nil, in an interface
	}
	return port, nil
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
