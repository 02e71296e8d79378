package ibvpingpong

import (
	"fmt"
	"net/netip"
	"strings"

	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/cmd/internal/getopt"
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/verbs"
)

// An option is an option that some programs have. Programs differ in its letter and name:
// -c is --chk or --clients.
type option struct {
	in kinds
	getopt.Option
}

// kinds is a program set.
type kinds uint8

func of(all ...kind) (set kinds) {
	for _, k := range all {
		set |= 1 << k
	}
	return set
}

// table returns the program's options in its usage text order
// (libibverbs/examples/*_pingpong.c, function usage). Numbers are parsed
// by strtol's rules.
func (c *command) table() []getopt.Option {
	var (
		all       = of(rc, uc, ud, srq, xsrq)
		connected = of(rc, uc, srq, xsrq)
		ordinary  = of(rc, uc, ud, srq)
	)
	sl := "service level value"
	if c.kind == ud {
		sl = "send messages with service level <SL> (default 0)"
	}
	var options []getopt.Option
	for _, o := range []option{
		{all, getopt.Option{Long: "port", Short: 'p', Arg: "<port>", Help: "listen on/connect to port <port> (default 18515)", Set: within(&c.tcp, 0, 65535)}},
		{all, getopt.Option{Long: "ib-dev", Short: 'd', Arg: "<dev>", Help: "use IB device <dev> (default first device found)", Set: getopt.Text(&c.device), Complete: cmdutil.DeviceNames}},
		{all, getopt.Option{Long: "ib-port", Short: 'i', Arg: "<port>", Help: "use port <port> of IB device (default 1)", Set: within(&c.port, 1, 255), Complete: cmdutil.PortNumbers}},
		{all, getopt.Option{Long: "size", Short: 's', Arg: "<size>", Help: fmt.Sprintf("size of message to exchange (default %d)", c.size), Set: c.setSize}},
		{connected, getopt.Option{Long: "mtu", Short: 'm', Arg: "<size>", Help: fmt.Sprintf("path MTU (default %d)", c.mtu.Bytes()), Set: c.setMTU}},
		{of(srq), getopt.Option{Long: "num-qp", Short: 'q', Arg: "<num>", Help: "number of QPs to use (default 16)", Set: number(&c.queuePairs)}},
		{ordinary, getopt.Option{Long: "rx-depth", Short: 'r', Arg: "<dep>", Help: "number of receives to post at a time (default 500)", Set: number(&c.rxDepth)}},
		{of(rc, uc, ud), getopt.Option{Long: "iters", Short: 'n', Arg: "<iters>", Help: "number of exchanges (default 1000)", Set: number(&c.iterations)}},
		{of(srq), getopt.Option{Long: "iters", Short: 'n', Arg: "<iters>", Help: "number of exchanges per QP(default 1000)", Set: number(&c.iterations)}},
		{of(xsrq), getopt.Option{Long: "clients", Short: 'c', Arg: "<n>", Help: "number of clients (on server only, default 1)", Set: number(&c.clients)}},
		{of(xsrq), getopt.Option{Long: "num_tests", Short: 'n', Arg: "<n>", Help: "number of tests per client (default 5)", Set: number(&c.iterations)}},
		{all, getopt.Option{Long: "sl", Short: 'l', Arg: slArg(c.kind), Help: sl, Set: number(&c.sl)}},
		{all, c.flag("events", 'e', "sleep on CQ events (default poll)")},
		{of(xsrq), c.flag("odp", 'o', "use on demand paging")},
		{all, getopt.Option{Long: "gid-idx", Short: 'g', Arg: "<gid index>", Help: "local port gid index", Set: number(&c.gidIndex)}},
		{of(rc, srq), c.flag("odp", 'o', "use on demand paging")},
		{of(rc), c.flag("iodp", 'O', "use implicit on demand paging")},
		{of(rc), c.flag("prefetch", 'P', "prefetch an ODP MR")},
		{of(rc), c.flag("ts", 't', "get CQE with timestamp")},
		{ordinary, c.flag("chk", 'c', "validate received buffer")},
		{of(rc), c.flag("dm", 'j', "use device memory")},
		{of(rc), c.flag("new_send", 'N', "use new post send WR API")},
		{of(rc), c.flag("allow-cc-unprotected", 'U', "allow allocation of unprotected/shared\n                            memory on CoCo guests")},
	} {
		if o.in>>c.kind&1 != 0 {
			options = append(options, o.Option)
		}
	}
	return options
}

func slArg(k kind) string {
	if k == ud {
		return "<SL>"
	}
	return "<sl>"
}

// flag returns an option without a value.
func (c *command) flag(long string, short byte, help string) getopt.Option {
	return getopt.Option{Long: long, Short: short, Help: help, Set: func(string) error {
		c.options[short] = true
		return nil
	}}
}

// number returns a Set for a number.
func number(to *int) func(string) error {
	return func(value string) error {
		*to = int(int32(getopt.Strtol(value)))
		return nil
	}
}

// setSize sets the message size. ibv_srq_pingpong rejects 0.
func (c *command) setSize(value string) error {
	c.size = int(int32(getopt.Strtol(value)))
	if c.size == 0 && c.kind == srq {
		return getopt.ErrUsage
	}
	return nil
}

// within returns a Set for a number within bounds.
func within(to *int, low, high int) func(string) error {
	return func(value string) error {
		if *to = getopt.Strtol(value); *to < low || *to > high {
			return getopt.ErrUsage
		}
		return nil
	}
}

func (c *command) setMTU(value string) error {
	n := getopt.Strtol(value)
	for c.mtu = ib.MTU256; c.mtu <= ib.MTU4096; c.mtu++ {
		if c.mtu.Bytes() == n {
			return nil
		}
	}
	return getopt.ErrUsage
}

// usage returns the usage text.
func usage(t *getopt.Tool) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Usage:\n  %-*s start a server and wait for connection\n", len(t.Name)+11, t.Name)
	fmt.Fprintf(&b, "  %-*s connect to server at <host>\n\nOptions:\n", len(t.Name)+11, t.Name+" <host>")
	for _, o := range t.Options {
		if o.Extension || o.Unlisted {
			continue
		}
		name := fmt.Sprintf("-%c, --%s", o.Short, o.Long)
		switch {
		case o.Long == "gid-idx":
			fmt.Fprintf(&b, "  %s=%s %s\n", name, o.Arg, o.Help)
			continue
		case gaps[o.Short] != "" && (o.Short != 'c' || t.Name == "ibv_rc_pingpong"):
			fmt.Fprintf(&b, "  %s%s%s\n", name, gaps[o.Short], o.Help)
			continue
		}
		if o.Arg != "" {
			name += "=" + o.Arg
		}
		fmt.Fprintf(&b, "  %-22s %s\n", name, o.Help)
	}
	return b.String()
}

// gaps are the gaps before the descriptions that the programs do not align.
var gaps = map[byte]string{
	'o': "\t\t    ", 'O': "\t\t    ", 'P': "\t    ", 't': "\t            ", 'c': "\t            ", 'j': "\t            ",
	'N': "            ", 'U': "  ",
}

// statusTexts are ibv_wc_status_str's texts (libibverbs/verbs.c).
var statusTexts = [...]string{
	"success", "local length error", "local QP operation error", "local EE context operation error", "local protection error",
	"Work Request Flushed Error", "memory management operation error", "bad response error", "local access error",
	"remote invalid request error", "remote access error", "remote operation error", "transport retry counter exceeded",
	"RNR retry counter exceeded", "local RDD violation error", "remote invalid RD request", "aborted error",
	"invalid EE context number", "invalid EE context state", "fatal error", "response timeout error", "general error",
}

func statusText(s verbs.Status) string {
	if int(s) < len(statusTexts) {
		return statusTexts[s]
	}
	return "unknown"
}

// gidText formats a GID like inet_ntop.
func gidText(gid netip.Addr) string {
	if !gid.IsValid() {
		return "::"
	}
	return gid.String()
}
