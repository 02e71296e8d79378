package umad

import (
	"context"

	"github.com/ibkit/ibkit/mad"
)

// An Option sets what an attribute's type does not determine in a request.
type Option func(*Request)

// Modifier sets the attribute modifier, for example a port or a block.
func Modifier(m uint32) Option { return func(r *Request) { r.Modifier = m } }

// Key sets the SM_Key, the CC_Key or the vendor's key in a request.
func Key(k mad.Key) Option { return func(r *Request) { r.Key = k } }

// Match selects the records that have the values in the given attribute fields, by
// pointers to the fields. In a Set it selects the fields that are valid.
func Match(fields ...any) Option {
	return func(r *Request) { r.Mask = mad.Components(r.Value, fields...) }
}

// InClass sets the class for an attribute that several classes have: [mad.ClassPortInfo].
func InClass(c mad.Class) Option { return func(r *Request) { r.Class = c } }

// Expect sets the port that a Set is meant for; see [Request.Expect].
func Expect(id Identity) Option { return func(r *Request) { r.Expect = &id } }

// Get requests the attribute a from a target, and decodes the reply into it. The attribute
// class and number come from its [mad.Spec]. Values in a that the agent reads,
// such as the PortSelect in performance counters, are sent with the request. Get also
// runs all submitted requests; [Client.SubmitGet] is its form for many requests.
//
// An error is an [*Error]. It wraps [ErrTimeout], or a [mad.StatusError] if the agent has
// refused the request. The attribute is then unchanged.
func (c *Client) Get(ctx context.Context, to Target, a mad.Attribute, o ...Option) error {
	_, err := c.Call(ctx, newRequest(mad.MethodGet, to, a, o))
	return err
}

// Set changes an attribute at a target to a, and decodes the reply, which has the values that
// the agent uses, into it. It is like [Client.Get] otherwise. Each Set must have the option
// [Expect], except in subnet administration.
func (c *Client) Set(ctx context.Context, to Target, a mad.Attribute, o ...Option) error {
	_, err := c.Call(ctx, newRequest(mad.MethodSet, to, a, o))
	return err
}

// SubmitGet queues a Get, which [Client.Run] sends beside others. It calls done with the
// error, or after it decoded the reply into a, which must not be used until then.
func (c *Client) SubmitGet(to Target, a mad.Attribute, done func(error), o ...Option) {
	r := newRequest(mad.MethodGet, to, a, o)
	r.Done = func(_ *Request, reply *Reply) { done(reply.Err) }
	c.Submit(r)
}

func newRequest(m mad.Method, to Target, a mad.Attribute, options []Option) *Request {
	r := &Request{To: to, Method: m, Value: a}
	for _, set := range options {
		set(r)
	}
	return r
}
