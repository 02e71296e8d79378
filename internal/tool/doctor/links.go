package doctor

import (
	"context"
	"fmt"
	"strings"

	"github.com/ibkit/ibkit/devinfo"
	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/linkinfo"
	"github.com/ibkit/ibkit/report"
	"github.com/ibkit/ibkit/umad"
)

// checkLinks queries both link ends for each port and compares the speed and width in use
// with the speed and width that both ends support.
func checkLinks(ctx context.Context, h *host) []Item {
	return h.forEachLink(func(d *devinfo.Device, p *devinfo.Port) Item {
		port, failed := h.openPort(d, p)
		if port == nil {
			return failed
		}
		return h.checkLink(ctx, port)
	})
}

// checkLink checks a port's link. It closes the port.
func (h *host) checkLink(ctx context.Context, port umad.Port) Item {
	number := int(port.Attr().Number)
	var link linkCounters
	r, err := linkinfo.Run(ctx, linkinfo.Options{
		Source: fabric.Source{
			OpenPort: func(context.Context) (umad.Port, error) { return port, nil },
			Client:   umad.ClientOptions{Timeout: h.timeout, Attempts: 2},
			Discover: link.discover,
		},
		Partial: true,
	})
	switch {
	case err != nil:
		return Item{Verdict: Unknown, Found: err.Error()}
	case r.Node == nil || number >= len(r.Node.Ports) || r.Node.Ports[number] == nil:
		return Item{Verdict: Unknown, Found: "the port did not respond"}
	}
	return link.add(linkItem(linkinfo.NewEnd(r.Node.Ports[number], true)))
}

func linkItem(e linkinfo.End) Item {
	i := good("", "%v %v", e.Width, e.Speed)
	var details []string
	configured := true // no findings except about the configuration
	for _, f := range e.Findings {
		switch {
		case f.Kind == report.NotActive:
			continue // checkPorts reports it
		case f.Severity.IsProblem():
			i.Verdict = Warning
		case i.Verdict == OK:
			i.Verdict = Note
		}
		details = append(details, f.Detail)
		if f.Kind != report.Limited && f.Kind != report.Uneven && f.Kind != report.Disabled {
			configured = false
		}
	}
	if details == nil {
		return i
	}
	i.Found = strings.Join(details, "; ")
	i.Why = "a slow link slows down all traffic that crosses it"
	i.Hint = "reseat the cable; if that does not help, replace it; then use another switch port"
	if configured {
		i.Hint = "the configuration of the ports limits the link"
	}
	if peer := e.Port.Peer; peer != nil {
		var names *fabric.NameMap
		i.Found += fmt.Sprintf(" (to %s)", names.PortName(peer))
	}
	return i
}
