package ping

import (
	"fmt"
	"net/netip"
	"time"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/umad"
)

// MaxSources is how many sources of pings a server keeps apart at a port. Who
// can send from more addresses than that gets no more memory of it.
const MaxSources = 4096

// A Source is where pings come from.
type Source struct {
	LID ib.LID   // 0 where they have a global route header
	GID [16]byte // else all 0
}

func sourceOf(a *umad.Addr) Source {
	if a.GRH != nil {
		return Source{GID: a.GRH.DGID}
	}
	return Source{LID: a.LID}
}

// String returns "LID 7", or the GID as an IPv6 address.
func (s Source) String() string {
	if s.GID != [16]byte{} {
		return netip.AddrFrom16(s.GID).String()
	}
	return fmt.Sprintf("LID %d", s.LID)
}

// A source is what a server keeps of where pings came from.
type source struct {
	from        Source
	counts      Counts
	first, last time.Duration // since the server was made

	tokens   float64 // how many answers it may have at once
	refilled time.Duration

	newer, older *source // by last
	line
}

// allow takes a token, where there is one left. Tokens come in at a rate, to as
// many as come in within a second.
func (s *source) allow(now time.Duration, rate float64) bool {
	if rate <= 0 {
		return true
	}
	s.tokens = min(s.tokens+(now-s.refilled).Seconds()*rate, max(rate, 1))
	s.refilled = now
	if s.tokens < 1 {
		return false
	}
	s.tokens--
	return true
}

// sources are those that were heard of last.
type sources struct {
	bySource       map[Source]*source
	newest, oldest *source

	forgotten       uint64
	forgottenCounts Counts
}

// of returns what is kept of a source, which was just heard of.
func (t *sources) of(from Source, now time.Duration, rate float64) *source {
	s := t.bySource[from]
	switch s {
	case nil:
		s = t.make()
		*s = source{from: from, first: now, tokens: max(rate, 1), refilled: now}
		t.bySource[from] = s
	case t.newest:
		s.last = now
		return s
	default:
		t.unlink(s)
	}
	s.last = now
	s.older = t.newest
	if t.newest != nil {
		t.newest.newer = s
	} else {
		t.oldest = s
	}
	t.newest = s
	return s
}

// make returns room for a source. Where there is none it forgets the one that
// was not heard of for longest and has nothing waiting: there is one, for less
// can wait than there are sources.
func (t *sources) make() *source {
	if len(t.bySource) < MaxSources {
		return new(source)
	}
	s := t.oldest
	for s.waiting > 0 {
		s = s.newer
	}
	t.forgotten++
	t.forgottenCounts.add(&s.counts)
	t.unlink(s)
	delete(t.bySource, s.from)
	return s
}

func (t *sources) unlink(s *source) {
	if s.newer != nil {
		s.newer.older = s.older
	} else {
		t.newest = s.older
	}
	if s.older != nil {
		s.older.newer = s.newer
	} else {
		t.oldest = s.newer
	}
	s.newer, s.older = nil, nil
}
