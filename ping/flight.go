package ping

import "time"

// A flight is one probe that was sent. It is kept after its end until its place
// is needed, so that late and second answers are known for what they are.
type flight struct {
	tid     uint32 // transaction ID, the lower half; the upper one is the kernel's
	state   flightState
	slow    bool // does not count against the window any more
	attempt uint8
	target  *Target
	seq     int
	sent    time.Duration
}

type flightState uint8

const (
	noFlight flightState = iota
	waiting              // for its answer
	givenUp              // lost, and nothing came since
	answered
)

// Transaction IDs are given out in order, so that what was sent first is found
// by counting. An ID's low bits are its place. The places are at least twice as
// many as the probes that wait, and at least firstPlaces.
const firstPlaces = 4096

// flights are the probes that wait and, as far as there is room, those before.
type flights struct {
	places  []flight // a power of two
	next    uint32   // ID
	oldest  uint32   // none before it waits
	quick   uint32   // none before it waits and counts against the window
	waiting int
	held    int // of those waiting, how many count against the window
}

func newFlights(first uint32) flights {
	return flights{places: make([]flight, firstPlaces), next: first, oldest: first, quick: first}
}

func (f *flights) at(tid uint32) *flight { return &f.places[int(tid)&(len(f.places)-1)] }

// find returns the flight with an ID, nil where it is not known, or not any more.
func (f *flights) find(tid uint32) *flight {
	if p := f.at(tid); p.state != noFlight && p.tid == tid {
		return p
	}
	return nil
}

// place returns a place for the next flight. Its ID is set.
func (f *flights) place() *flight {
	if 2*(f.waiting+1) > len(f.places) {
		f.grow()
	}
	// An ID of 0 looks unset to some.
	for f.next == 0 || f.at(f.next).state == waiting {
		f.next++
	}
	p := f.at(f.next)
	*p = flight{tid: f.next}
	return p
}

// take takes in that the flight in the place that was made last was sent.
func (f *flights) take(p *flight) {
	p.state = waiting
	f.next = p.tid + 1
	f.waiting++
	f.held++
}

// end takes in that a flight does not wait any more.
func (f *flights) end(p *flight, s flightState) {
	p.state = s
	f.waiting--
	if !p.slow {
		f.held--
	}
}

// first returns the flight that waits longest, nil: none does.
func (f *flights) first() *flight {
	for ; f.oldest != f.next; f.oldest++ {
		if p := f.find(f.oldest); p != nil && p.state == waiting {
			return p
		}
	}
	return nil
}

// firstQuick returns the one that waits longest of those that count against the
// window, nil: there is none.
func (f *flights) firstQuick() *flight {
	for ; f.quick != f.next; f.quick++ {
		if p := f.find(f.quick); p != nil && p.state == waiting && !p.slow {
			return p
		}
	}
	return nil
}

// release has a flight count against the window no more.
func (f *flights) release(p *flight) {
	p.slow = true
	f.held--
}

// grow doubles the places. Two that shared none before share none after.
func (f *flights) grow() {
	old := f.places
	f.places = make([]flight, 2*len(old))
	for _, p := range old {
		if p.state != noFlight {
			*f.at(p.tid) = p
		}
	}
}
