package verbs

import (
	"encoding/binary"
	"errors"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/ibkit/ibkit/internal/uapi"
	"github.com/ibkit/ibkit/verbs/provider"
)

// A quick is a command that is sent over and over: made once and sent by write(2).
// In a guest with Soft-RoCE a doorbell takes 3.0 µs so, 4.8 by the ioctl, which
// looks up and checks each attribute anew.
//
// The kernel takes writes only from who has the very credentials that opened the
// file (ib_safe_file_access), which threads lose when they change theirs. From
// then on the ioctl has to do, for which that does not matter.
type quick struct {
	context *Context
	op      string
	cmd     uint32
	message []byte // header and command
	resp    []byte // mapped memory
	refused bool
}

// newQuick prepares a command. One that has a response begins with its address.
func newQuick(c *Context, op string, cmd uint32, core, resp []byte) *quick {
	q := &quick{context: c, op: op, cmd: cmd, resp: resp}
	head := uapi.CmdHeader{
		Command: cmd, InWords: uint16((uapi.CmdHeaderSize + len(core)) / 4), OutWords: uint16(len(resp) / 4),
	}
	q.message = append(bytesOf(&head)[:uapi.CmdHeaderSize:uapi.CmdHeaderSize], core...)
	if len(resp) > 0 {
		binary.NativeEndian.PutUint64(q.core(), uint64(uintptr(unsafe.Pointer(unsafe.SliceData(resp)))))
	}
	return q
}

// core returns the command, which may be changed before it is sent.
func (q *quick) core() []byte { return q.message[uapi.CmdHeaderSize:] }

// Ring sends the command, such as a doorbell. Brief tells that the kernel has it
// done in no time. Who calls holds the lock of an object of the context, which is
// not closed meanwhile: its own lock is not needed, and who posts never waits for
// it.
func (q *quick) Ring(brief bool) error {
	c := q.context
	if !q.refused {
		err := c.kernel.write(c.fd, q.message, brief)
		if err == nil {
			return nil
		}
		if !errors.Is(err, unix.EACCES) {
			return c.callError(q.op, writeCommands+" "+commandNames[q.cmd], err)
		}
		q.refused = true
	}
	return c.locked(writeRequest(q.op, q.cmd, q.core(), q.resp, nil, nil))
}

// answerSize is how much memory a context has for the answers to doorbells, in
// bytes.
const answerSize = int(unsafe.Sizeof(uapi.PostSendResp{}))

// Doorbell makes the doorbell of a queue pair: POST_SEND of no work requests. All
// have one place for answers, which say how many work requests of a message were
// bad: there are none in it.
func (d queueDevice) Doorbell(qp uint32) provider.Doorbell {
	core := uapi.PostSend{QPHandle: qp, WQESize: uapi.SendWRSize}
	return newQuick(d.context, "ring doorbell", uapi.CmdPostSend, bytesOf(&core), d.context.scratch.Bytes())
}

// A notifier is REQ_NOTIFY_CQ.
type notifier struct{ *quick }

// Notifier makes what arms a completion queue.
func (d queueDevice) Notifier(cq uint32) provider.Notifier {
	core := uapi.ReqNotifyCQ{CQHandle: cq}
	return notifier{newQuick(d.context, "arm CQ", uapi.CmdReqNotifyCQ, bytesOf(&core), nil)}
}

// Arm arms the completion queue.
func (n notifier) Arm(solicitedOnly bool) error {
	core := (*uapi.ReqNotifyCQ)(unsafe.Pointer(unsafe.SliceData(n.core())))
	core.SolicitedOnly = 0
	if solicitedOnly {
		core.SolicitedOnly = 1
	}
	return n.Ring(true)
}
