package ibaddr

import (
	"fmt"
	"net/netip"

	"github.com/ibkit/ibkit/cmd/internal/render"
	"github.com/ibkit/ibkit/ib"
)

// form selects the addresses that ibaddr prints.
type form struct{ gid, lid, decimal bool }

// write prints a line.
func (f form) write(out *render.Output, gid ib.GID, first, last int) {
	if f.gid {
		fmt.Fprintf(out, "GID %s ", inetNtop(gid))
	}
	switch {
	case f.decimal:
		fmt.Fprintf(out, "LID start %d end %d", first, last)
	case f.lid:
		fmt.Fprintf(out, "LID start 0x%x end 0x%x", first, last)
	}
	fmt.Fprintln(out)
}

// inetNtop formats a GID like glibc's inet_ntop, which treats a GID that begins with 96
// zero bits (without a subnet prefix) as an IPv4 address.
func inetNtop(gid ib.GID) string {
	if [12]byte(gid[:]) == [12]byte{} && (gid[12] != 0 || gid[13] != 0) {
		return "::" + netip.AddrFrom4([4]byte(gid[12:])).String()
	}
	return gid.String()
}
