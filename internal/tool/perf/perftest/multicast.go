package perftest

import (
	"errors"
	"fmt"
	"net/netip"

	"github.com/ibkit/ibkit/internal/tool/perf/internal/multicast"
	"github.com/ibkit/ibkit/verbs"
)

// A Multicast is the group of the receivers of a side.
type Multicast struct {
	// Group is the GID of the group (-M); invalid: that of the programs, which differs
	// between server and client.
	Group netip.Addr
}

// defaultGroup is the group of a server (MCG_GID of perftest's src/multicast_resources.h).
var defaultGroup = netip.AddrFrom16([16]byte{0xff, 0x01, 0, 0, 0, 2, 0xc9, 0x85})

// group returns the group of a side.
func (m *Multicast) group(client bool) netip.Addr {
	switch {
	case m.Group.IsValid():
		return m.Group
	case client:
		return defaultGroup.Next()
	}
	return defaultGroup
}

// checkMulticast returns an error if a test does not support multicast.
func (t *Test) checkMulticast() error {
	switch {
	case t.Multicast == nil:
		return nil
	case t.Verb != Send || t.Type != verbs.QPTypeUD:
		return fmt.Errorf("multicast of %v over %v: want datagrams", t.Verb, t.Type)
	case t.Bidirectional || t.QueuePairs > 1:
		return errors.New("multicast in both directions or of several queue pairs: not supported by the programs")
	}
	if g := t.Multicast.Group; g.IsValid() {
		return multicast.Check(g)
	}
	return nil
}

// joinGroup attaches the queue pair of a side that receives to its group. The key of the
// queue pair becomes that of the group.
func (s *Session) joinGroup(key *Key) error {
	group := s.test.Multicast.group(s.o.Client)
	if s.choice.Port.Context.Driver() == verbs.DriverRXE && s.choice.Local.Type == verbs.GIDTypeRoCEv2 && group.IsInterfaceLocalMulticast() {
		return fmt.Errorf("use group %v: %w", group, multicast.ErrScope)
	}
	if s.receives() == 0 {
		return nil
	}
	member, err := multicast.Join(s.choice.Port, s.choice.Index, group)
	if err != nil {
		return err
	}
	s.members = append(s.members, member)
	key.GID, key.LID, key.QPN = group, 0, multicast.QPN
	return member.Attach(s.end.QPs()[0].QP)
}
