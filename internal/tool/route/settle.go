package route

import (
	"context"

	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/umad"
)

// A managerWatch detects whether the subnet manager sends packets during a table read. A
// manager without packets has not written a table. The SMInfo count advances with the
// manager's work (InfiniBand Architecture, Volume 1, 14.2.5.13); opensm's count is the
// number of its subnet management packets, with its replies to SMInfo (osm_sminfo_rcv.c).
type managerWatch struct {
	client  *umad.Client
	manager umad.Target
	known   bool // the manager responds
	count   uint32
	reply   uint32 // advance of the count by one reply: 0 or 1
}

// watchManager begins to watch the manager. Without a manager, or if it does not respond,
// the watch detects nothing.
func (s *session) watchManager(ctx context.Context) (*managerWatch, error) {
	to, err := s.manager()
	w := &managerWatch{client: s.client, manager: to}
	if err != nil {
		return w, nil
	}
	first, ok, err := w.read(ctx)
	if err != nil || !ok {
		return w, err
	}
	if w.count, w.known, err = w.read(ctx); w.count != first {
		w.reply = 1
	}
	return w, err
}

// manager returns the subnet administration address if the port with its LID has a
// subnet manager, otherwise ErrNoSM.
func (s *session) manager() (umad.Target, error) {
	to, err := s.administration()
	if err != nil {
		return to, err
	}
	for _, n := range s.fabric.Nodes {
		for _, p := range n.Ports {
			if p == nil || p.LID() != to.LID {
				continue
			}
			if caps := p.Caps(); caps != nil && caps.CapMask.Has(mad.CapSM) {
				return to, nil
			}
		}
	}
	return to, umad.ErrNoSM
}

// read requests the count. It reports false if there is no reply.
func (w *managerWatch) read(ctx context.Context) (count uint32, ok bool, err error) {
	var info mad.SMInfo
	w.client.SubmitGet(umad.Target{LID: w.manager.LID}, &info, func(err error) { ok = err == nil })
	err = w.client.Run(ctx)
	return info.ActCount, ok, err
}

// active reports whether the manager has sent packets, other than replies to the watch,
// since the last call.
func (w *managerWatch) active(ctx context.Context) (bool, error) {
	if !w.known {
		return false, nil
	}
	count, ok, err := w.read(ctx)
	if err != nil || !ok {
		return false, err
	}
	sent := count - w.count
	w.count = count
	return sent > w.reply, nil
}

// settle reads the tables again while the manager is active, until two reads have the same
// tables: parts of old and new tables do not belong together. Switches that differ in the
// last read are the routing's changing switches.
func (s *session) settle(ctx context.Context, w *managerWatch) error {
	var changed []*Node
	for read := 1; ; read++ {
		active, err := w.active(ctx)
		switch {
		case err != nil || !active:
			return err
		case read == maxReads:
			s.routing.Changing = changed
			return nil
		}
		if changed, err = s.readAgain(ctx, s.read.switches(s.routing)); err != nil || len(changed) == 0 {
			return err
		}
	}
}
