package ping

import "time"

// Counts are what became of the pings that a server got.
type Counts struct {
	Received uint64 // well-formed ones; each of them is, or will be, in one of those below
	Answered uint64
	Limited  uint64 // left unanswered because the source sent more than it may
	Dropped  uint64 // left unanswered because too much was waiting, most of it the source's
	Failed   uint64 // the answer could not be sent
}

func (c *Counts) add(d *Counts) {
	c.Received += d.Received
	c.Answered += d.Answered
	c.Limited += d.Limited
	c.Dropped += d.Dropped
	c.Failed += d.Failed
}

// A ServedPort is a port that a server answered pings at.
type ServedPort struct {
	Device string
	Port   uint8
}

// A SourceCount is what a server got at a port from one source.
type SourceCount struct {
	Device string // of the server's port
	Port   uint8

	From Source
	Counts
	First, Last time.Time // when its first and its last ping came in
}

// ServeCounts are what a server did so far.
type ServeCounts struct {
	Name    string        // what the server calls itself
	Took    time.Duration // since the server was made
	Ports   []ServedPort
	Total   Counts
	Ignored uint64 // packets that are no ping

	// Sources are those heard of last, the one with most pings first. A server
	// keeps [MaxSources] apart at each port.
	Sources []SourceCount

	// Forgotten is how many sources are in Total only, because others were heard
	// of later. A source that comes again after that counts again.
	Forgotten uint64
}
