package perftest

import "fmt"

// Verb is the operation of a test.
type Verb uint8

// Operations of the programs.
const (
	Send Verb = iota
	Write
	Read
	Atomic
)

var verbNames = [...]string{Send: "send", Write: "write", Read: "read", Atomic: "atomic"}

// String returns the verb as in the name of a program.
func (v Verb) String() string {
	if int(v) < len(verbNames) {
		return verbNames[v]
	}
	return fmt.Sprintf("verb %d", uint8(v))
}

// An Order holds the properties of a test that determine the order of exchanges.
type Order struct {
	Verb          Verb
	Imm           bool  // --write_with_imm: each write has immediate data
	Bandwidth     bool  // otherwise latency
	Bidirectional bool  // -b of bandwidth
	Sizes         []int // bytes; several with -a
	All           bool  // -a, even if it results in a single size
	Timed         bool  // -D
	Infinite      bool  // --run_infinitely: until the end of the context
	Reversed      bool  // --reversed: the server is the active side
	WarmUp        bool  // --perform_warm_up, which does not concern the peer
}

// leads reports whether a side is the active side.
func (o Order) leads(client bool) bool { return client != o.Reversed }

// Consumes reports whether each message consumes a receive.
func (o Order) Consumes() bool { return o.Verb == Send || o.Imm }

// Program returns the name of the program that runs the test.
func (o Order) Program() string {
	if o.Bandwidth {
		return fmt.Sprintf("ib_%v_bw", o.Verb)
	}
	return fmt.Sprintf("ib_%v_lat", o.Verb)
}

// Both reports whether both sides run loops, and not the client alone.
func (o Order) Both() bool {
	switch {
	case o.Consumes():
		return true
	case o.Bandwidth:
		return o.Bidirectional
	}
	return o.Verb == Write // each write is answered by a write
}

// A participant runs the parts of a test between exchanges.
type participant interface {
	// connect connects the queue pairs.
	connect(remote []Key) error

	// connected is called when the peer has confirmed the connection.
	connected()

	// ready posts receives for the next size, in tests that consume them, or warms up.
	ready(size int) error

	// run measures a size. For bandwidth it returns this side's figures.
	run(size int) (Report, error)

	// hangUp ends the connection when there is no last synchronization.
	hangUp() error
}

// session runs all exchanges of a test after begin, with the parts of s between them.
// It calls done after each size, with the peer's figures if there are any. The keys are
// the local queue pairs' keys.
func (c *conn) session(o Order, keys []Key, s participant, done func(size int, theirs *Report)) error {
	// Latency tests of verbs other than send start with a synchronization.
	if !o.Bandwidth && o.Verb != Send {
		if err := c.sync(keys[0], false); err != nil {
			return err
		}
	}
	remote, err := c.exchangeAll(keys)
	if err != nil {
		return err
	}
	if err := s.connect(remote); err != nil {
		return err
	}
	// The second exchange only confirms that the queue pairs are connected.
	if o.Verb == Send {
		if err := c.sync(keys[0], false); err != nil {
			return err
		}
	}
	if _, err := c.exchangeAll(keys); err != nil {
		return err
	}
	s.connected()
	if o.Verb != Send {
		if err := c.sync(keys[0], false); err != nil {
			return err
		}
	}
	if err := c.sizes(o, keys[0], s, done); err != nil {
		return err
	}
	// ib_write_lat only closes the connection. The local queue pair must acknowledge
	// its last message until then.
	if !o.Bandwidth && o.Verb == Write {
		return s.hangUp()
	}
	// A passive server waits here from the beginning.
	return c.sync(keys[0], !o.leads(c.client) && !o.Both())
}

func (c *conn) exchangeAll(keys []Key) ([]Key, error) {
	remote := make([]Key, len(keys))
	for i, k := range keys {
		var err error
		if remote[i], err = c.exchangeKeys(k); err != nil {
			return nil, err
		}
		if mapped := remote[i].GID.Is4In6(); mapped != k.GID.Is4In6() && !c.managed {
			return nil, fmt.Errorf("the peer %v uses GID %v and this side %v: either both or neither must be an IPv4 address", c.link.RemoteAddr(), remote[i].GID, k.GID)
		}
	}
	return remote, nil
}

// sizes runs the test for each size.
func (c *conn) sizes(o Order, key Key, s participant, done func(int, *Report)) error {
	var last Report
	active := o.leads(c.client) || o.Both()
	for _, size := range o.Sizes {
		if o.Consumes() || o.WarmUp && o.Bandwidth && active {
			if err := s.ready(size); err != nil {
				return err
			}
		}
		if o.stepped() {
			if err := c.sync(key, false); err != nil {
				return err
			}
		}
		var err error
		if active {
			if last, err = s.run(size); err != nil {
				return err
			}
		}
		theirs, err := c.afterSize(o, key, last)
		if err != nil {
			return err
		}
		if active {
			done(size, theirs)
		}
	}
	if !o.Bandwidth || o.Both() {
		return nil
	}
	// A passive server waits here and receives the figures of the last size.
	if err := c.sync(key, !active); err != nil {
		return err
	}
	theirs, err := c.exchangeReports(last)
	if err == nil && !active {
		done(int(theirs.Size), &theirs)
	}
	return err
}

// stepped reports whether both sides synchronize before each size.
func (o Order) stepped() bool {
	return o.Consumes() || o.Bandwidth && o.Bidirectional && !o.Infinite
}

// afterSize runs the exchanges after a size.
func (c *conn) afterSize(o Order, key Key, ours Report) (*Report, error) {
	synced := o.All && o.stepped() && o.Bandwidth && o.Verb != Atomic
	// ib_send_bw synchronizes after the figures, the other programs before them.
	if synced && o.Verb != Send {
		if err := c.sync(key, false); err != nil {
			return nil, err
		}
	}
	var theirs *Report
	if o.Bandwidth && o.Bidirectional && (!o.Consumes() || !o.Timed) {
		r, err := c.exchangeReports(ours)
		if err != nil {
			return nil, err
		}
		theirs = &r
	}
	if synced && o.Verb == Send {
		if err := c.sync(key, false); err != nil {
			return nil, err
		}
	}
	return theirs, nil
}
