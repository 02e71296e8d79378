// Package perfhint finds remedies for errors of measurements.
package perfhint

import (
	"errors"
	"fmt"
	"net"
	"strings"
	"syscall"

	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/internal/tool/perf"
	"github.com/ibkit/ibkit/internal/tool/perf/perftest"
	"github.com/ibkit/ibkit/rdmacm"
	"github.com/ibkit/ibkit/verbs"
)

// Options are the names of the options that hints mention.
type Options struct {
	CPUOff string // measures with the kernel's clock
	Depths string // reduce the size of queues
	Inline string // puts data into work requests
	Time   string // lengthens a test
	Rate   string // limits the rate without the device
	SRD    string // selects the transport of EFA
}

// Native are the options of ibkit perf.
var Native = Options{CPUOff: "--cpu off", Depths: "--tx-depth, --rx-depth or --qps", Inline: "--inline", Time: "--duration", Rate: "--rate-limit", SRD: "--transport srd"}

// Classic are the options of perftest's programs.
var Classic = Options{CPUOff: "taskset", Depths: "-t, -r or -q", Inline: "-I", Time: "-D", Rate: "--rate_limit_type SW", SRD: "-c SRD"}

// With returns an error with the hint for it, if there is one.
func With(err error, o Options) error {
	if err == nil {
		return nil
	}
	if hint := o.hint(err); hint != "" {
		return cmdutil.WithHint(err, hint)
	}
	return err
}

func (o Options) hint(err error) string {
	var foreign *perf.ForeignPeerError
	var mismatch *perftest.MismatchError
	var unreachable *perf.ConnectError
	switch {
	case errors.Is(err, perf.ErrNoDevice):
		return "ibkit devinfo lists the devices of this host; ibkit link add rxe0 --type rxe --netdev NAME creates a software device"
	case errors.Is(err, perf.ErrGIDIndex):
		return "ibkit devinfo lists the GIDs of each port"
	case errors.Is(err, perf.ErrClock):
		return o.CPUOff + " measures with the kernel's clock"
	case errors.Is(err, perf.ErrQueueLimit):
		return "reduce " + o.Depths
	case errors.Is(err, perf.ErrInlineLimit):
		return "reduce the message size or omit " + o.Inline
	case errors.Is(err, perf.ErrTransport) || reports(err, perf.ErrTransport):
		return "EFA has SRD and UD only (" + o.SRD + "), other adapters have no SRD; queue pairs on iWARP are RC only"
	case errors.Is(err, verbs.ErrOpcode) || reports(err, verbs.ErrOpcode):
		return "EFA of older instance types has no writes, or no reads either: measure sends"
	case errors.Is(err, perf.ErrRate):
		return o.Rate + " limits the rate of any device"
	case errors.Is(err, perf.ErrNoFigures):
		return "check the link; if it is up, increase " + o.Time
	case errors.As(err, &foreign) && foreign.Program != "":
		return fmt.Sprintf("for a peer of %s use --peer %s", foreign.Program, foreign.Program)
	case errors.As(err, &foreign):
		return "check which program uses this port"
	case errors.As(err, &mismatch):
		gid := ""
		if mismatch.GID {
			gid = ", and on EFA with -x 0"
		}
		return fmt.Sprintf("the peer must be %s with the same size, iterations, duration, directions, queue pairs and connection type%s; see its output", mismatch.Program, gid)
	case errors.As(err, &unreachable):
		return connectHint(unreachable)
	case errors.Is(err, perf.ErrSelection):
		return "the address of the server selects device, port and GID; omit the option, or use another address"
	case errors.Is(err, perf.ErrScope):
		return "use a group of another scope, such as 239.1.2.3 or ff05::1"
	}
	if step, ok := errors.AsType[*rdmacm.StepError](err); ok {
		return managerHint(step)
	}
	if hint := memoryHint(err); hint != "" {
		return hint
	}
	return verbsHint(err)
}

// managerHint returns the hint for a failed step of the connection manager.
func managerHint(step *rdmacm.StepError) string {
	if r, ok := errors.AsType[*rdmacm.RejectError](step); ok && r.Reason == rdmacm.RejectInvalidServiceID {
		return "start the server first, with connections of the connection manager too, at the same port"
	}
	return "ibkit cm HOST tests each step of a connection; HOST must be the address of an RDMA device"
}

func connectHint(err *perf.ConnectError) string {
	switch {
	case errors.As(err.Err, new(*net.DNSError)):
		return "use the IP address of the server if its name cannot be resolved"
	case err.Program != "" && isIPv6(err.Err):
		return fmt.Sprintf("programs of perftest listen on IPv4 only: use an IPv4 address, or start %s --ipv6-addr (of a newer release) on the server", err.Program)
	case err.Program != "":
		return fmt.Sprintf("start %s on the server first; it listens on TCP port %d, or the port of its option -p, for a single client", err.Program, perftest.Port)
	case errors.Is(err.Err, syscall.ECONNREFUSED):
		return "start the server first: ibkit perf --serve"
	}
	return fmt.Sprintf("check the address, and that ibkit perf --serve runs there; then that no firewall blocks TCP port %d or UDP port 4791 (RoCE v2)", perf.Port)
}

// isIPv6 reports whether a connection to an IPv6 address failed.
func isIPv6(err error) bool {
	var failed *net.OpError
	if !errors.As(err, &failed) {
		return false
	}
	to, ok := failed.Addr.(*net.TCPAddr)
	return ok && to.IP.To4() == nil
}

// reports reports whether the peer has sent a text with an error.
func reports(err, target error) bool {
	peer, ok := errors.AsType[*perf.PeerError](err)
	return ok && strings.Contains(peer.Text, target.Error())
}
