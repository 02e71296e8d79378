// Package hostname returns this host's name as infiniband-diags servers send it.
package hostname

import (
	"golang.org/x/sys/unix"
)

// WithDomain returns the host name, a dot and the NIS domain, which is "(none)" on most
// hosts (infiniband-diags, ibping.c and ibsysstat.c; getdomainname(2)).
func WithDomain() string {
	var u unix.Utsname
	if err := unix.Uname(&u); err != nil {
		return "?hostname?"
	}
	name := unix.ByteSliceToString(u.Nodename[:])
	if domain := unix.ByteSliceToString(u.Domainname[:]); domain != "" {
		name += "." + domain
	}
	return name
}
