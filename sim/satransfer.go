package sim

import (
	"time"

	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/umad"
)

// maxTransfers is how many answers are kept under way: who does not acknowledge
// segments has them forgotten when others ask.
const maxTransfers = 64

// A transfer is an answer of many segments under way to a port.
type transfer struct {
	to     *Port
	tid    uint64
	sender *umad.RMPPSender
}

// transmit answers with the first segment of data, behind the headers of p.
func (f *Fabric) transmit(d destination, p *mad.Packet, data []byte) {
	a := &f.admin
	a.forget(d.from, p.TID())
	if len(a.transfers) == maxTransfers {
		a.transfers = a.transfers[1:]
	}
	t := &transfer{d.from, p.TID(), umad.NewRMPPSender(p, data)}
	a.transfers = append(a.transfers, t)
	t.sender.Next(f.elapsed(), p)
}

// proceed takes in what a port says of the segments that it got, and answers
// with the next ones.
func (f *Fabric) proceed(d destination, p *mad.Packet) bool {
	t := f.admin.transfer(d.from, p.TID())
	if t == nil {
		return false
	}
	now := f.elapsed()
	var answer mad.Packet
	if t.sender.Receive(p, now, &answer) {
		*p = answer
		f.admin.forget(d.from, t.tid)
		return true
	}
	if t.sender.Done() || t.sender.Err() != nil {
		f.admin.forget(d.from, t.tid)
		return false
	}
	if !t.sender.Next(now, p) {
		return false
	}
	for t.sender.Next(now, &answer) {
		f.more = append(f.more, answer)
	}
	return true
}

// elapsed is the clock of transfers.
func (f *Fabric) elapsed() time.Duration { return f.now().Sub(time.Unix(0, 0)) }

func (a *administration) transfer(to *Port, tid uint64) *transfer {
	for _, t := range a.transfers {
		if t.to == to && t.tid == tid {
			return t
		}
	}
	return nil
}

func (a *administration) forget(to *Port, tid uint64) {
	for i, t := range a.transfers {
		if t.to == to && t.tid == tid {
			a.transfers = append(a.transfers[:i], a.transfers[i+1:]...)
			return
		}
	}
}
