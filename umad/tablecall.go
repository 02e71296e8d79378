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

// ErrNoSM is returned by requests to subnet administration if the local port has no
// subnet manager.
var ErrNoSM = errors.New("the local port knows of no subnet manager")

// administrator returns the place of subnet administration, unless to specifies it.
func (c *Client) administrator(to Target) (Target, error) {
	if to.LID == 0 {
		to = Target{LID: c.attr.SMLID, SL: c.attr.SMSL}
	}
	if to.LID == 0 {
		return Target{}, ErrNoSM
	}
	return to, nil
}

// GetTable requests records from subnet administration and returns all of them. It
// first runs the requests that were submitted before. A table without records is not
// an error.
//
// The error of a failed request is an [*Error]. It wraps an [*RMPPError] if the
// transfer of the reply was not completed.
func (c *Client) GetTable(ctx context.Context, q *TableRequest) (*Table, error) {
	to, err := c.administrator(q.To)
	if err != nil {
		return nil, err
	}
	payload, err := mad.SAPayload(mad.SAHeader{SMKey: q.SMKey, ComponentMask: q.Mask}, q.Match)
	if err != nil {
		return nil, err
	}
	if err := c.Run(ctx); err != nil {
		return nil, err
	}
	c.running = true
	defer func() { c.running = false }()
	defer context.AfterFunc(ctx, c.port.Interrupt)()

	r := &Request{
		To: to, Class: mad.ClassSA, Method: mad.MethodGetTable,
		Attr: q.Match.ID(), Modifier: q.Modifier, Payload: payload,
	}
	c.submissions++
	r.flight.id = c.submissions
	t := tableCall{
		Client:   c,
		request:  r,
		kind:     q.Match,
		end:      c.clock() + cmp.Or(q.Timeout, defaultTableTimeout),
		receiver: NewRMPPReceiver(cmp.Or(q.Limit, defaultTableLimit)),
	}
	err = t.run(ctx)
	defer func() { r.flight = flight{} }()
	if err != nil {
		t.settle(r.flight.tid, inflight.Expired)
		return nil, r.fail(err)
	}
	t.settle(r.flight.tid, inflight.Answered)
	return t.result, nil
}

// A tableCall is a GetTable in progress.
type tableCall struct {
	*Client
	request  *Request
	kind     mad.Attribute
	end      time.Duration // deadline
	retry    time.Duration // when the request is sent again, unless a reply has begun
	receiver *RMPPReceiver
	tid      uint32 // of the transfer; 0: no reply has begun
	result   *Table
}

// run sends and receives until the table is complete.
func (t *tableCall) run(ctx context.Context) error {
	var answer Message
	for t.result == nil {
		if err := ctx.Err(); err != nil {
			t.abandon(&answer)
			return err
		}
		now := t.clock()
		wake := t.retry
		switch {
		case now >= t.end:
			t.abandon(&answer)
			return ErrTimeout
		case t.tid != 0:
			if t.receiver.Wake(now, &answer.MAD) {
				t.respond(&answer)
			}
			if err := t.receiver.Err(); err != nil {
				return err
			}
			wake = t.receiver.Deadline()
		case now >= t.retry:
			if err := t.sendRequest(now); err != nil {
				return err
			}
			wake = t.retry
		}
		err := t.port.Recv(&t.in[0], t.epoch.Add(min(wake, t.end)))
		switch {
		case err == nil:
			if err := t.receive(&answer); err != nil {
				return err
			}
		case !errors.Is(err, os.ErrDeadlineExceeded):
			return err
		}
	}
	return nil
}

// sendRequest sends the request. Each attempt waits twice as long as the one before:
// where the kernel reassembles the reply, the timeout is one for all of it.
func (t *tableCall) sendRequest(now time.Duration) error {
	r := t.request
	if int(r.flight.attempt) >= t.opts.Attempts {
		return ErrTimeout
	}
	wait := min(t.opts.Timeout<<r.flight.attempt, t.end-now)
	before := r.flight.tid
	e := t.claim(r, now)
	out := &t.out[0]
	err := t.build(r, e.TID, out)
	if err == nil {
		out.Timeout = wait
		err = t.port.Send(out)
	}
	if err != nil {
		t.unclaim(e)
		r.flight.tid = before
		if errors.Is(err, ErrWouldBlock) {
			t.retry = now + sendPause
			return nil
		}
		return err
	}
	t.retry = now + wait + slack
	t.launched(e, out)
	t.settle(before, inflight.Expired)
	return nil
}

// settle ends the attempt with a transaction ID, if it waits.
func (t *tableCall) settle(tid uint32, as inflight.State) {
	e := t.sent.Find(tid)
	switch {
	case e == nil || e.State != inflight.Waiting:
	case as == inflight.Answered:
		t.sent.Answer(e)
	default:
		t.sent.Expire(e)
	}
}

// receive processes the message that was received. It returns an error that ends
// the call.
func (t *tableCall) receive(answer *Message) error {
	in, now := &t.in[0], t.clock()
	m := &in.MAD
	tid := uint32(m.TID())
	e := t.sent.Find(tid)
	if e == nil || e.Data.request != t.request {
		t.Client.receive(in, now)
		return nil
	}
	switch {
	case m.Class() != mad.ClassSA, m.Attr() != t.request.Attr,
		(in.Status != 0) == m.Method().IsResponse(), t.tid != 0 && t.tid != tid:
		t.stray(m)
		return nil
	case in.Status != 0:
		if tid == t.request.flight.tid {
			t.stats.Timeouts++
			t.retry = now
		}
		return nil
	}
	t.stats.Received++
	err := m.Status().Err()
	if t.opts.Trace != nil {
		t.opts.Trace(e.Data.event(EventReceived, tid, m, 0, err))
	}
	if err != nil {
		return err
	}
	h := m.RMPP()
	if t.attr.RMPP || !h.Flags.Has(mad.RMPPActive) || h.Version == 0 && h.Type == mad.RMPPNone {
		return t.whole(h)
	}
	t.tid = tid
	if t.receiver.Receive(m, now, &answer.MAD) {
		t.respond(answer)
	}
	if err := t.receiver.Err(); err != nil {
		return err
	}
	if !t.receiver.Done() {
		return nil
	}
	t.result, err = tableOf(t.kind, m.SA(), t.receiver.Data())
	return err
}

// whole processes a reply in one message: one that the kernel has reassembled, or a
// packet without RMPP.
func (t *tableCall) whole(h mad.RMPP) (err error) {
	in := &t.in[0]
	// The next message overwrites the buffer, so the data are copied.
	data := slices.Concat(in.MAD.Data(), in.Rest)
	reassembled := t.attr.RMPP && h.Flags.Has(mad.RMPPActive)
	if len(in.Rest) == 0 && (reassembled || h.Length > 0) {
		// The segment contains its own length.
		header, size := classHeader(&in.MAD)
		data = data[:min(max(int(min(h.Length, mad.RMPPPayloadSize))-header, 0), size)]
	}
	if t.result, err = tableOf(t.kind, in.MAD.SA(), data); err != nil {
		return err
	}
	full := h.Length == 0 || h.Length >= mad.RMPPPayloadSize
	t.result.Clipped = !reassembled && full && t.result.stride > 0
	return nil
}

// respond sends a packet of the receiver. If the port has no room, the packet is lost
// like on the network, and the receiver sends it again.
func (t *tableCall) respond(answer *Message) {
	to := t.request.To
	answer.Addr = Addr{LID: to.LID, QPN: 1, QKey: QP1QKey, SL: to.SL}
	_ = t.port.Send(answer)
}

// abandon ends the transfer at the sender.
func (t *tableCall) abandon(answer *Message) {
	if t.receiver.Abandon(&answer.MAD) {
		t.respond(answer)
	}
}
