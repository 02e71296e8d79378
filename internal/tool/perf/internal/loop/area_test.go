package loop

import (
	"errors"
	"testing"
	"time"

	"github.com/ibkit/ibkit/verbs"
)

// gpu is memory that the processor reads and writes by copies only.
type gpu struct {
	memory, copy []byte
	fault        error
}

func (g *gpu) Begin(at, length int) error {
	copy(g.copy[at:at+length], g.memory[at:])
	return g.fault
}

func (g *gpu) End(at, length int) error {
	copy(g.memory[at:at+length], g.copy[at:])
	return g.fault
}

// share moves an area to memory of a GPU, behind that of another queue pair.
func share(a *Area) *gpu {
	a.Offset = 100
	g := &gpu{memory: make([]byte, a.Offset+len(a.Bytes)), copy: make([]byte, a.Offset+len(a.Bytes))}
	a.Bytes, a.Shared = g.copy[a.Offset:], g
	return g
}

// Payloads in memory that the processor does not address are written, checked, and found
// corrupt.
func TestShared(t *testing.T) {
	for _, test := range []struct {
		name string
		op   verbs.Opcode
		run  func(*testing.T, *echo) error
	}{
		{"send-lat", verbs.OpSend, func(t *testing.T, e *echo) error {
			p := &PingPong{Flow: e.flow, CQ: e, Supervisor: supervise(t, time.Minute), Depth: 16, Plan: Plan{Count: 100}}
			return p.LeadSends()
		}},
		{"read-lat", verbs.OpRead, func(t *testing.T, e *echo) error {
			p := &PingPong{Flow: e.flow, CQ: e, Supervisor: supervise(t, time.Minute), Depth: 16, Plan: Plan{Count: 100}}
			return p.Single()
		}},
		{"read-bw", verbs.OpRead, func(t *testing.T, e *echo) error {
			s := &Stream{Flows: []*QPFlow{e.flow}, CQ: e, Supervisor: supervise(t, time.Minute), Depth: 16, List: 1, Moderation: 4, Plan: Plan{Count: 100}}
			return s.Run()
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			e := newEcho(100, 1, test.op)
			out, in := share(&e.flow.Out), share(&e.flow.In)
			e.out, e.in = out.memory[100:], in.memory[100:]
			e.flow.Verify = true
			run := func() error {
				e.flow.Prepare(0, 1)
				e.done, e.receives, e.flow.RecvPosted = nil, nil, 0
				if err := e.flow.Receive(4); err != nil {
					t.Fatal(err)
				}
				return test.run(t, e)
			}
			if err := errors.Join(e.flow.FillTarget(), run()); err != nil {
				t.Error(err)
			}
			for i := range e.in {
				e.in[i] ^= 1
			}
			e.damage = true
			if err := run(); !errors.Is(err, ErrCorrupt) {
				t.Errorf("damaged payload: got error %v, want %v", err, ErrCorrupt)
			}
			in.fault = errors.New("lost")
			out.fault = in.fault
			if err := run(); !errors.Is(err, in.fault) {
				t.Errorf("lost memory: got error %v, want %v", err, in.fault)
			}
		})
	}
}
