package umad

import "time"

// A batchPort is a Port with a transport that carries several MADs per system call.
type batchPort interface {
	Port

	// SendBatch sends messages in order, without waiting, and returns the count of
	// messages sent. If that is less than len(m), the error is the error that Send would
	// have returned for the first message not sent.
	SendBatch(m []Message) (int, error)

	// RecvBatch fills m with the MADs that have arrived and returns their
	// number. It waits for the first MAD as Recv does.
	RecvBatch(m []Message, deadline time.Time) (int, error)
}

// batchSize is the maximum MAD count that a client passes to a port per call.
const batchSize = 32

// batchesOf returns p as a batchPort.
func batchesOf(p Port) batchPort {
	if b, ok := p.(batchPort); ok {
		return b
	}
	return singlePort{p}
}

// singlePort makes a batchPort of a Port that carries a single MAD per system call. It
// receives MADs singly, because an attempt to receive another costs a system call that
// finds nothing most of the time.
type singlePort struct{ Port }

func (p singlePort) SendBatch(m []Message) (int, error) {
	for i := range m {
		if err := p.Send(&m[i]); err != nil {
			return i, err
		}
	}
	return len(m), nil
}

func (p singlePort) RecvBatch(m []Message, deadline time.Time) (int, error) {
	if err := p.Recv(&m[0], deadline); err != nil {
		return 0, err
	}
	return 1, nil
}
