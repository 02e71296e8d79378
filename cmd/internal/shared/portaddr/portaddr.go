// Package portaddr prints the address of a port in the form of ibaddr.
package portaddr

import (
	"fmt"
	"net/netip"

	"github.com/ibkit/ibkit/cmd/internal/render"
	"github.com/ibkit/ibkit/ib"
)

// Form selects the addresses that ibaddr prints.
type Form struct{ GID, LID, Decimal bool }

// Write prints a line.
func (f Form) Write(out *render.Output, gid ib.GID, first, last int) {
	if f.GID {
		fmt.Fprintf(out, "GID %s ", inetNtop(gid))
	}
	switch {
	case f.Decimal:
		fmt.Fprintf(out, "LID start %d end %d", first, last)
	case f.LID:
		fmt.Fprintf(out, "LID start 0x%x end 0x%x", first, last)
	}
	fmt.Fprintln(out)
}

// inetNtop formats a GID like inet_ntop of glibc, which treats a GID that begins with 96
// zero bits (without a subnet prefix) as an IPv4 address.
func inetNtop(gid ib.GID) string {
	if [12]byte(gid[:]) == [12]byte{} && (gid[12] != 0 || gid[13] != 0) {
		return "::" + netip.AddrFrom4([4]byte(gid[12:])).String()
	}
	return gid.String()
}
