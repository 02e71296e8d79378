package ping

import (
	"errors"
	"fmt"
	"testing"

	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/sim"
	"github.com/ibkit/ibkit/umad"
)

// takenPort has other programs at it that have taken some methods.
type takenPort struct {
	umad.Port
	taken int
	err   error
}

func (p *takenPort) Listen(s umad.Service) error {
	if s.Class != Class || s.ClassVersion != 1 || s.OUI != OUI || len(s.Methods) != 1 {
		return fmt.Errorf("asked for %+v", s)
	}
	if p.taken > 0 {
		p.taken--
		return umad.ErrTaken
	}
	return p.err
}

func TestListenForAnswers(t *testing.T) {
	broken := errors.New("broken")
	for _, test := range []struct {
		port   takenPort
		method mad.Method
		err    error
	}{
		{takenPort{}, 0x40, nil},
		{takenPort{taken: 3}, 0x43, nil},
		{takenPort{taken: 63}, 0x7f, nil},
		{takenPort{taken: 64}, 0, umad.ErrTaken},
		{takenPort{taken: 1, err: broken}, 0, broken},
	} {
		m, err := ListenForAnswers(&test.port, OUI)
		if m != test.method || !errors.Is(err, test.err) {
			t.Errorf("%+v: got %v, %v", test.port, m, err)
		}
	}
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
		t.Errorf("a port that listens for nothing: method %v", m)
	}
}
