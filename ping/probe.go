package ping

import (
	"github.com/ibkit/ibkit/internal/inflight"
)

// probe is an attempt that was sent.
type probe struct {
	target  *Target
	seq     int
	attempt uint8 // from 1
}

type entry = inflight.Entry[probe]

func newSent(firstID uint32) *inflight.Tracker[probe] { return inflight.New[probe](firstID) }
