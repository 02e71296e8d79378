package guest

import (
	"bufio"
	"encoding/binary"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"sync"
	"time"
)

// A Switch joins guests in this process, or is the switches of a network with a route between
// each two plugs. It forwards a frame by its destination address. A frame for all stays on its
// rail.
type Switch struct {
	lock    sync.Mutex
	wires   map[Plug]net.Conn
	all     Cable // of wires without their own
	lines   map[any]*line
	route   func(from, to Plug) []string
	over    chan struct{}
	running sync.WaitGroup
}

// A Plug is the end of a guest's wire.
type Plug struct{ Guest, Rail int } // the guest from 1, the rail from 0

// A Cable is a link in a direction.
type Cable struct {
	Rate float64 // bits per second
	Loss float64 // share of lost frames
}

// NewSwitch returns a switch with equal cables in both directions. route returns the trunks
// between plugs; nil: none.
func NewSwitch(all Cable, route func(from, to Plug) []string) *Switch {
	return &Switch{all: all, route: route, wires: map[Plug]net.Conn{}, lines: map[any]*line{}, over: make(chan struct{})}
}

// An up is the direction of a cable from a guest, a down that to it.
type (
	up   Plug
	down Plug
)

// SetCable replaces a cable in the directions from and to a guest.
func (s *Switch) SetCable(at Plug, from, to Cable) {
	s.set(up(at), from)
	s.set(down(at), to)
}

// SetTrunk replaces a trunk.
func (s *Switch) SetTrunk(name string, c Cable) { s.set(name, c) }

func (s *Switch) set(key any, c Cable) {
	l := s.line(key)
	s.lock.Lock()
	defer s.lock.Unlock()
	l.cable = c
}

// A line is a cable or trunk in a direction, with frames that wait for it.
type line struct {
	cable Cable
	queue chan parcel
}

// A parcel is a frame with the lines that it passes.
type parcel struct {
	frame []byte
	path  []*line
	to    net.Conn
}

// queueLength is the number of frames that wait for a line at most; further frames are lost.
const queueLength = 4096

// line returns the line with a key, and starts new ones.
func (s *Switch) line(key any) *line {
	s.lock.Lock()
	defer s.lock.Unlock()
	l := s.lines[key]
	if l == nil {
		l = &line{s.all, make(chan parcel, queueLength)}
		s.lines[key] = l
		s.running.Go(func() { s.carry(l) })
	}
	return l
}

// connect returns the guest's end of a new cable.
func (s *Switch) connect(at Plug) (*os.File, error) {
	ours, theirs, err := socketPair()
	if err != nil {
		return nil, err
	}
	defer ours.Close() // net.FileConn has its own
	wire, err := net.FileConn(ours)
	if err != nil {
		return nil, errors.Join(err, theirs.Close())
	}
	s.lock.Lock()
	s.wires[at] = wire
	s.lock.Unlock()
	s.running.Go(func() { s.receive(at, wire) })
	return theirs, nil
}

// Close ends the switch.
func (s *Switch) Close() {
	s.lock.Lock()
	for _, w := range s.wires {
		_ = w.Close()
	}
	s.lock.Unlock()
	close(s.over)
	s.running.Wait()
}

// receive forwards the frames of a guest, each after its length, until the wire ends.
func (s *Switch) receive(from Plug, wire net.Conn) {
	input := bufio.NewReaderSize(wire, 64<<10)
	for {
		var length uint32
		if binary.Read(input, binary.BigEndian, &length) != nil || length < minFrame || length > maxFrame {
			return
		}
		frame := make([]byte, length)
		if _, err := io.ReadFull(input, frame); err != nil {
			return
		}
		s.forward(from, frame)
	}
}

// Frame sizes in bytes.
const (
	minFrame = 14
	maxFrame = 128 << 10 // with segmentation by the device
)

// forward queues a frame for the plug in its destination address, see macAddress, or for all
// others on the rail.
func (s *Switch) forward(from Plug, frame []byte) {
	s.lock.Lock()
	wires := map[Plug]net.Conn{}
	for to, wire := range s.wires {
		isFor := Plug{int(frame[5]), int(frame[4])} == to || frame[0]&1 != 0 && to.Rail == from.Rail
		if to != from && isFor {
			wires[to] = wire
		}
	}
	s.lock.Unlock()
	for to, wire := range wires {
		path := []*line{s.line(up(from))}
		if s.route != nil {
			for _, trunk := range s.route(from, to) {
				path = append(path, s.line(trunk))
			}
		}
		_ = queue(parcel{frame, append(path, s.line(down(to))), wire}) // fails at the end of a path only
	}
}

// queue adds a parcel to the queue of its next line unless that is full, or sends the frame.
func queue(p parcel) error {
	if len(p.path) == 0 {
		_, err := p.to.Write(append(binary.BigEndian.AppendUint32(nil, uint32(len(p.frame))), p.frame...))
		return err
	}
	next := p.path[0]
	p.path = p.path[1:]
	select {
	case next.queue <- p:
	default:
	}
	return nil
}

// burst is the time for which a line makes up, after a busy machine delayed it.
const burst = 50 * time.Millisecond

// carry passes frames on at the rate of a line, until the switch closes. It loses some.
func (s *Switch) carry(l *line) {
	next := time.Now()
	for {
		var p parcel
		select {
		case p = <-l.queue:
		case <-s.over:
			return
		}
		s.lock.Lock()
		c := l.cable
		s.lock.Unlock()
		if earliest := time.Now().Add(-burst); next.Before(earliest) {
			next = earliest
		}
		next = next.Add(time.Duration(float64(8*len(p.frame)) / c.Rate * float64(time.Second)))
		time.Sleep(time.Until(next))
		if rand.Float64() >= c.Loss {
			_ = queue(p) // a guest that has ended loses frames
		}
	}
}
