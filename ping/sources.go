package ping

import (
	"fmt"
	"time"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/umad"
)

// maxSources is the maximum number of sources that a server counts separately at a port. It
// bounds the memory that senders with many addresses can use.
const maxSources = 4096

// A Source is a ping sender.
type Source struct {
	LID ib.LID // 0 if the packets have a global route header
	GID ib.GID // zero if they have none
}

func sourceOf(a *umad.Addr) Source {
	if a.GRH != nil {
		return Source{GID: a.GRH.DGID}
	}
	return Source{LID: a.LID}
}

// String returns "LID 7", or the GID as an IPv6 address.
func (s Source) String() string {
	if !s.GID.IsZero() {
		return s.GID.String()
	}
	return fmt.Sprintf("LID %d", s.LID)
}

// A source is the server's record for a Source.
type source struct {
	from        Source
	counts      Counts
	first, last time.Duration // since the server was made

	tokens   float64 // replies that the source may get at once
	refilled time.Duration

	newer, older *source // by last
	backlog
}

// allow consumes a token if one is left. Tokens are added at a rate, and at most one
// second's tokens are kept.
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

// sources are a port's most recent sources.
type sources struct {
	bySource       map[Source]*source
	newest, oldest *source

	forgotten       uint64
	forgottenCounts Counts
}

// get returns the record for a source that sent a packet now.
func (t *sources) get(from Source, now time.Duration, rate float64) *source {
	s := t.bySource[from]
	switch s {
	case nil:
		s = t.newSource()
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

// newSource returns a record to be filled. At the limit it reuses the record of the least
// recent source without a backlog. Such a source exists because fewer pings can wait than
// there are sources.
func (t *sources) newSource() *source {
	if len(t.bySource) < maxSources {
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
