package rdmacmutils

import (
	"errors"
	"net/netip"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/internal/tool/cm/exchange"
	"github.com/ibkit/ibkit/rdmacm"
)

func TestLookup(t *testing.T) {
	ip := func(s string) rdmacm.Addr { return rdmacm.IPAddr{AddrPort: netip.MustParseAddrPort(s)} }
	native := Lookup{Native: true, Numeric: true, Space: rdmacm.PortSpaceIB}
	for _, c := range []struct {
		name         string
		lookup       Lookup
		server, port string
		want         rdmacm.Addr
		err          error
	}{
		{"all", Lookup{}, "", "7471", ip("0.0.0.0:7471"), nil},
		{"IPv4", Lookup{}, "10.0.0.1", "1", ip("10.0.0.1:1"), nil},
		{"IPv6", Lookup{}, "fe80::1%7", "65537", ip("[fe80::1%7]:1"), nil},
		{"service", Lookup{}, "10.0.0.1", "no such service", nil, errService},
		{"name", Lookup{Numeric: true}, "host", "1", nil, errNoName},
		{"GID", native, "fe80::1", "5", rdmacm.IBAddr{PKey: 0xffff, GID: ib.GID{0: 0xfe, 1: 0x80, 15: 1}, ServiceID: 0x13f0005}, nil},
		{"GID without port", native, "::", "", rdmacm.IBAddr{PKey: 0xffff, ServiceID: 0x13f0000, ServiceMask: 0xffffffffffff0000}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := c.lookup.Server(t.Context(), c.server, c.port)
			if got != c.want || !errors.Is(err, c.err) {
				t.Errorf("got %v, %v, want %v, %v", got, err, c.want, c.err)
			}
		})
	}
}

func TestProgram(t *testing.T) {
	var out, errOut strings.Builder
	p := &Program{Env: &cmdutil.Env{Out: &out, ErrOut: &errOut}, Prefix: "x: "}
	for _, c := range []struct {
		name        string
		err         error
		result      int
		out, errOut string
	}{
		{"none", nil, 0, "", ""},
		{"call", &exchange.Error{Op: "connect", Err: unix.ENODEV, Code: -1}, -1, "", "x: connect: No such device\n"},
		{"event", &exchange.Error{Op: "event", Code: 8}, 8, "x: event\n", ""},
		{"bare", &exchange.Error{Op: "failed to post", Code: 12, Bare: true}, 12, "failed to post\n", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			out.Reset()
			errOut.Reset()
			if got := p.Failed(c.err); got != c.result || out.String() != c.out || errOut.String() != c.errOut {
				t.Errorf("got %d, %q, %q, want %d, %q, %q", got, out.String(), errOut.String(), c.result, c.out, c.errOut)
			}
		})
	}
	if exit, ok := errors.AsType[*cmdutil.ExitError](Exit(-12)); !ok || exit.Code != 244 {
		t.Errorf("result -12: got %v, want exit code 244", exit)
	}
}
