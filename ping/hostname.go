package ping

import (
	"golang.org/x/sys/unix"
)

// HostName returns what an ibping server calls itself: the host's name and,
// behind a dot, its NIS domain, which is "(none)" on most (infiniband-diags,
// ibping.c; getdomainname(2)).
func HostName() string {
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
