package selftest

import (
	"errors"
	"fmt"
	"slices"

	"golang.org/x/sys/unix"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/internal/tool/perf/internal/endpoint"
	"github.com/ibkit/ibkit/verbs"
)

// transports are the types of queue pairs.
var transports = []verbs.QPType{verbs.QPTypeRC, verbs.QPTypeUC, verbs.QPTypeUD, verbs.QPTypeSRD}

// groups are the names of the types in a report.
var groups = map[verbs.QPType]string{verbs.QPTypeRC: "rc", verbs.QPTypeUC: "uc", verbs.QPTypeUD: "ud", verbs.QPTypeSRD: "srd", verbs.QPTypeXRCInit: "xrc"}

// largest is the size of the largest messages in bytes.
const largest = 1 << 20

// all returns all cases in order.
func (t *tester) all() []testCase {
	var all []testCase
	for _, kind := range transports {
		if kind == verbs.QPTypeSRD && !t.aws() {
			continue
		}
		all = append(all, t.operations(kind)...)
		all = append(all, t.queues(kind)...)
		all = append(all, t.errors(kind)...)
	}
	if t.port.Limits.Caps&capXRC != 0 {
		all = append(all, t.operations(verbs.QPTypeXRCInit)...)
	}
	return append(all, t.memories()...)
}

// aws reports whether the adapter is of AWS, the only kind with SRD.
func (t *tester) aws() bool { return t.port.Context.Driver() == verbs.DriverEFA }

// capXRC is the capability of XRC (IB_UVERBS_DEVICE_XRC).
const capXRC = 1 << 20

// sizes returns the sizes of messages: around the units of adapters and packets. The
// limit of SRD messages is not that of writes and reads.
func (t *tester) sizes(kind verbs.QPType, op verbs.Opcode) []int {
	mtu := t.port.Attr.ActiveMTU.Bytes()
	if kind == verbs.QPTypeUD {
		return []int{0, 1, 3, 4, 63, 64, 65, 255, mtu - 1, mtu}
	}
	sizes, limit := []int{0, 1, 3, 4, 63, 64, 65, 255, mtu - 1, mtu, mtu + 1, 2*mtu + 1, 64 << 10, largest}, int(t.port.Attr.MaxMsgSize)
	switch {
	case kind != verbs.QPTypeSRD:
	case op == verbs.OpSend || op == verbs.OpSendWithImm:
		sizes = append(sizes, limit)
	default:
		limit = largest
	}
	return slices.DeleteFunc(sizes, func(n int) bool { return n > limit })
}

// operations returns a case per operation, with all sizes.
func (t *tester) operations(kind verbs.QPType) []testCase {
	group := groups[kind]
	var all []testCase
	add := func(name string, op verbs.Opcode) {
		sizes := t.sizes(kind, op)
		all = append(all, testCase{group, name, sizes, func() error { return t.messages(kind, op, sizes) }})
	}
	add("send", verbs.OpSend)
	add("send with immediate", verbs.OpSendWithImm)
	if kind != verbs.QPTypeUD {
		add("write", verbs.OpWrite)
		add("write with immediate", verbs.OpWriteWithImm)
	}
	if kind != verbs.QPTypeUC && kind != verbs.QPTypeUD {
		add("read", verbs.OpRead)
	}
	if kind == verbs.QPTypeRC {
		all = append(all,
			testCase{group, "compare and swap", []int{8}, t.compareSwap},
			testCase{group, "fetch and add", []int{8}, t.fetchAdd},
			testCase{group, "memory window and invalidate", []int{64}, t.window})
	}
	all = append(all, testCase{group, "inline send", []int{}, func() error { return t.inlined(kind, verbs.OpSend) }})
	if !endpoint.Datagrams(kind) {
		all = append(all, testCase{group, "inline write", []int{}, func() error { return t.inlined(kind, verbs.OpWrite) }})
		for mtu := ib.MTU256; mtu <= t.port.Attr.ActiveMTU; mtu++ {
			sizes := []int{mtu.Bytes(), 3*mtu.Bytes() + 1}
			all = append(all, testCase{group, fmt.Sprintf("path MTU %d", mtu.Bytes()), sizes, func() error {
				return t.with(config{kind: kind, mtu: mtu, room: largest}, func(s *session) error { return s.each(verbs.OpSend, sizes) })
			}})
		}
	}
	return all
}

// messages sends messages of all sizes.
func (t *tester) messages(kind verbs.QPType, op verbs.Opcode, sizes []int) error {
	return t.with(config{kind: kind, room: slices.Max(sizes) + verbs.GRHSize + 3*guard}, func(s *session) error { return s.each(op, sizes) })
}

func (s *session) each(op verbs.Opcode, sizes []int) error {
	for _, n := range sizes {
		if err := s.message(op, n, 0); err != nil {
			return fmt.Errorf("%d bytes: %w", n, err)
		}
	}
	return nil
}

// header returns the number of bytes before the payload of a received message.
func (s *session) header() int {
	if s.kind == verbs.QPTypeUD {
		return verbs.GRHSize
	}
	return 0
}

// immediate is the immediate data of messages.
const immediate = 0x01020304

// message sends a message from the requester to the responder, or reads it in the other
// direction, and verifies it and the completions.
func (s *session) message(op verbs.Opcode, n int, flags verbs.SendFlags) error {
	s.prepare()
	const from, to = guard, 2 * guard
	a, b := s.a.mr, s.b.mr
	payload := a.Bytes()[from : from+n]
	wr := verbs.SendWR{Opcode: op, Flags: flags | verbs.SendSignaled, Imm: immediate, RemoteAddr: b.Addr() + to, RKey: b.RKey()}
	switch {
	case flags&verbs.SendInline != 0:
		wr.Inline = payload
	case n > 0:
		wr.SGEs = []verbs.SGE{a.SGE(from, n)}
	}
	completed, received, flag := verbs.CompletedSend, verbs.CompletedRecv, verbs.CompletionFlags(0)
	sge := b.SGE(to-s.header(), n+s.header())
	switch op {
	case verbs.OpSendWithImm:
		flag = verbs.CompletionWithImm
	case verbs.OpWriteWithImm:
		flag, completed, received = verbs.CompletionWithImm, verbs.CompletedWrite, verbs.CompletedRecvWriteImm
	case verbs.OpWrite:
		completed = verbs.CompletedWrite
	case verbs.OpRead:
		return s.read(wr, n)
	}
	var sges []verbs.SGE
	if sge.Length > 0 && (op == verbs.OpSend || op == verbs.OpSendWithImm) {
		sges = append(sges, sge)
	}
	recv, err := s.receive(s.b, sges...)
	if err != nil {
		return err
	}
	id, err := s.post(s.a, wr)
	if err != nil {
		return err
	}
	if _, err := s.one(s.a, id, completed); err != nil {
		return fmt.Errorf("requester: %w", err)
	}
	if op == verbs.OpWrite { // its data is visible when a later message has arrived
		if id, err = s.send(s.a); err != nil {
			return err
		}
		if _, err := s.one(s.a, id, verbs.CompletedSend); err != nil {
			return fmt.Errorf("send after a write: %w", err)
		}
	}
	c, err := s.one(s.b, recv, received)
	if err != nil {
		return fmt.Errorf("responder: %w", err)
	}
	length := n + s.header()
	if op == verbs.OpWrite {
		length = 0
	}
	if err := s.checkReceived(c, length, flag); err != nil {
		return fmt.Errorf("responder: %w", err)
	}
	if s.kind == verbs.QPTypeUD { // the header may be undefined on InfiniBand
		header := b.Bytes()[to-s.header() : to]
		for i := range header {
			header[i] = poison
		}
	}
	return verify(b.Bytes(), to, payload)
}

// checkReceived checks the fields of the completion of a receive.
func (s *session) checkReceived(c verbs.Completion, length int, flag verbs.CompletionFlags) error {
	const optional = verbs.CompletionGRH
	switch {
	case int(c.ByteLen) != length:
		return fmt.Errorf("completion: got %d bytes, want %d", c.ByteLen, length)
	case c.Flags&^optional != flag:
		return fmt.Errorf("completion: got flags %#x, want %#x", c.Flags&^optional, flag)
	case flag&verbs.CompletionWithImm != 0 && c.Imm != immediate:
		return fmt.Errorf("completion: got immediate data %#x, want %#x", c.Imm, immediate)
	case endpoint.Datagrams(s.kind) && c.SrcQPN != s.a.Number():
		return fmt.Errorf("completion: got source QP %#x, want %#x", c.SrcQPN, s.a.Number())
	case s.kind == verbs.QPTypeUD && s.port.Ethernet() && c.Flags&verbs.CompletionGRH == 0:
		return errors.New("completion: got no GRH flag, want one on RoCE")
	}
	return nil
}

// read reads from the responder: its memory has the random bytes.
func (s *session) read(wr verbs.SendWR, n int) error {
	a, b := s.a.mr.Bytes(), s.b.mr.Bytes()
	copy(b, a)
	for i := range a {
		a[i] = poison
	}
	want := slices.Clone(b[2*guard : 2*guard+n])
	id, err := s.post(s.a, wr)
	if err != nil {
		return err
	}
	if _, err := s.one(s.a, id, verbs.CompletedRead); err != nil {
		return err
	}
	return verify(a, guard, want)
}

// inlined sends inline messages up to the capacity of the queue pair. The driver may refuse
// more than a byte.
func (t *tester) inlined(kind verbs.QPType, op verbs.Opcode) error {
	for i, want := range []int{1, 28, 64, 200} {
		err := t.with(config{kind: kind, inline: want}, func(s *session) error {
			limit := int(s.a.Cap().MaxInline)
			if limit < want {
				return fmt.Errorf("capacity: got %d bytes of inline data, want %d", limit, want)
			}
			limit = min(limit, s.room-4*guard, t.port.Attr.ActiveMTU.Bytes())
			for _, n := range slices.Compact(slices.Sorted(slices.Values([]int{0, 1, min(12, limit), want, limit}))) {
				if err := s.message(op, n, verbs.SendInline); err != nil {
					return fmt.Errorf("%d bytes: %w", n, err)
				}
			}
			return nil
		})
		if errors.Is(err, unix.EINVAL) && i > 0 {
			return nil // more than the device has
		}
		if err != nil {
			return fmt.Errorf("queue pair with %d bytes: %w", want, err)
		}
	}
	return nil
}

// atomic runs an atomic and returns the previous value that it read.
func (s *session) atomic(wr verbs.SendWR, want verbs.CompletionOpcode) (uint64, error) {
	wr.Flags, wr.SGEs = verbs.SendSignaled, []verbs.SGE{s.a.mr.SGE(0, 8)}
	wr.RemoteAddr, wr.RKey = s.b.mr.Addr()+8, s.b.mr.RKey()
	id, err := s.post(s.a, wr)
	if err != nil {
		return 0, err
	}
	_, err = s.one(s.a, id, want)
	return word(s.a.mr, 0), err
}

// atomics runs atomics and checks the values before and after each.
func (t *tester) atomics(op verbs.Opcode, done verbs.CompletionOpcode, steps []step) error {
	if t.port.Limits.AtomicCap == 0 {
		return unsupported("the device has no atomics")
	}
	return t.with(config{kind: verbs.QPTypeRC}, func(s *session) error {
		s.prepare()
		setWord(s.b.mr, 8, steps[0].before)
		for i, step := range steps {
			got, err := s.atomic(verbs.SendWR{Opcode: op, CompareAdd: step.operand, Swap: step.swap}, done)
			switch now := word(s.b.mr, 8); {
			case err != nil:
				return fmt.Errorf("atomic %d: %w", i+1, err)
			case got != step.before:
				return fmt.Errorf("atomic %d: got previous value %#x, want %#x", i+1, got, step.before)
			case now != step.after:
				return fmt.Errorf("atomic %d: got new value %#x, want %#x", i+1, now, step.after)
			}
		}
		return nil
	})
}

// A step is an atomic with the values before and after it.
type step struct{ operand, swap, before, after uint64 }

func (t *tester) compareSwap() error {
	const first, second = 0x0102030405060708, 0xf1f2f3f4f5f6f7f8
	return t.atomics(verbs.OpCompareSwap, verbs.CompletedCompareSwap, []step{
		{first, second, first, second}, {first, 1, second, second}, {second, first, second, first},
	})
}

func (t *tester) fetchAdd() error {
	const first = 0x01020304fffffffe
	return t.atomics(verbs.OpFetchAdd, verbs.CompletedFetchAdd, []step{
		{1, 0, first, first + 1}, {1, 0, first + 1, first + 2}, {0, 0, first + 2, first + 2}, {1<<64 - 1, 0, first + 2, first + 1},
	})
}

// window binds a memory window, writes through it, and invalidates it from both sides.
func (t *tester) window() error {
	return t.with(config{kind: verbs.QPTypeRC, access: verbs.AccessMWBind}, func(s *session) error {
		mw, err := s.pd.AllocMW()
		if mw, err = keep(s, mw, err); err != nil {
			return err
		}
		key := mw.RKey()
		for _, invalidate := range []verbs.Opcode{verbs.OpSendInvalidate, verbs.OpLocalInvalidate} {
			next := key&^0xff | (key+1)&0xff
			bind := verbs.SendWR{Opcode: verbs.OpBindMW, Flags: verbs.SendSignaled, Bind: &verbs.Bind{
				Window: key, RKey: next, LKey: s.b.mr.LKey(), Addr: s.b.mr.Addr() + 2*guard, Length: guard, Access: verbs.AccessRemoteWrite,
			}}
			key = next
			id, err := s.post(s.b, bind)
			if err != nil {
				return err
			}
			if _, err := s.one(s.b, id, verbs.CompletedBindMW); err != nil {
				return fmt.Errorf("bind: %w", err)
			}
			if err := s.invalidate(invalidate, key); err != nil {
				return fmt.Errorf("%v: %w", invalidate, err)
			}
			if err := s.reconnect(); err != nil {
				return err
			}
		}
		return nil
	})
}

// invalidate writes through a key of a memory window, invalidates the key, and checks that
// the next write fails.
func (s *session) invalidate(op verbs.Opcode, key uint32) error {
	write := verbs.SendWR{
		Opcode: verbs.OpWrite, Flags: verbs.SendSignaled, SGEs: []verbs.SGE{s.a.mr.SGE(0, guard)}, RemoteAddr: s.b.mr.Addr() + 2*guard, RKey: key,
	}
	id, err := s.post(s.a, write)
	if err == nil {
		_, err = s.one(s.a, id, verbs.CompletedWrite)
	}
	if err != nil {
		return fmt.Errorf("write through the window: %w", err)
	}
	if op == verbs.OpSendInvalidate {
		recv, err := s.receive(s.b)
		if err != nil {
			return err
		}
		if id, err = s.post(s.a, verbs.SendWR{Opcode: op, Flags: verbs.SendSignaled, InvalidateKey: key}); err != nil {
			return err
		}
		if _, err := s.one(s.a, id, verbs.CompletedSend); err != nil {
			return err
		}
		c, err := s.one(s.b, recv, verbs.CompletedRecv)
		if err != nil {
			return err
		}
		if c.Flags&verbs.CompletionWithInv == 0 || c.InvKey != key {
			return fmt.Errorf("completion: got flags %#x and key %#x, want key %#x", c.Flags, c.InvKey, key)
		}
	} else {
		if id, err = s.post(s.b, verbs.SendWR{Opcode: op, Flags: verbs.SendSignaled, InvalidateKey: key}); err != nil {
			return err
		}
		if _, err := s.one(s.b, id, verbs.CompletedLocalInvalidate); err != nil {
			return err
		}
	}
	if id, err = s.post(s.a, write); err != nil {
		return err
	}
	if _, err := s.fails(s.a, id, verbs.StatusRemoteAccess); err != nil {
		return fmt.Errorf("write through an invalidated key: %w", err)
	}
	return nil
}
