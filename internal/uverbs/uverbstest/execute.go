package uverbstest

import (
	"encoding/binary"
	"unsafe"

	"github.com/ibkit/ibkit/internal/uapi"
)

// modify changes a queue pair.
func (a *Adapter) modify(q *qp, r *uapi.ModifyQP) {
	if r.AttrMask&maskAccess != 0 {
		q.access = access(r.AccessFlags)
	}
	if r.AttrMask&maskQKey != 0 {
		q.qkey = r.QKey
	}
	if r.AttrMask&maskDest != 0 {
		q.peer = r.DestQPNum
	}
	switch q.state = r.State; q.state {
	case stateReset:
		q.sq.clear()
		if q.shared == nil {
			q.rq.clear()
		}
	case stateError:
		a.flush(q)
	}
}

// fail changes a queue pair to the error state.
func (a *Adapter) fail(q *qp) {
	if a.Defect == NoErrorState {
		return
	}
	q.state = stateError
	a.flush(q)
}

// flush completes all work requests posted to a queue pair.
func (a *Adapter) flush(q *qp) {
	for w := q.sq.first(); w != nil; w = q.sq.first() {
		id := (*uapi.RXESendWQE)(w).WRID
		q.sq.drop()
		if a.Defect != NoFlush {
			a.complete(q, q.send, uapi.WC{WRID: id, Status: uint32(statusFlushed)}, false)
		}
	}
	if q.shared != nil {
		return
	}
	for w := q.rq.first(); w != nil; w = q.rq.first() {
		id := (*uapi.RXERecvWQE)(w).WRID
		q.rq.drop()
		if a.Defect != NoFlush {
			a.complete(q, q.recv, uapi.WC{WRID: id, Status: uint32(statusFlushed)}, false)
		}
	}
}

// complete adds a completion, and the event if the queue is armed.
func (a *Adapter) complete(q *qp, to *cq, wc uapi.WC, solicited bool) {
	if wc.QPNum = q.number; a.Defect == WrongQPN {
		wc.QPNum++
	}
	to.add(wc)
	if !to.armed || to.only && !solicited && wc.Status == 0 && a.Defect != AnyEvent {
		return
	}
	to.armed = false
	a.event(to.channel, uapi.Bytes(&uapi.CompEvent{CQHandle: to.id}))
}

// event writes a record to an event file.
func (a *Adapter) event(fd int, record []byte) {
	if f := a.files[fd]; f != nil && a.Defect != LostEvent {
		if _, err := f.Write(record); err != nil {
			a.t.Error(err)
		}
	}
}

// sgesOf returns the SGEs behind the work request head.
func sgesOf(wqe unsafe.Pointer, head int, count uint32) []uapi.RXESGE {
	return unsafe.Slice((*uapi.RXESGE)(unsafe.Add(wqe, head)), count)
}

// memory returns process memory at a device address.
func memory(addr uint64, length uint32) []byte {
	return unsafe.Slice(*(**byte)(unsafe.Pointer(&addr)), length)
}

// holds reports whether a region has a right to a range.
func (r *region) holds(addr, length uint64, access access) bool {
	return r.access&access == access && addr >= r.start && addr+length <= r.start+r.size
}

// local reports whether the queue pair may access memory by SGEs.
func (a *Adapter) local(q *qp, sges []uapi.RXESGE, access access) bool {
	for _, s := range sges {
		if s.Length == 0 || a.Defect == AnyLKey {
			continue
		}
		r := a.mrs[s.LKey>>8]
		if r == nil || r.key != s.LKey || r.pd != q.pd || !r.holds(s.Addr, uint64(s.Length), access) {
			return false
		}
	}
	return true
}

// remote reports whether the peer may access memory by a key.
func (a *Adapter) remote(q *qp, key uint32, addr, length uint64, access access) bool {
	if a.Defect == AnyRKey || length == 0 {
		return true
	}
	if r := a.mrs[key>>8]; r != nil {
		return r.key == key && r.pd == q.pd && r.holds(addr, length, access)
	}
	w := a.mws[key>>8]
	return w != nil && w.bound && w.key == key && w.holds(addr, length, access)
}

// gather returns a work request's data.
func gather(sges []uapi.RXESGE) (data []byte) {
	for _, s := range sges {
		data = append(data, memory(s.Addr, s.Length)...)
	}
	return data
}

// scatter writes data to SGEs, with the adapter's defects.
func (a *Adapter) scatter(sges []uapi.RXESGE, data []byte) {
	for _, s := range sges {
		to := memory(s.Addr, s.Length)
		n := copy(to, data)
		if data = data[n:]; len(data) > 0 || n == 0 {
			continue
		}
		switch a.Defect {
		case WrongPayload:
			to[n-1] ^= 1
		case Overrun:
			*(*byte)(unsafe.Add(unsafe.Pointer(&to[n-1]), 1)) ^= 1
		}
		return
	}
}

// execute executes the work requests in a queue pair.
func (a *Adapter) execute(q *qp) {
	for w := q.sq.first(); w != nil; w = q.sq.first() {
		if q.state != stateRTS {
			a.flush(q)
			return
		}
		wqe := (*uapi.RXESendWQE)(w)
		status := a.operate(q, wqe)
		wc := uapi.WC{WRID: wqe.WRID, Status: uint32(status), Opcode: completed[opcode(wqe.Opcode)]}
		if a.Defect == WrongOpcode {
			wc.Opcode = completedRecv
		}
		flags := wqe.SendFlags
		q.sq.drop()
		if (status != statusOK || flags&sendSignaled != 0) && a.Defect != LostCompletion {
			a.complete(q, q.send, wc, false)
		}
		if status != statusOK {
			a.fail(q)
		}
	}
}

// completed are the completion operations.
var completed = map[opcode]uint32{
	opWrite: completedWrite, opWriteWithImm: completedWrite, opRead: completedRead,
	opCompareSwap: completedCompareSwap, opFetchAdd: completedFetchAdd,
	opBindMW: completedBindMW, opLocalInvalidate: completedLocalInvalidate,
}

// find returns the queue pair with a number.
func (a *Adapter) find(number uint32) *qp {
	for _, q := range a.qps {
		if q.number == number {
			return q
		}
	}
	return nil
}

// operate executes a work request and returns the status.
func (a *Adapter) operate(q *qp, wqe *uapi.RXESendWQE) status {
	op := opcode(wqe.Opcode)
	at := unsafe.Pointer(wqe)
	sges := sgesOf(at, uapi.RXESendWQESize, wqe.DMA.NumSGE)
	reads := op == opRead || op.isAtomic()
	var needs access
	if reads {
		needs = accessLocalWrite
	}
	if !a.local(q, sges, needs) {
		return statusLocalProt
	}
	data := gather(sges)
	if wqe.SendFlags&sendInline != 0 {
		data = append(data, unsafe.Slice((*byte)(unsafe.Add(at, uapi.RXESendWQESize)), wqe.DMA.Length)...)
	}
	switch op {
	case opBindMW:
		return a.bind(q, (*uapi.RXEMW)(unsafe.Pointer(&wqe.WR)))
	case opLocalInvalidate:
		a.invalidate(binary.NativeEndian.Uint32(wqe.Ex[:]))
		return statusOK
	}
	if q.kind == kindUD {
		a.datagram(q, (*uapi.RXEUD)(unsafe.Pointer(&wqe.WR)), wqe, data)
		return statusOK
	}
	peer := a.find(q.peer)
	status := statusRetryExceeded
	if peer != nil && peer.state >= stateRTR && peer.state < stateError {
		status = a.respond(q, peer, wqe, sges, data)
	}
	if q.kind != kindRC {
		return statusOK // the requester does not notice
	}
	switch status {
	case statusRemoteAccess, statusRemoteInvalid, statusRemoteOp:
		a.fail(peer)
	}
	return status
}

// bind binds a memory window.
func (a *Adapter) bind(q *qp, b *uapi.RXEMW) status {
	w, r := a.mws[b.MWRKey>>8], a.mrs[b.MRLKey>>8]
	if w == nil || r == nil || r.key != b.MRLKey || r.pd != q.pd || r.access&accessMWBind == 0 || b.RKey>>8 != w.handle {
		return statusMWBind
	}
	w.region = region{q.pd, b.RKey, b.Addr, b.Length, access(b.Access)}
	w.bound = true
	return statusOK
}

func (a *Adapter) invalidate(key uint32) {
	if w := a.mws[key>>8]; w != nil && w.key == key && a.Defect != IgnoredInvalidate {
		w.bound = false
	}
}

// respond executes a request at the responder and returns the requester's status.
func (a *Adapter) respond(q, peer *qp, wqe *uapi.RXESendWQE, sges []uapi.RXESGE, data []byte) status {
	union := unsafe.Pointer(&wqe.WR)
	solicited := wqe.SendFlags&sendSolicited != 0
	may := func(right access) bool { return peer.access&right != 0 || a.Defect == AnyAccess }
	switch op := opcode(wqe.Opcode); op {
	case opWrite, opWriteWithImm:
		x := (*uapi.RXERDMA)(union)
		switch {
		case !may(accessRemoteWrite):
			return statusRemoteInvalid
		case !a.remote(peer, x.RKey, x.RemoteAddr, uint64(len(data)), accessRemoteWrite):
			return statusRemoteAccess
		}
		if op == opWriteWithImm {
			wc := uapi.WC{Opcode: completedRecvWriteImm, ByteLen: uint32(len(data)), Flags: wcWithImm, Ex: wqe.Ex}
			if status := a.receive(peer, nil, wc, solicited); status != statusOK {
				return status
			}
		}
		a.scatter([]uapi.RXESGE{{Addr: x.RemoteAddr, Length: uint32(len(data))}}, data)
	case opRead:
		x := (*uapi.RXERDMA)(union)
		switch {
		case !may(accessRemoteRead):
			return statusRemoteInvalid
		case !a.remote(peer, x.RKey, x.RemoteAddr, uint64(wqe.DMA.Length), accessRemoteRead):
			return statusRemoteAccess
		}
		a.scatter(sges, append([]byte{}, memory(x.RemoteAddr, wqe.DMA.Length)...))
	case opCompareSwap, opFetchAdd:
		return a.atomic(q, peer, op, (*uapi.RXEAtomic)(union), sges, may(accessRemoteAtomic))
	default:
		wc := uapi.WC{Opcode: completedRecv}
		switch op {
		case opSendWithImm:
			wc.Flags, wc.Ex = wcWithImm, wqe.Ex
		case opSendInvalidate:
			wc.Flags, wc.Ex = wcWithInvalidate, wqe.Ex
			a.invalidate(binary.NativeEndian.Uint32(wqe.Ex[:]))
			if a.Defect == NoInvalidateKey {
				wc.Ex = [4]byte{}
			}
		}
		return a.receive(peer, data, wc, solicited)
	}
	return statusOK
}

func (a *Adapter) atomic(q, peer *qp, op opcode, x *uapi.RXEAtomic, sges []uapi.RXESGE, may bool) status {
	switch {
	case !may, x.RemoteAddr%8 != 0:
		return statusRemoteInvalid
	case !a.remote(peer, x.RKey, x.RemoteAddr, 8, accessRemoteAtomic):
		return statusRemoteAccess
	}
	word := memory(x.RemoteAddr, 8)
	before := binary.NativeEndian.Uint64(word)
	after := before + x.CompareAdd
	if op == opCompareSwap {
		if after = before; before == x.CompareAdd {
			after = x.Swap
		}
	}
	if a.Defect != DroppedAtomic {
		binary.NativeEndian.PutUint64(word, after)
	}
	if a.Defect == WrongAtomic {
		before = after
	}
	a.scatter(sges, binary.NativeEndian.AppendUint64(nil, before))
	return statusOK
}

// receive completes a receive with data and returns the requester's status.
func (a *Adapter) receive(q *qp, data []byte, wc uapi.WC, solicited bool) status {
	w := q.rq.first()
	if w == nil {
		return statusRNRExceeded
	}
	r := (*uapi.RXERecvWQE)(w)
	sges := sgesOf(w, uapi.RXERecvWQESize, r.DMA.NumSGE)
	if wc.Opcode == completedRecv {
		wc.ByteLen = uint32(len(data))
	}
	status, answer := statusOK, statusOK
	switch {
	case len(data) > int(r.DMA.Length) && a.Defect != AnyLength:
		status, answer = statusLocalLength, statusRemoteInvalid
	case !a.local(q, sges, accessLocalWrite):
		status, answer = statusLocalProt, statusRemoteOp
	default:
		a.scatter(sges, data)
	}
	wc.WRID, wc.Status = r.WRID, uint32(status)
	a.distort(&wc)
	q.rq.drop()
	a.Received++
	a.complete(q, q.recv, wc, solicited)
	if s := q.shared; s != nil && s.limit > 0 && s.len() < s.limit {
		s.limit = 0
		a.event(a.async, uapi.Bytes(&uapi.AsyncEvent{Element: s.id, Type: eventSRQLimitReached}))
	}
	return answer
}

// distort applies the receive completion defects.
func (a *Adapter) distort(wc *uapi.WC) {
	switch a.Defect {
	case WrongID:
		wc.WRID++
	case WrongLength:
		wc.ByteLen++
	case WrongImmediate:
		wc.Ex[0], wc.Ex[1], wc.Ex[2], wc.Ex[3] = wc.Ex[3], wc.Ex[2], wc.Ex[1], wc.Ex[0]
	case NoImmediate:
		wc.Flags &^= wcWithImm
	case NoGRH:
		wc.Flags &^= wcGRH
	case WrongSource:
		wc.SrcQP++
	}
}

// datagram delivers a datagram, unless the Q_Key differs or there is no receive.
func (a *Adapter) datagram(q *qp, x *uapi.RXEUD, wqe *uapi.RXESendWQE, data []byte) {
	peer := a.find(x.RemoteQPN)
	if peer == nil || peer.state < stateRTR || peer.state == stateError || peer.qkey != x.QKey && a.Defect != AnyQKey {
		return
	}
	wc := uapi.WC{Opcode: completedRecv, Flags: wcGRH, SrcQP: q.number}
	if opcode(wqe.Opcode) == opSendWithImm {
		wc.Flags |= wcWithImm
		wc.Ex = wqe.Ex
	}
	const header = 40
	a.receive(peer, append(make([]byte, header), data...), wc, wqe.SendFlags&sendSolicited != 0)
}
