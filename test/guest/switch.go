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

// A Switch joins guests in this process. It forwards a frame by its destination address,
// and has a queue for each port.
type Switch struct {
	lock    sync.Mutex
	cables  []Cable
	wires   []net.Conn
	queues  []chan []byte
	running sync.WaitGroup
}

// NewSwitch returns a switch with cables, by guest from 0.
func NewSwitch(cables ...Cable) *Switch { return &Switch{cables: cables} }

// SetCable replaces a cable.
func (s *Switch) SetCable(guest int, c Cable) {
	s.lock.Lock()
	defer s.lock.Unlock()
	s.cables[guest] = c
}

// cable returns the present properties of a cable.
func (s *Switch) cable(guest int) Cable {
	s.lock.Lock()
	defer s.lock.Unlock()
	return s.cables[guest]
}

// A Cable is the link between a guest and a [Switch].
type Cable struct {
	Rate float64 // bits per second in each direction
	Loss float64 // share of lost frames in each direction
}

// queueLength is the number of frames that wait for a cable at most; further frames are lost.
const queueLength = 4096

// connect returns the guest's end of the next cable.
func (s *Switch) connect() (*os.File, error) {
	ours, theirs, err := socketPair()
	if err != nil {
		return nil, err
	}
	defer ours.Close() // net.FileConn has its own
	wire, err := net.FileConn(ours)
	if err != nil {
		return nil, errors.Join(err, theirs.Close())
	}
	in, out := make(chan []byte, queueLength), make(chan []byte, queueLength)
	s.lock.Lock()
	defer s.lock.Unlock()
	s.wires, s.queues = append(s.wires, wire), append(s.queues, out)
	from := len(s.wires) - 1
	s.running.Go(func() { receive(wire, in) })
	s.running.Go(func() {
		s.carry(from, in, func(frame []byte) error { s.forward(from, frame); return nil })
	})
	s.running.Go(func() { s.carry(from, out, func(frame []byte) error { return send(wire, frame) }) })
	return theirs, nil
}

// Close ends the switch.
func (s *Switch) Close() {
	s.lock.Lock()
	for _, w := range s.wires {
		_ = w.Close()
	}
	for _, q := range s.queues {
		close(q)
	}
	s.queues = make([]chan []byte, len(s.queues)) // nil: frames are lost
	s.lock.Unlock()
	s.running.Wait()
}

// receive queues the frames of a guest, each after its length, until the wire ends.
func receive(wire net.Conn, to chan<- []byte) {
	defer close(to)
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
		queue(to, frame)
	}
}

// Frame sizes in bytes.
const (
	minFrame = 14
	maxFrame = 128 << 10 // with segmentation by the device
)

// queue adds a frame unless the queue is full.
func queue(to chan<- []byte, frame []byte) {
	select {
	case to <- frame:
	default:
	}
}

// send sends a frame to a guest.
func send(wire net.Conn, frame []byte) error {
	_, err := wire.Write(append(binary.BigEndian.AppendUint32(nil, uint32(len(frame))), frame...))
	return err
}

// forward queues a frame for the guest with the number in the last byte of its destination address, or for all
// others.
func (s *Switch) forward(from int, frame []byte) {
	s.lock.Lock()
	defer s.lock.Unlock()
	for to, q := range s.queues {
		if to != from && (frame[0]&1 != 0 || int(frame[5]) == to+1) {
			queue(q, frame)
		}
	}
}

// burst is the time for which a cable makes up, after a busy machine delayed it.
const burst = 50 * time.Millisecond

// carry passes frames on at the rate of a guest's cable, until the queue closes or do fails.
// It loses some.
func (s *Switch) carry(guest int, frames <-chan []byte, do func([]byte) error) {
	next := time.Now()
	for frame := range frames {
		c := s.cable(guest)
		if earliest := time.Now().Add(-burst); next.Before(earliest) {
			next = earliest
		}
		next = next.Add(time.Duration(float64(8*len(frame)) / c.Rate * float64(time.Second)))
		time.Sleep(time.Until(next))
		if rand.Float64() < c.Loss {
			continue
		}
		if do(frame) != nil {
			return
		}
	}
}
