package page

import (
	"slices"

	"github.com/ibkit/ibkit/internal/tool/watch"
	"github.com/ibkit/ibkit/report"
)

// maxEvents limits the events that are kept.
const maxEvents = 2000

// events are the last events, the oldest first.
type events struct {
	list     []*watch.Event
	sequence uint64 // of the last event
}

// add adds events, and removes the oldest events above the limit.
func (e *events) add(added []*watch.Event) {
	e.list = append(e.list, added...)
	if n := len(e.list) - maxEvents; n > 0 {
		e.list = slices.Delete(e.list, 0, n)
	}
	if len(added) > 0 {
		e.sequence = added[len(added)-1].Sequence
	}
}

// recent returns the events that a function accepts, the newest first.
func (p *Page) recent(accept func(*watch.Event) bool) []*watch.Event {
	p.mu.Lock()
	defer p.mu.Unlock()
	var all []*watch.Event
	for _, e := range slices.Backward(p.events.list) {
		if accept(e) {
			all = append(all, e)
		}
	}
	return all
}

// isAt reports whether an event is about a port, or about its node if port is -1, at either
// end of a link.
func isAt(e *watch.Event, k portKey, port int) bool {
	for _, place := range []*report.Place{e.Data.Place, e.Data.Peer} {
		if place == nil || place.NodeGUID == nil || *place.NodeGUID != k.guid {
			continue
		}
		if port < 0 || place.Port != nil && *place.Port == port {
			return true
		}
	}
	return false
}
