package umadtest

import (
	"context"
	"time"

	"github.com/ibkit/ibkit/umad"
)

// A Tamper loses and changes ports' messages. Its fields may be changed between two
// client runs.
type Tamper struct {
	Lose  func(*umad.Message) bool // do not send the message
	Alter func(*umad.Message)      // change a message that was received
}

// Port wraps p: the Tamper loses and changes its messages.
func (t *Tamper) Port(p umad.Port) umad.Port { return &tamperedPort{p, t} }

// Opener returns a function that opens a port with open, and returns it as Port does.
func (t *Tamper) Opener(open func(name string) (umad.Port, error)) func(context.Context) (umad.Port, error) {
	return func(context.Context) (umad.Port, error) {
		p, err := open("")
		if err != nil {
			return nil, err
		}
		return t.Port(p), nil
	}
}

type tamperedPort struct {
	umad.Port
	tamper *Tamper
}

func (p *tamperedPort) Send(m *umad.Message) error {
	if p.tamper.Lose != nil && p.tamper.Lose(m) {
		return nil
	}
	return p.Port.Send(m)
}

func (p *tamperedPort) Recv(m *umad.Message, deadline time.Time) error {
	err := p.Port.Recv(m, deadline)
	if err == nil && p.tamper.Alter != nil {
		p.tamper.Alter(m)
	}
	return err
}
