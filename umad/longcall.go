package umad

import (
	"cmp"
	"context"
	"errors"
	"os"
	"slices"
	"time"

	"github.com/ibkit/ibkit/internal/inflight"
	"github.com/ibkit/ibkit/mad"
)

// LongOptions limit a reply in several packets.
type LongOptions struct {
	// Timeout is the time limit for the whole reply (default 30 s).
	Timeout time.Duration

	// Limit is the maximum data size in bytes (default 256 MiB). A longer
	// reply is an error.
	Limit int
}

const (
	defaultLongTimeout = 30 * time.Second
	defaultLongLimit   = 256 << 20
)

// A LongReply is a reply with the data from all its packets.
type LongReply struct {
	// Head is any of the packets, for the headers.
	Head mad.Packet

	// Data are the data from all packets, without the class headers.
	Data []byte

	// Clipped reports that the reply is a single packet, because the transport or
	// the responder has no RMPP. There may be further data.
	Clipped bool
}

// CallLong sends a request in a class with RMPP, and returns the reply with the data from
// all its segments. It first runs the requests that were submitted before. It does not
// call r.Done.
//
// A failed request's error is an [*Error]. Its text has the reason if the reply's
// transfer was not completed.
func (c *Client) CallLong(ctx context.Context, r *Request, o LongOptions) (*LongReply, error) {
	if err := c.use.enter(); err != nil {
		return nil, err
	}
	defer c.use.leave()
	if err := c.run(ctx); err != nil {
		return nil, err
	}
	defer context.AfterFunc(ctx, c.port.Interrupt)()

	c.submissions++
	r.flight.id = c.submissions
	l := longCall{
		Client:   c,
		request:  r,
		end:      c.clock() + cmp.Or(o.Timeout, defaultLongTimeout),
		receiver: newRMPPReceiver(cmp.Or(o.Limit, defaultLongLimit)),
	}
	err := l.run(ctx)
	defer func() { r.flight = flight{} }()
	if err != nil {
		if errors.Is(err, ErrTimeout) && l.tid == 0 {
			l.expire(r.flight.tid)
		}
		l.settle(r.flight.tid, inflight.Expired)
		return nil, r.fail(err)
	}
	l.settle(r.flight.tid, inflight.Answered)
	return l.reply, nil
}

// A longCall is a CallLong in progress.
type longCall struct {
	*Client
	request  *Request
	end      time.Duration // deadline
	retry    time.Duration // when the request is sent again, unless a reply has begun
	receiver *rmppReceiver
	tid      uint32 // transfer's transaction ID; 0: no reply has begun
	reply    *LongReply
}

// run sends and receives until the reply is complete.
func (l *longCall) run(ctx context.Context) error {
	var answer Message
	for l.reply == nil {
		if err := ctx.Err(); err != nil {
			l.abandon(&answer)
			return err
		}
		now := l.clock()
		wake := l.retry
		switch {
		case now >= l.end:
			l.abandon(&answer)
			return ErrTimeout
		case l.tid != 0:
			if l.receiver.Wake(now, &answer.MAD) {
				l.respond(&answer)
			}
			if err := l.receiver.Err(); err != nil {
				return err
			}
			wake = l.receiver.Deadline()
		case now >= l.retry:
			if err := l.sendRequest(now); err != nil {
				return err
			}
			wake = l.retry
		}
		err := l.port.Recv(&l.in[0], l.epoch.Add(min(wake, l.end)))
		switch {
		case err == nil:
			if err := l.receive(&answer); err != nil {
				return err
			}
		case !errors.Is(err, os.ErrDeadlineExceeded):
			return err
		}
	}
	return nil
}

// sendRequest sends the request. Each attempt waits twice as long as the attempt before:
// where the kernel reassembles the reply, a single timeout applies to the whole reply.
func (l *longCall) sendRequest(now time.Duration) error {
	r := l.request
	if int(r.flight.attempt) >= l.opts.Attempts {
		return ErrTimeout
	}
	wait := min(l.opts.Timeout<<r.flight.attempt, l.end-now)
	before := r.flight.tid
	e := l.claim(r, now)
	out := &l.out[0]
	err := l.build(r, e.TID, out)
	if err == nil {
		out.Timeout = wait
		err = l.port.Send(out)
	}
	if err != nil {
		l.unclaim(e)
		r.flight.tid = before
		if errors.Is(err, ErrWouldBlock) {
			l.retry = now + sendPause
			return nil
		}
		return err
	}
	l.retry = now + wait + slack
	l.launched(e, out)
	l.expire(before)
	return nil
}

// expire ends the attempt with a transaction ID as an attempt without a
// reply, if it waits.
func (l *longCall) expire(tid uint32) {
	if e := l.sent.Find(tid); e != nil && e.State == inflight.Waiting {
		l.countLost(e)
	}
}

// settle ends the attempt with a transaction ID, if it waits.
func (l *longCall) settle(tid uint32, as inflight.State) {
	e := l.sent.Find(tid)
	switch {
	case e == nil || e.State != inflight.Waiting:
	case as == inflight.Answered:
		l.sent.Answer(e)
	default:
		l.sent.Expire(e)
	}
}

// receive processes the message that was received. It returns an error that ends
// the call.
func (l *longCall) receive(answer *Message) error {
	in, now := &l.in[0], l.clock()
	m := &in.MAD
	tid := uint32(m.TID())
	e := l.sent.Find(tid)
	if e == nil || e.Data.request != l.request {
		l.Client.receive(in, now)
		return nil
	}
	switch {
	case m.Class() != l.request.class(), m.Attr() != l.request.attr(),
		(in.Status != 0) == m.Method().IsResponse(), l.tid != 0 && l.tid != tid:
		l.stray(in)
		return nil
	case in.Status != 0:
		if tid == l.request.flight.tid {
			l.expire(tid)
			l.retry = now
		}
		return nil
	}
	l.stats.Received++
	err := m.Status().Err()
	if l.opts.Trace != nil {
		l.opts.Trace(e.Data.event(EventReceived, tid, m, 0, err))
	}
	if err != nil {
		return err
	}
	h := m.RMPP()
	if l.attr.RMPP || !h.Flags.Has(mad.RMPPActive) || h.Type == mad.RMPPNone {
		// A large fabric's table has megabytes, and room for the first segment.
		l.reply = whole(m, slices.Insert(in.Rest, 0, m.Data()...), l.attr.RMPP)
		in.Rest = nil
		return nil
	}
	l.tid = tid
	if l.receiver.Receive(m, now, &answer.MAD) {
		l.respond(answer)
	}
	if err := l.receiver.Err(); err != nil {
		return err
	}
	if l.receiver.Done() {
		l.reply = &LongReply{Head: *m, Data: l.receiver.Data()}
	}
	return nil
}

// whole returns the reply in a single message, with the data from all segments: a message
// that the transport has reassembled, or a packet without RMPP, as opensm and ibsysstat
// send it through libumad2sim.
func whole(m *mad.Packet, data []byte, reassembles bool) *LongReply {
	h := m.RMPP()
	reassembled := reassembles && h.Flags.Has(mad.RMPPActive)
	if len(data) == len(m.Data()) && (reassembled || h.Length > 0) {
		// The segment contains its own length.
		header, size := classHeader(m)
		data = data[:min(max(int(min(h.Length, mad.RMPPPayloadSize))-header, 0), size)]
	}
	full := h.Length == 0 || h.Length >= mad.RMPPPayloadSize
	return &LongReply{Head: *m, Data: data, Clipped: !reassembled && full}
}

// respond sends the receiver's packet. If the port has no room, the packet is lost like
// on the network, and the receiver sends it again.
func (l *longCall) respond(answer *Message) {
	answer.Addr = l.addr(l.request.To)
	_ = l.port.Send(answer)
}

// abandon ends the transfer at the sender.
func (l *longCall) abandon(answer *Message) {
	if l.receiver.Abandon(&answer.MAD) {
		l.respond(answer)
	}
}
