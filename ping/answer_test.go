package ping

import (
	"errors"
	"fmt"
	"testing"

	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/sim"
	"github.com/ibkit/ibkit/umad"
	"github.com/ibkit/ibkit/umad/umadtest"
)

func TestListenForAnswers(t *testing.T) {
	broken := errors.New("broken")
	tests := []struct {
		name   string
		taken  int   // methods used by other programs
		err    error // with other methods
		method mad.Method
		want   error
	}{
		{"no other program", 0, nil, 0x40, nil},
		{"three other programs", 3, nil, 0x43, nil},
		{"all but one", 63, nil, 0x7f, nil},
		{"all", 64, nil, 0, umad.ErrTaken},
		{"other error", 1, broken, 0, broken},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := &umadtest.Port{OnListen: func(s umad.Service) error {
				if s.Class != class || s.ClassVersion != 1 || s.OUI != OUI || len(s.Methods) != 1 {
					return fmt.Errorf("unexpected service %+v", s)
				}
				if tt.taken--; tt.taken >= 0 {
					return umad.ErrTaken
				}
				return tt.err
			}}
			if m, err := ListenForAnswers(p, OUI); m != tt.method || !errors.Is(err, tt.want) {
				t.Errorf("got method %v, error %v, want %v, %v", m, err, tt.method, tt.want)
			}
		})
	}
}

func TestListenForAnswers_NoResponder(t *testing.T) {
	f, err := sim.Build("demo")
	if err != nil {
		t.Fatal(err)
	}
	p, err := f.Open("")
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	if m, err := ListenForAnswers(p, OUI); err == nil {
		t.Errorf("got method %v, want an error", m)
	}
}
