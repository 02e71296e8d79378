package perftest

import "fmt"

// Verb is what a test does.
type Verb uint8

// Verbs of the programs.
const (
	Send Verb = iota
	Write
	Read
	Atomic
)

var verbNames = [...]string{Send: "send", Write: "write", Read: "read", Atomic: "atomic"}

// String returns the verb as it is in a program's name.
func (v Verb) String() string {
	if int(v) < len(verbNames) {
		return verbNames[v]
	}
	return fmt.Sprintf("verb %d", uint8(v))
}

// An Order is what the order of exchanges depends on.
type Order struct {
	Verb          Verb
	Bandwidth     bool  // else latency
	Bidirectional bool  // -b, of bandwidth
	Sizes         []int // bytes; several with -a
	All           bool  // -a, even where that leaves one size
	Timed         bool  // -D
}

// Program returns the name of the program that does the test.
func (o Order) Program() string {
	if o.Bandwidth {
		return fmt.Sprintf("ib_%v_bw", o.Verb)
	}
	return fmt.Sprintf("ib_%v_lat", o.Verb)
}

// Both tells whether both sides have something to do, and not the client alone.
func (o Order) Both() bool {
	switch {
	case o.Verb == Send:
		return true
	case o.Bandwidth:
		return o.Bidirectional
	}
	return o.Verb == Write // each answers a write with one
}

// A Side is what a session does with the queue pairs between exchanges.
type Side interface {
	// Connect brings the queue pairs to where they can send.
	Connect(remote []Key) error

	// Ready has what the other side may send next received: of tests that send.
	Ready(size int) error

	// Run does the test with one size. Of tests of bandwidth it returns this
	// side's figures.
	Run(size int) (Report, error)
}

// Session exchanges all that the test wants, has the side do what comes between,
// and tells done of each size's end with the other side's figures, where it sends
// some. Keys are of this side's queue pairs. Begin comes before.
func (c *Conn) Session(o Order, keys []Key, side Side, done func(size int, theirs *Report)) error {
	// Latency by other verbs than send begins in step.
	if !o.Bandwidth && o.Verb != Send {
		if err := c.Sync(keys[0], false); err != nil {
			return err
		}
	}
	remote, err := c.exchangeAll(keys)
	if err != nil {
		return err
	}
	if err := side.Connect(remote); err != nil {
		return err
	}
	// Nothing is learnt by the second time, but that the queue pairs are there.
	if o.Verb == Send {
		if err := c.Sync(keys[0], false); err != nil {
			return err
		}
	}
	if _, err := c.exchangeAll(keys); err != nil {
		return err
	}
	if o.Verb != Send {
		if err := c.Sync(keys[0], false); err != nil {
			return err
		}
	}
	if err := c.sizes(o, keys[0], side, done); err != nil {
		return err
	}
	// ib_write_lat just hangs up, and the queue pair of this side has to answer it
	// until then.
	if !o.Bandwidth && o.Verb == Write {
		return c.hangUp()
	}
	// The server of a test that the client does alone has waited since it began.
	return c.Sync(keys[0], !c.client && !o.Both())
}

func (c *Conn) exchangeAll(keys []Key) ([]Key, error) {
	remote := make([]Key, len(keys))
	for i, k := range keys {
		var err error
		if remote[i], err = c.ExchangeKeys(k); err != nil {
			return nil, err
		}
		if mapped := remote[i].GID.Is4In6(); mapped != k.GID.Is4In6() {
			return nil, fmt.Errorf("%v uses the GID %v and this side %v: either both are of IPv4 addresses or none is", c.conn.RemoteAddr(), remote[i].GID, k.GID)
		}
	}
	return remote, nil
}

// sizes runs the test for each size.
func (c *Conn) sizes(o Order, key Key, side Side, done func(int, *Report)) error {
	var last Report
	for _, size := range o.Sizes {
		if o.Verb == Send {
			if err := side.Ready(size); err != nil {
				return err
			}
		}
		if o.stepped() {
			if err := c.Sync(key, false); err != nil {
				return err
			}
		}
		var err error
		if c.client || o.Both() {
			if last, err = side.Run(size); err != nil {
				return err
			}
		}
		theirs, err := c.after(o, key, last)
		if err != nil {
			return err
		}
		if c.client || o.Both() {
			done(size, theirs)
		}
	}
	if !o.Bandwidth || o.Both() {
		return nil
	}
	// The server waited until here, and gets the last figures.
	if err := c.Sync(key, !c.client); err != nil {
		return err
	}
	theirs, err := c.ExchangeReports(last)
	if err == nil && !c.client {
		done(int(theirs.Size), &theirs)
	}
	return err
}

// stepped tells whether both sides begin each size in step.
func (o Order) stepped() bool { return o.Verb == Send || o.Bandwidth && o.Bidirectional }

// after does what follows a size's run.
func (c *Conn) after(o Order, key Key, ours Report) (*Report, error) {
	sync := o.All && o.stepped() && o.Bandwidth && o.Verb != Atomic
	// ib_send_bw syncs after the figures, others before them.
	if sync && o.Verb != Send {
		if err := c.Sync(key, false); err != nil {
			return nil, err
		}
	}
	var theirs *Report
	if o.Bandwidth && o.Bidirectional && (o.Verb != Send || !o.Timed) {
		r, err := c.ExchangeReports(ours)
		if err != nil {
			return nil, err
		}
		theirs = &r
	}
	if sync && o.Verb == Send {
		if err := c.Sync(key, false); err != nil {
			return nil, err
		}
	}
	return theirs, nil
}
