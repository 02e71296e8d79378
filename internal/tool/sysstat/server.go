package sysstat

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"slices"
	"time"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/umad"
)

// server is a Serve's state.
type server struct {
	Options
	port  umad.Responder
	start time.Time

	in        umad.Message
	transfers []*transfer // the oldest first

	cpuText string
	cpuRead time.Time
}

// A transfer is a reply in progress with several segments, on a transport without RMPP.
type transfer struct {
	to     umad.Addr
	grh    umad.GRH // target of to.GRH
	tid    uint64
	sender *umad.RMPPSender
}

// maxTransfers limits the transfers in progress. The oldest transfers are discarded, in
// case their receivers do not acknowledge segments.
const maxTransfers = 64

// run answers queries until ctx ends or the port breaks.
func (s *server) run(ctx context.Context) error {
	defer context.AfterFunc(ctx, s.port.Interrupt)()
	for ctx.Err() == nil {
		err := s.port.Recv(&s.in, s.deadline())
		if err == nil {
			err = s.receive()
		}
		if err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
			err = s.wake()
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// receive processes the message that was received. It returns an error if the port broke.
func (s *server) receive() error {
	m := &s.in.MAD
	h := m.RMPP()
	reason := s.rejectReason()
	switch {
	case reason != "":
		s.log("ignored", &s.in.Addr, m, reason)
		return nil
	case h.Flags.Has(mad.RMPPActive):
		return s.acknowledged()
	}
	s.log("received", &s.in.Addr, m, "")
	text, status := s.answer(m.Attr())
	out := umad.Message{Addr: s.in.Addr, MAD: *m}
	if out.Addr.QPN == 1 && out.Addr.QKey == 0 {
		out.Addr.QKey = umad.QP1QKey // the kernel does not report it
	}
	out.MAD.SetMethod(mad.MethodGetResp)
	out.MAD.SetStatus(status)
	out.MAD.SetRMPP(mad.RMPP{})
	clear(out.MAD.Data())
	data := append([]byte(text), 0)
	switch {
	case status != 0 || len(data) <= mad.VendorDataSize:
		copy(out.MAD.Data(), text)
	case s.port.Attr().RMPP:
		out.MAD.SetRMPP(mad.RMPP{Version: mad.RMPPVersion, Type: mad.RMPPData, RespTime: mad.NoRespTime, Flags: mad.RMPPActive})
		out.Rest = data[copy(out.MAD.Data(), data):]
	default:
		return s.transmit(&out, data)
	}
	return s.send(&out)
}

// rejectReason returns why the received message is not a query or an acknowledgement, or
// "".
func (s *server) rejectReason() string {
	switch h := s.in.MAD.Header(); {
	case s.in.Status != 0:
		return "returned without a reply"
	case h.Class != mad.ClassSysstat:
		return "another class"
	case h.BaseVersion != 1 || h.ClassVersion != mad.ClassSysstat.Version():
		return "another version"
	case h.Method != mad.MethodGet:
		return "another method"
	case s.in.MAD.OUI() != s.OUI:
		return "another OUI"
	}
	return ""
}

// send sends a message. A message for which the port has no room is lost as on the network.
// The error is from a broken port.
func (s *server) send(m *umad.Message) error {
	err := s.port.Send(m)
	switch {
	case errors.Is(err, umad.ErrDeviceRemoved):
		return err
	case err != nil:
		s.log("not sent", &m.Addr, &m.MAD, err.Error())
	default:
		s.log("sent", &m.Addr, &m.MAD, "")
	}
	return nil
}

// transmit sends a reply's first segment, unless the reply is on its way: a client that
// waited too long repeats its query with the same transaction ID, and acknowledges a single
// reply.
func (s *server) transmit(head *umad.Message, data []byte) error {
	if s.find(head.MAD.TID(), head.Addr.LID) != nil {
		s.log("ignored", &head.Addr, &head.MAD, "repeated during the reply")
		return nil
	}
	if len(s.transfers) == maxTransfers {
		s.transfers = slices.Delete(s.transfers, 0, 1)
	}
	t := &transfer{to: head.Addr, tid: head.MAD.TID(), sender: umad.NewRMPPSender(&head.MAD, data)}
	if t.to.GRH != nil {
		t.grh = *t.to.GRH
		t.to.GRH = &t.grh
	}
	s.transfers = append(s.transfers, t)
	return s.sendSegments(t)
}

// find returns the transfer to a client, or nil.
func (s *server) find(tid uint64, lid ib.LID) *transfer {
	i := slices.IndexFunc(s.transfers, func(t *transfer) bool { return t.tid == tid && t.to.LID == lid })
	if i < 0 {
		return nil
	}
	return s.transfers[i]
}

// acknowledged processes a packet from a transfer's receiver.
func (s *server) acknowledged() error {
	t := s.find(s.in.MAD.TID(), s.in.Addr.LID)
	if t == nil {
		s.log("ignored", &s.in.Addr, &s.in.MAD, "acknowledges no transfer")
		return nil
	}
	var answer umad.Message
	if t.sender.Receive(&s.in.MAD, s.elapsed(), &answer.MAD) {
		answer.Addr = t.to
		if err := s.send(&answer); err != nil {
			return err
		}
	}
	return s.sendSegments(t)
}

// sendSegments sends the segments that the receiver has room for, and removes a transfer
// that has ended.
func (s *server) sendSegments(t *transfer) error {
	out := umad.Message{Addr: t.to}
	for t.sender.Next(s.elapsed(), &out.MAD) {
		if err := s.send(&out); err != nil {
			return err
		}
	}
	if t.sender.Done() || t.sender.Err() != nil {
		s.transfers = slices.DeleteFunc(s.transfers, func(other *transfer) bool { return other == t })
	}
	return nil
}

// wake repeats segments with an overdue acknowledgement.
func (s *server) wake() error {
	for _, t := range slices.Clone(s.transfers) {
		var answer umad.Message
		if t.sender.Wake(s.elapsed(), &answer.MAD) {
			answer.Addr = t.to
			if err := s.send(&answer); err != nil {
				return err
			}
		}
		if err := s.sendSegments(t); err != nil {
			return err
		}
	}
	return nil
}

// deadline returns the next wake's time, or zero if no transfer is in progress.
func (s *server) deadline() time.Time {
	var next time.Time
	for _, t := range s.transfers {
		if d := s.start.Add(t.sender.Deadline()); next.IsZero() || d.Before(next) {
			next = d
		}
	}
	return next
}

// elapsed returns the time for transfer timeouts.
func (s *server) elapsed() time.Duration { return time.Since(s.start) }

// log logs a packet.
func (s *server) log(outcome string, from *umad.Addr, m *mad.Packet, reason string) {
	if !s.Log.Enabled(context.Background(), slog.LevelDebug) {
		return
	}
	attrs := []slog.Attr{
		slog.Int("lid", int(from.LID)), slog.String("attribute", m.Class().AttrName(m.Attr())),
	}
	if reason != "" {
		attrs = append(attrs, slog.String("reason", reason))
	}
	s.Log.LogAttrs(context.Background(), slog.LevelDebug, outcome, attrs...)
}
