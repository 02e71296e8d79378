package rdmacmutils

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strings"

	"github.com/ibkit/ibkit/cmd/internal/getopt"
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/rdmacm"
)

// A LookupError is the error of getaddrinfo.
type LookupError struct {
	Code int // EAI_NONAME and so on of <netdb.h>
	text string
}

func (e *LookupError) Error() string { return e.text }

// The errors of getaddrinfo with the texts of glibc.
var (
	errNoName  = &LookupError{-2, "Name or service not known"}
	errAgain   = &LookupError{-3, "Temporary failure in name resolution"}
	errService = &LookupError{-8, "Servname not supported for ai_socktype"}
)

// Lookup are the rules for addresses (rdma_getaddrinfo of librdmacm).
type Lookup struct {
	Numeric bool // the host is an address
	Native  bool // the address is a GID, used as a native InfiniBand address
	Space   rdmacm.PortSpace
}

// SetFormat sets the format of addresses: ip, gid or name.
func (l *Lookup) SetFormat(p *Program) func(string) error {
	return func(value string) error {
		switch value = strings.ToLower(value); {
		case strings.HasPrefix(value, "ip"):
			l.Numeric = true
		case strings.HasPrefix(value, "gid"):
			l.Numeric, l.Native = true, true
		case !strings.HasPrefix(value, "name"):
			fmt.Fprintln(p.Env.ErrOut, "Warning: unknown address format")
		}
		return nil
	}
}

// SetSpace sets the port space: other, if the value begins with its name, or the
// default.
func (l *Lookup) SetSpace(p *Program, byDefault, name string, other rdmacm.PortSpace) func(string) error {
	return func(value string) error {
		switch value = strings.ToLower(value); {
		case strings.HasPrefix(value, name):
			l.Space = other
		case !strings.HasPrefix(value, byDefault):
			fmt.Fprintln(p.Env.ErrOut, "Warning: unknown port space format")
		}
		return nil
	}
}

// Server returns the address to listen on. Without a host, it is that of all IPv4
// addresses.
func (l Lookup) Server(ctx context.Context, host, port string) (rdmacm.Addr, error) {
	if host == "" {
		host = "0.0.0.0"
	}
	return l.address(ctx, host, port)
}

// Client returns the address of the server and, unless from is empty, that of the
// client.
func (l Lookup) Client(ctx context.Context, from, host, port string) (local, peer rdmacm.Addr, err error) {
	if from != "" {
		if local, err = l.address(ctx, from, "0"); err != nil {
			return nil, nil, err
		}
	}
	peer, err = l.address(ctx, host, port)
	return local, peer, err
}

func (l Lookup) address(ctx context.Context, host, service string) (rdmacm.Addr, error) {
	port, err := LookupPort(ctx, service)
	if err != nil {
		return nil, err
	}
	ip, err := LookupHost(ctx, host, l.Numeric)
	if err != nil {
		return nil, err
	}
	if !l.Native {
		return rdmacm.IPAddr{AddrPort: netip.AddrPortFrom(ip, port)}, nil
	}
	// 0.0.0.0 stands for all addresses, the zero GID.
	a := rdmacm.IBAddr{PKey: defaultPKey, ServiceID: l.Space.ServiceID(port)}
	if !ip.IsUnspecified() {
		a.GID = ib.GIDFrom(ip)
	}
	if port == 0 {
		a.ServiceMask = ^uint64(0xffff)
	}
	return a, nil
}

// defaultPKey is the P_Key of the default partition, of full members.
const defaultPKey = 0xffff

// LookupPort returns the port of a service, a name or a number.
func LookupPort(ctx context.Context, service string) (uint16, error) {
	if strings.Trim(service, "0123456789") == "" {
		return uint16(getopt.Atoi(service)), nil
	}
	port, err := net.DefaultResolver.LookupPort(ctx, "ip", service)
	if err != nil {
		return 0, errService
	}
	return uint16(port), nil
}

// LookupHost returns the first address of a host.
func LookupHost(ctx context.Context, host string, numeric bool) (netip.Addr, error) {
	if ip, err := netip.ParseAddr(host); err == nil {
		return ip, nil
	}
	if numeric || host == "" {
		return netip.Addr{}, errNoName
	}
	all, err := net.DefaultResolver.LookupNetIP(ctx, "ip", host)
	if err != nil {
		if dns, ok := errors.AsType[*net.DNSError](err); ok && dns.IsNotFound {
			return netip.Addr{}, errNoName
		}
		return netip.Addr{}, errAgain
	}
	return all[0].Unmap(), nil
}

// LookupFailed prints an error of Lookup after a text, and returns the result of the
// program.
func (p *Program) LookupFailed(text string, err error) (result int) {
	p.Printf("%s%s: %v\n", p.Prefix, text, err)
	if e, ok := errors.AsType[*LookupError](err); ok {
		return e.Code
	}
	return errAgain.Code
}
