package ping

import (
	"golang.org/x/sys/unix"
)

// hostName returns the name that an ibping server sends: the host's name, a dot
// and its NIS domain, which is "(none)" on most hosts (infiniband-diags, ibping.c;
// getdomainname(2)).
func hostName() string {
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
