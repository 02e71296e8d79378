package doctor

import (
	"context"
	"fmt"
	"strings"

	"github.com/ibkit/ibkit/devinfo"
	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/linkinfo"
	"github.com/ibkit/ibkit/umad"
)

// checkLinks asks both ends of each port's link what it runs at, and what they
// could.
func checkLinks(ctx context.Context, h *host) []Item {
	return h.eachLink(func(d *devinfo.Device, p *devinfo.Port) Item {
		port, unknown := h.openPort(d, p)
		if port == nil {
			return unknown
		}
		return h.lookAlong(ctx, port)
	})
}

// lookAlong looks at the link of a port, which it closes.
func (h *host) lookAlong(ctx context.Context, port umad.Port) Item {
	number := int(port.Attr().Number)
	r, err := linkinfo.Run(ctx, linkinfo.Options{
		Open:    func(context.Context) (umad.Port, error) { return port, nil },
		Client:  umad.ClientOptions{Timeout: h.timeout, Attempts: 2},
		Partial: true,
	})
	switch {
	case err != nil:
		return Item{Verdict: Unknown, Found: err.Error()}
	case r.Node == nil || number >= len(r.Node.Ports) || r.Node.Ports[number] == nil:
		return Item{Verdict: Unknown, Found: "the port did not answer"}
	}
	return judgeLink(linkinfo.NewEnd(r.Node.Ports[number], true))
}

func judgeLink(e linkinfo.End) Item {
	i := good("", "%v %v", e.Width, e.Speed)
	var said []string
	for _, f := range e.Findings {
		switch {
		case f.Kind == linkinfo.NotActive:
			continue // which is a matter of the check of ports
		case f.IsProblem():
			i.Verdict = Warning
		case i.Verdict == OK:
			i.Verdict = Note
		}
		said = append(said, f.Detail)
	}
	if said == nil {
		return i
	}
	i.Found = strings.Join(said, "; ")
	i.Why = "a link that runs below what it could slows down all that goes over it"
	i.Advice = "reseat the cable, then replace it, then change the port"
	if i.Verdict == Note {
		i.Advice = "that is how the ports are configured"
	}
	if peer := e.Port.Peer; peer != nil {
		var names *fabric.NameMap
		i.Found += fmt.Sprintf(" (to %s port %d)", names.Name(peer.Node), peer.Number)
	}
	return i
}
