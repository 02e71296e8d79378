package ping

import "time"

// Counts are the pings that a server received, by outcome.
type Counts struct {
	Received uint64 // well-formed pings: the sum of the others and the waiting pings
	Answered uint64
	Limited  uint64 // not answered: the source exceeds its rate
	Dropped  uint64 // not answered: the queue was full, and the source had the largest share
	Failed   uint64 // not answered: the reply could not be sent
}

func (c *Counts) add(d *Counts) {
	c.Received += d.Received
	c.Answered += d.Answered
	c.Limited += d.Limited
	c.Dropped += d.Dropped
	c.Failed += d.Failed
}

// A ServedPort is a port at which a server answers pings.
type ServedPort struct {
	Device string
	Port   uint8
}

// A SourceCount has the ping counts for a source at a port.
type SourceCount struct {
	ServedPort
	From Source
	Counts
	First, Last time.Time // first and last ping arrival
}

// ServeCounts are the ping counts of a server so far.
type ServeCounts struct {
	Name     string // of the server, sent in replies
	Began    time.Time
	Duration time.Duration // since NewServer
	Ports    []ServedPort
	Total    Counts
	Ignored  uint64 // packets that are not pings

	// Sources are the most recent sources at each port, sorted by descending ping count.
	Sources []SourceCount

	// Forgotten is the number of sources that were removed from Sources in favour of more
	// recent sources. Their pings are in Total. A source that comes back is counted again.
	Forgotten uint64
}
