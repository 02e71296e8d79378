package links

import (
	"strconv"

	"github.com/ibkit/ibkit/fabric"
)

// PortLine prints a port and its link in the form of ibqueryerrors -r (rdma-core,
// infiniband-diags/ibqueryerrors.c).
func (v *Classic) PortLine(p *fabric.Port) {
	b := append(v.buf[:0], "       Link info: "...)
	b = appendRight(b, strconv.Itoa(int(p.LID())), 6)
	b = appendRight(b, strconv.Itoa(int(p.Number)), 4)
	b = append(appendExternal(b, p), " =="...)
	b = append(v.appendLink(b, p), "==>  "...)
	if p.Peer == nil {
		v.flush(append(b, "           [  ] \"\" ( )\n"...))
		return
	}
	line := *v
	line.Line = true
	v.flush(append(line.appendPeer(b, p), '\n'))
}
