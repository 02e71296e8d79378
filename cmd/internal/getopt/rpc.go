package getopt

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/umad"
)

// A PortID is a request destination, with the text that libibmad's portid2str has for it.
type PortID struct {
	umad.Target
	Text string
}

// PortID is [Diag.Destination] with the destination's text.
func (d *Diag) PortID(ctx context.Context, c *umad.Client, operand string) (PortID, error) {
	to, err := d.Destination(ctx, c, operand)
	id := PortID{to, to.String()}
	if d.Direct {
		id.Text = routeText(ib.PermissiveLID, operand)
	}
	return id, err
}

// CombinedPortID returns the destination at the end of a directed route that begins at
// a LID. operand is the LID, a blank and the route, and the C tool reads 63 bytes of the
// route. local is the local port's LID.
func (d *Diag) CombinedPortID(operand string, local ib.LID) (PortID, error) {
	operand = operand[:min(len(operand), 63)]
	first, route, _ := strings.Cut(operand, " ")
	lid := int(int32(Strtol(first)))
	to, err := ParseRoute(route)
	if err == nil && !isUnicastLID(lid) {
		err = errors.New("not a LID from 1 to 0xbfff")
	}
	if err != nil {
		return PortID{}, d.Iberror("main", err, "can't resolve destination port %s", operand)
	}
	id := PortID{umad.Target{LID: ib.LID(lid), Route: to}, fmt.Sprintf("Lid %d", lid)}
	if to.Hops() > 0 {
		id.Text += " " + routeText(cmp.Or(local, ib.PermissiveLID), route)
	}
	return id, nil
}

// routeText returns a directed route's text with its first element as given.
func routeText(slid ib.LID, route string) string {
	b := fmt.Appendf(nil, "DR path slid %d; dlid %d; ", slid, ib.PermissiveLID)
	for i, element := range strings.Split(strings.TrimSuffix(route, ","), ",") {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendUint(b, uint64(uint8(Atoi(element))), 10)
	}
	return string(b)
}

// Ibwarn prints a warning in the form of libibmad's IBWARN.
func Ibwarn(w io.Writer, function, format string, args ...any) {
	fmt.Fprintf(w, "ibwarn: [%d] %s: %s\n", os.Getpid(), function, fmt.Sprintf(format, args...))
}

// Ibwarn prints a warning on standard error.
func (d *Diag) Ibwarn(function, format string, args ...any) {
	Ibwarn(d.Env.ErrOut, function, format, args...)
}

// NewClient returns a client for [Diag.Call], which prints errors in place of the
// client. Requests are printed with -d.
func (d *Diag) NewClient(port umad.Port) *umad.Client {
	o := d.Client(d.Env)
	o.Trace = nil
	if d.Debug > 0 {
		o.Trace = func(e umad.Event) { fmt.Fprintln(d.Env.ErrOut, e) }
	}
	return umad.NewClient(port, o)
}

// libibmad functions that send a request and wait for the reply (rpc.c).
const (
	MadRPC     = "mad_rpc"
	MadRPCRMPP = "mad_rpc_rmpp"
)

// Call sends a request, and prints a libibmad function's warnings if it fails.
func (d *Diag) Call(ctx context.Context, c *umad.Client, function string, to PortID, r *umad.Request) (umad.Reply, error) {
	r.To = to.Target
	reply, err := c.Call(ctx, r)
	if err != nil {
		d.WarnRPC(d.Env.ErrOut, function, to.Text, err)
	}
	return reply, err
}

// Identify reads which port is at a destination before the port is changed, so that the
// change is sent to no other port. The result accepts each port if that port does not
// reply, and has the GUID that the operand names, if it is a GUID.
func (d *Diag) Identify(ctx context.Context, c *umad.Client, to umad.Target, operand string) *umad.Identity {
	id, _ := c.Identify(ctx, to, 0) // without a reply, each port is accepted
	if d.ByGUID {
		id.PortGUID = ib.GUID(Strtoull(operand))
	}
	return &id
}

// WarnRPC prints a libibmad function's warnings about a failed request: -e and -d show
// retries and statuses. to is the destination's text.
func (d *Diag) WarnRPC(w io.Writer, function, to string, err error) {
	var failed *umad.Error
	var status mad.StatusError
	switch {
	case errors.As(err, &status):
		if d.Errors {
			Ibwarn(w, function, "MAD completed with error status 0x%x; dport (%s)", uint16(status), to)
		}
	case errors.As(err, &failed) && (errors.Is(err, umad.ErrTimeout) || errors.Is(err, umad.ErrNoDestination)):
		// The C tools send requests to LID 0, which have no reply.
		if d.Errors {
			d.warnRetries(w, failed.Attempts)
		}
		Ibwarn(w, function, "_do_madrpc failed; dport (%s)", to)
	default:
		fmt.Fprintf(w, "%s: %v\n", d.tool, err)
	}
}

func (d *Diag) warnRetries(w io.Writer, attempts int) {
	timeout := cmp.Or(d.Timeout, time.Second)
	const function = "_do_madrpc"
	for i := 1; i < attempts; i++ {
		Ibwarn(w, function, "retry %d (timeout %d ms)", i, timeout.Milliseconds())
	}
	Ibwarn(w, function, "timeout after %d retries, %d ms", attempts, int64(attempts)*timeout.Milliseconds())
}
