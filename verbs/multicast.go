package verbs

import (
	"fmt"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/internal/uapi"
)

// AttachMulticast adds a queue pair for datagrams to a multicast group's receivers on its
// port. mlid is the group's LID on InfiniBand, which the connection
// manager reports, and 0 on RoCE. A queue pair must be detached before Close, which
// otherwise fails with EBUSY (uverbs_std_types_qp.c).
func (qp *QP) AttachMulticast(gid ib.GID, mlid ib.LID) error {
	return qp.multicast("attach", uapi.CmdAttachMcast, gid, mlid)
}

// DetachMulticast reverts AttachMulticast.
func (qp *QP) DetachMulticast(gid ib.GID, mlid ib.LID) error {
	return qp.multicast("detach", uapi.CmdDetachMcast, gid, mlid)
}

func (qp *QP) multicast(verb string, cmd uint32, gid ib.GID, mlid ib.LID) error {
	op := fmt.Sprintf("%s QP %#x, group %v", verb, qp.number, gid)
	qp.send.Lock()
	defer qp.send.Unlock()
	if qp.queue == nil {
		return closedError(op, qp.context.name)
	}
	core := uapi.AttachMcast{GID: gid, QPHandle: qp.handle, MLID: uint16(mlid)}
	return qp.invoke(op, cmd, uapi.Bytes(&core), nil, nil, nil)
}
