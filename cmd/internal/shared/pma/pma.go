// Package pma sends the requests of the tools of infiniband-diags to agents, and prints
// the warnings of libibmad about them.
package pma

import (
	"context"
	"errors"
	"io"

	"github.com/ibkit/ibkit/cmd/internal/getopt"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/umad"
)

// A Caller sends requests one at a time.
type Caller struct {
	Diag   *getopt.Diag
	ErrOut io.Writer // warnings

	// Expect is the port whose counters are reset: it is checked before each reset.
	Expect umad.Identity

	// Call sends a request and returns the reply to it. The packet of the reply is
	// valid until the next Call.
	Call func(*umad.Request) umad.Reply
}

// New returns a Caller that waits for each reply, with a client for its requests.
func New(ctx context.Context, d *getopt.Diag, port umad.Port) (*Caller, *umad.Client) {
	client := umad.NewClient(port, ClientOptions(d))
	return &Caller{Diag: d, ErrOut: d.Env.ErrOut, Call: func(r *umad.Request) umad.Reply {
		reply, _ := client.Call(ctx, r) // the reply contains the error
		return reply
	}}, client
}

// ClientOptions are the options of a client without a trace, because a Caller prints the
// warnings of -e.
func ClientOptions(d *getopt.Diag) umad.ClientOptions {
	o := d.Client(d.Env)
	o.Trace = nil
	return o
}

// Warnf prints a warning in the form of IBWARN (infiniband/mad.h).
func (c *Caller) Warnf(function, format string, args ...any) {
	getopt.Ibwarn(c.ErrOut, function, format, args...)
}

func (c *Caller) debugf(function, format string, args ...any) {
	if c.Diag.Debug > 0 {
		c.Warnf(function, format, args...)
	}
}

// Get queries an attribute of performance management of a port. A target that redirects
// its requests is changed to the address of its agent, as libibmad does.
func (c *Caller) Get(to *umad.Target, port int, a mad.Attribute) error {
	c.debugf("pma_query_via", "lid %d port %d", to.LID, port)
	return c.exchange(to, mad.MethodGet, a, Selection{Port: port})
}

// A Selection is a port and some of its counters.
type Selection struct {
	Port     int    // only the lowest 8 bits are sent
	Counters uint64 // CounterSelect, with CounterSelect2 above its 16 bits
}

// Identify makes the port at a destination the one whose counters are reset. If that port does
// not reply, each port is accepted.
func (c *Caller) Identify(to umad.Target) {
	c.Expect = umad.Identity{}
	var info mad.NodeInfo
	if reply := c.Call(&umad.Request{To: umad.Target{LID: to.LID}, Value: &info}); reply.Err == nil {
		c.Expect = umad.IdentityOf(&info, 0)
	}
}

// Reset sets the selected counters of an attribute to 0. A mask of 0 selects all of them,
// as in libibmad.
func (c *Caller) Reset(to *umad.Target, id mad.AttrID, s Selection) error {
	c.debugf("performance_reset_via", "lid %d port %d mask 0x%x", to.LID, s.Port, uint32(s.Counters))
	if uint32(s.Counters) == 0 {
		s.Counters = ^uint64(0)
	}
	return c.ResetQuietly(to, id, s)
}

// ResetQuietly is [Caller.Reset] with a mask of 64 bits and without a line for -d.
func (c *Caller) ResetQuietly(to *umad.Target, id mad.AttrID, s Selection) error {
	if s.Counters == 0 {
		s.Counters = ^uint64(0)
	}
	return c.exchange(to, mad.MethodSet, mad.ClassPM.NewAttribute(id), s)
}

// exchange sends a with a selection and replaces it by the reply.
func (c *Caller) exchange(to *umad.Target, method mad.Method, a mad.Attribute, s Selection) error {
	mad.Visit(a, func(name string, width int, v uint64) uint64 {
		if n, ok := s.field(name, width); ok {
			return n
		}
		return v
	})
	for range maxRedirects {
		reply := c.Call(&umad.Request{To: *to, Method: method, Value: a, Expect: &c.Expect})
		if !c.redirected(to, reply) {
			return c.failure(*to, reply)
		}
	}
	return errRedirects
}

// maxRedirects is the maximum number of addresses of an agent. libibmad has no limit.
const maxRedirects = 8

var errRedirects = errors.New("too many redirections")

// redirected changes to if the reply has another address of the agent, as redirect_port
// of libibmad does.
func (c *Caller) redirected(to *umad.Target, reply umad.Reply) bool {
	var status mad.StatusError
	if !errors.As(reply.Err, &status) || mad.Status(status) != mad.StatusRedirect || reply.MAD == nil {
		return false
	}
	var info mad.ClassPortInfo
	if mad.Decode(&info, reply.Data()) != nil {
		return false
	}
	if info.RedirectLID == 0 {
		c.Warnf("redirect_port", "GID-based redirection is not supported")
		return false
	}
	if c.Expect.At == (umad.Target{}) {
		c.Expect.At = umad.Target{LID: to.LID} // the agent may be that of another node
	}
	to.LID = info.RedirectLID
	to.Redirect = &umad.Addr{LID: info.RedirectLID, QPN: info.RedirectQP, QKey: info.RedirectQKey, SL: info.RedirectSL}
	c.debugf("redirect_port", "redirected to lid %d, qp 0x%x, qkey 0x%x, sl 0x%x", info.RedirectLID, info.RedirectQP, info.RedirectQKey, info.RedirectSL)
	return true
}

// field returns the value of a field that is a part of the selection.
func (s Selection) field(name string, width int) (uint64, bool) {
	v := s.Counters
	switch name {
	case "PortSelect":
		v = uint64(s.Port)
	case "CounterSelect":
	case "CounterSelect2":
		v >>= 16
	default:
		return 0, false
	}
	return v & (1<<width - 1), true
}

// GetSMP queries an attribute of subnet management.
func (c *Caller) GetSMP(to umad.Target, modifier uint32, a mad.Attribute) error {
	c.debugf("smp_query_via", "attr 0x%x mod 0x%x route %v", uint16(a.Spec().ID), modifier, to)
	return c.failure(to, c.Call(&umad.Request{To: to, Value: a, Modifier: modifier}))
}

// PortID returns the destination of a request of performance management as portid2str of
// libibmad does, which takes LID 0 for a directed route.
func PortID(to umad.Target) string {
	if to.LID == 0 {
		return "DR path slid 0; dlid 0; 0"
	}
	return to.String()
}

// failure returns the error of a reply. It prints the warnings of mad_rpc.
func (c *Caller) failure(to umad.Target, reply umad.Reply) error {
	if reply.Err != nil && !errors.Is(reply.Err, errStopped) {
		c.Diag.WarnRPC(c.ErrOut, getopt.MadRPC, PortID(to), reply.Err)
	}
	return reply.Err
}
