package sim

import (
	"time"

	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/umad"
)

// maxTransfers limits the replies in progress. The oldest replies are discarded, in case
// their receivers do not acknowledge segments.
const maxTransfers = 64

// A transfer is a multi-segment reply in progress.
type transfer struct {
	to     *Port
	tid    uint64
	sender *umad.RMPPSender
}

// transmit replies with the first data segment, with the headers from p.
func (f *Fabric) transmit(d destination, p *mad.Packet, data []byte) {
	a := &f.admin
	a.remove(d.from, p.TID())
	if len(a.transfers) == maxTransfers {
		a.transfers = a.transfers[1:]
	}
	t := &transfer{d.from, p.TID(), umad.NewRMPPSender(p, data)}
	a.transfers = append(a.transfers, t)
	t.sender.Next(f.elapsed(), p)
}

// acknowledge handles a segment acknowledgement and replies with the next segments.
func (f *Fabric) acknowledge(d destination, p *mad.Packet) bool {
	t := f.admin.transfer(d.from, p.TID())
	if t == nil {
		return false
	}
	now := f.elapsed()
	var answer mad.Packet
	if t.sender.Receive(p, now, &answer) {
		*p = answer
		f.admin.remove(d.from, t.tid)
		return true
	}
	if t.sender.Done() || t.sender.Err() != nil {
		f.admin.remove(d.from, t.tid)
		return false
	}
	if !t.sender.Next(now, p) {
		return false
	}
	for t.sender.Next(now, &answer) {
		f.extra = append(f.extra, answer)
	}
	return true
}

// elapsed returns the time for transfer timeouts.
func (f *Fabric) elapsed() time.Duration { return f.now().Sub(time.Unix(0, 0)) }

func (a *administration) transfer(to *Port, tid uint64) *transfer {
	for _, t := range a.transfers {
		if t.to == to && t.tid == tid {
			return t
		}
	}
	return nil
}

func (a *administration) remove(to *Port, tid uint64) {
	for i, t := range a.transfers {
		if t.to == to && t.tid == tid {
			a.transfers = append(a.transfers[:i], a.transfers[i+1:]...)
			return
		}
	}
}
