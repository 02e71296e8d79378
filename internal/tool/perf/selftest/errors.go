package selftest

import (
	"errors"
	"fmt"

	"github.com/ibkit/ibkit/verbs"
)

// A fault is a work request that must fail.
type fault struct {
	name      string
	srd       bool // also over SRD
	config    config
	requester []verbs.Status // any of them
	responder []verbs.Status // of a posted receive; nil: none is posted
	wr        func(s *session) verbs.SendWR
	prepare   func(s *session) error
}

// The rights of faults. A responder may not grant a remote write without a local write.
const (
	onlyLocal = verbs.AccessLocalWrite
	onlyReads = verbs.AccessLocalWrite | verbs.AccessRemoteRead
	onlyWrite = verbs.AccessLocalWrite | verbs.AccessRemoteWrite
)

// denied are the statuses of a request that the queue pair does not allow, or that has a
// misaligned address: the specification and adapters differ (9.7.4.1.5, 9.7.5.2.4).
var denied = []verbs.Status{verbs.StatusRemoteAccess, verbs.StatusRemoteInvalid}

var remoteAccess = []verbs.Status{verbs.StatusRemoteAccess}

// remote is a work request to the memory of the responder.
func remote(op verbs.Opcode, size int) func(*session) verbs.SendWR {
	return func(s *session) verbs.SendWR {
		return verbs.SendWR{
			Opcode: op, SGEs: []verbs.SGE{s.a.mr.SGE(0, size)}, RemoteAddr: s.b.mr.Addr() + guard, RKey: s.b.mr.RKey(), CompareAdd: 1,
		}
	}
}

// change changes a work request.
func change(wr func(*session) verbs.SendWR, f func(s *session, wr *verbs.SendWR)) func(*session) verbs.SendWR {
	return func(s *session) verbs.SendWR {
		w := wr(s)
		f(s, &w)
		return w
	}
}

func wrongRKey(_ *session, wr *verbs.SendWR) { wr.RKey ^= 0x5a }

func pastEnd(s *session, wr *verbs.SendWR) { wr.RemoteAddr = s.b.mr.Addr() + s.b.mr.Len() - 4 }

func wrongLKey(_ *session, wr *verbs.SendWR) { wr.SGEs[0].LKey ^= 0x5a }

func localPastEnd(s *session, wr *verbs.SendWR) { wr.SGEs[0].Addr = s.a.mr.Addr() + s.a.mr.Len() - 4 }

// faults are the faults of RC.
func (t *tester) faults() []fault {
	send, write, read, add := remote(verbs.OpSend, 64), remote(verbs.OpWrite, 64), remote(verbs.OpRead, 64), remote(verbs.OpFetchAdd, 8)
	restricted := func(access, queue verbs.Access) config { return config{access: access, queue: queue, limited: true} }
	protection := []verbs.Status{verbs.StatusLocalProt}
	return []fault{
		{name: "write, wrong rkey", srd: true, requester: remoteAccess, wr: change(write, wrongRKey)},
		{name: "read, wrong rkey", srd: true, requester: remoteAccess, wr: change(read, wrongRKey)},
		{name: "atomic, wrong rkey", requester: remoteAccess, wr: change(add, wrongRKey)},
		{name: "write past the end of a region", srd: true, requester: remoteAccess, wr: change(write, pastEnd)},
		{name: "read past the end of a region", srd: true, requester: remoteAccess, wr: change(read, pastEnd)},
		{name: "write, region without remote write", srd: true, config: restricted(onlyReads, allRights), requester: remoteAccess, wr: write},
		{name: "read, region without remote read", srd: true, config: restricted(onlyWrite, allRights), requester: remoteAccess, wr: read},
		{name: "atomic, region without remote atomic", config: restricted(onlyWrite, allRights), requester: remoteAccess, wr: add},
		{name: "write, queue pair without remote write", config: restricted(allRights, onlyReads), requester: denied, wr: write},
		{name: "read, queue pair without remote read", config: restricted(allRights, onlyWrite), requester: denied, wr: read},
		{name: "atomic, queue pair without remote atomic", config: restricted(allRights, onlyLocal), requester: denied, wr: add},
		{name: "misaligned atomic", requester: denied, wr: change(add, func(_ *session, wr *verbs.SendWR) { wr.RemoteAddr++ })},
		{name: "send, wrong lkey", srd: true, requester: protection, wr: change(send, wrongLKey)},
		{name: "write past the end of the local region", srd: true, requester: protection, wr: change(write, localPastEnd)},
		{name: "read into a region without local write", srd: true, requester: []verbs.Status{verbs.StatusLocalProt, verbs.StatusLocalAccess}, wr: func(s *session) verbs.SendWR {
			return remote(verbs.OpRead, 64)(s)
		}, prepare: func(s *session) (err error) {
			s.a.mr, err = s.register(s.room, 0, false)
			return err
		}},
		{name: "message longer than the receive", requester: []verbs.Status{verbs.StatusRemoteInvalid}, responder: []verbs.Status{verbs.StatusLocalLength}, wr: remote(verbs.OpSend, 65)},
		{
			name: "receive, wrong lkey", requester: []verbs.Status{verbs.StatusRemoteOp}, responder: protection, wr: send,
			prepare: func(s *session) error {
				sge := s.b.mr.SGE(0, 64)
				sge.LKey ^= 0x5a
				_, err := s.receive(s.b, sge)
				return err
			},
		},
		{name: "RNR retries exceeded", requester: []verbs.Status{verbs.StatusRNRExceeded}, wr: send},
		{
			name: "transport retries exceeded", requester: []verbs.Status{verbs.StatusRetryExceeded}, wr: write,
			prepare: func(s *session) error { return s.b.Modify(verbs.QPStateReset, verbs.QPAttr{}) },
		},
	}
}

// datagramFaults are the faults of SRD. A queue pair has no access rights, and the
// adapter reports a receiver with another Q_Key as missing.
func (t *tester) datagramFaults() []fault {
	missing := []verbs.Status{verbs.StatusRemoteInvalRDD, verbs.StatusRespTimeout, verbs.StatusRemoteAborted}
	all := []fault{
		{name: "wrong Q_Key", requester: missing, wr: change(remote(verbs.OpSend, 64), func(_ *session, wr *verbs.SendWR) { wr.QKey = testQKey + 1 })},
		{name: "receiver in the state RESET", requester: missing, wr: remote(verbs.OpSend, 64), prepare: func(s *session) error {
			return s.b.Modify(verbs.QPStateReset, verbs.QPAttr{})
		}},
		{name: "RNR retries exceeded", requester: []verbs.Status{verbs.StatusRNRExceeded}, wr: remote(verbs.OpSend, 64), prepare: (*session).retryOnce},
	}
	for _, f := range t.faults() {
		if f.srd {
			all = append(all, f)
		}
	}
	return all
}

// retryOnce limits the retries of the requester to the receiver, which are infinite by default.
func (s *session) retryOnce() error {
	retries, psn := uint8(testRNRRetries), uint32(0)
	return errors.Join(
		s.a.Modify(verbs.QPStateReset, verbs.QPAttr{}),
		s.a.Init(s.port.Number, verbs.ConnParam{QKey: testQKey}),
		s.a.Modify(verbs.QPStateRTR, verbs.QPAttr{}),
		s.a.Modify(verbs.QPStateRTS, verbs.QPAttr{SQPSN: &psn, RNRRetry: &retries}))
}

// errors returns the cases of errors.
func (t *tester) errors(kind verbs.QPType) []testCase {
	group := groups[kind]
	var all []testCase
	switch kind {
	case verbs.QPTypeRC:
		for _, f := range t.faults() {
			all = append(all, testCase{group, "error: " + f.name, []int{}, func() error { return t.fault(kind, f) }})
		}
	case verbs.QPTypeSRD:
		for _, f := range t.datagramFaults() {
			all = append(all, testCase{group, "error: " + f.name, []int{}, func() error { return t.fault(kind, f) }})
		}
	case verbs.QPTypeUC:
		all = append(all,
			testCase{group, "error: write, wrong rkey", []int{64}, t.droppedWrite},
			testCase{group, "error: send, wrong lkey", []int{64}, func() error { return t.localFault(kind) }})
	default:
		all = append(all,
			testCase{group, "error: wrong Q_Key", []int{64}, t.wrongQKey},
			testCase{group, "error: send, wrong lkey", []int{64}, func() error { return t.localFault(kind) }})
	}
	return all
}

// fault posts a work request that must fail, and another after it, which is flushed unless
// over SRD. The responder's memory must not change, and the queue pairs work after a reset.
func (t *tester) fault(kind verbs.QPType, f fault) error {
	f.config.kind = kind
	return t.with(f.config, func(s *session) error {
		wr := f.wr(s)
		if wr.Opcode.IsAtomic() && t.port.Limits.AtomicCap == 0 {
			return unsupported("the device has no atomics")
		}
		s.prepare()
		requester := *s.a
		var recv uint64
		var err error
		if f.prepare != nil {
			if err := f.prepare(s); err != nil {
				return err
			}
			recv, wr = s.nextID, f.wr(s)
		} else if f.responder != nil {
			if recv, err = s.receive(s.b, s.b.mr.SGE(guard, 64)); err != nil {
				return err
			}
		}
		wr.Flags |= verbs.SendSignaled
		id, err := s.post(s.a, wr)
		if err != nil {
			return err
		}
		var next uint64
		if kind == verbs.QPTypeRC {
			if next, err = s.send(s.a); err != nil {
				return err
			}
		}
		if _, err := s.fails(s.a, id, f.requester...); err != nil {
			return fmt.Errorf("requester: %w", err)
		}
		if f.responder != nil {
			if _, err := s.fails(s.b, recv, f.responder...); err != nil {
				return fmt.Errorf("responder: %w", err)
			}
		}
		if kind == verbs.QPTypeRC {
			if err := s.stopped(next); err != nil {
				return err
			}
		}
		if f.responder == nil || f.name == "receive, wrong lkey" {
			if err := verify(s.b.mr.Bytes(), guard, nil); err != nil {
				return err
			}
		}
		*s.a = requester
		if f.config.limited && f.config.access&allRights != allRights {
			return s.reconnect()
		}
		return s.recovered()
	})
}

// stopped checks that the requester is in the error state, and that the next work request is
// flushed.
func (s *session) stopped(next uint64) error {
	if _, err := s.fails(s.a, next, verbs.StatusFlushed); err != nil {
		return fmt.Errorf("next work request: %w", err)
	}
	status, err := s.a.Query()
	if err == nil && status.State != verbs.QPStateError {
		err = fmt.Errorf("requester: got state %v, want %v", status.State, verbs.QPStateError)
	}
	return err
}

// localFault sends from memory with a wrong key.
func (t *tester) localFault(kind verbs.QPType) error {
	return t.with(config{kind: kind}, func(s *session) error {
		s.prepare()
		sge := s.a.mr.SGE(0, 64)
		sge.LKey ^= 0x5a
		id, err := s.send(s.a, sge)
		if err != nil {
			return err
		}
		if _, err := s.fails(s.a, id, verbs.StatusLocalProt); err != nil {
			return err
		}
		return s.recovered()
	})
}

// droppedWrite writes with a wrong key over UC: the requester does not notice.
func (t *tester) droppedWrite() error {
	return t.with(config{kind: verbs.QPTypeUC}, func(s *session) error {
		s.prepare()
		wr := change(remote(verbs.OpWrite, 64), wrongRKey)(s)
		wr.Flags = verbs.SendSignaled
		id, err := s.post(s.a, wr)
		if err != nil {
			return err
		}
		if _, err := s.one(s.a, id, verbs.CompletedWrite); err != nil {
			return err
		}
		return s.recovered() // its poison is new, but the connection works
	})
}

// wrongQKey sends a datagram that the responder must drop, and a datagram that it receives.
func (t *tester) wrongQKey() error {
	return t.with(config{kind: verbs.QPTypeUD}, func(s *session) error {
		s.prepare()
		recv, err := s.receive(s.b, s.b.mr.SGE(0, 64+s.header()))
		if err != nil {
			return err
		}
		for i, key := range []uint32{testQKey + 1, testQKey} {
			for j := range 64 {
				s.a.mr.Bytes()[j] = byte(i)
			}
			id, err := s.post(s.a, verbs.SendWR{Opcode: verbs.OpSend, Flags: verbs.SendSignaled, QKey: key, SGEs: []verbs.SGE{s.a.mr.SGE(0, 64)}})
			if err != nil {
				return err
			}
			if _, err := s.one(s.a, id, verbs.CompletedSend); err != nil {
				return err
			}
		}
		if _, err := s.one(s.b, recv, verbs.CompletedRecv); err != nil {
			return err
		}
		if got := s.b.mr.Bytes()[s.header()]; got != 1 {
			return errors.New("received the datagram with the wrong Q_Key")
		}
		return nil
	})
}
