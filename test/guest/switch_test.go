package guest

import (
	"bytes"
	"net"
	"slices"
	"testing"
)

// join returns the guest's side of a plug.
func join(t *testing.T, s *Switch, at Plug) net.Conn {
	t.Helper()
	file, err := s.connect(at)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	conn, err := net.FileConn(file)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return conn
}

// frameTo returns a frame for a plug with a letter.
func frameTo(to Plug, letter byte) []byte {
	frame := bytes.Repeat([]byte{letter}, minFrame)
	copy(frame, []byte{0x52, 0x54, 0, 0, byte(to.Rail), byte(to.Guest)})
	return append([]byte{0, 0, 0, minFrame}, frame...)
}

// TestSwitch checks that frames pass the trunks to their plug only, and that a trunk and a
// direction of a cable lose them. A frame on a good path follows each that may be lost.
func TestSwitch(t *testing.T) {
	const fast = 1e12
	a, b, c := Plug{1, 0}, Plug{2, 0}, Plug{2, 1}
	s := NewSwitch(Cable{Rate: fast}, func(from, to Plug) []string {
		if from == a && to == b {
			return []string{"trunk"}
		}
		return nil
	})
	t.Cleanup(s.Close)
	atA, atB, atC := join(t, s, a), join(t, s, b), join(t, s, c)
	expect := func(what string, at net.Conn, want byte) {
		t.Helper()
		got := make([]byte, 4+minFrame)
		if n, err := at.Read(got); err != nil || n != len(got) || got[len(got)-1] != want {
			t.Fatalf("%s: got %q, %v, want a frame with %q", what, got[:n], err, want)
		}
	}
	write := func(from net.Conn, frames ...[]byte) {
		t.Helper()
		if _, err := from.Write(slices.Concat(frames...)); err != nil {
			t.Fatal(err)
		}
	}
	write(atA, frameTo(b, '1'))
	expect("trunk", atB, '1')
	s.SetTrunk("trunk", Cable{Rate: fast, Loss: 1})
	write(atA, frameTo(b, '2'), frameTo(c, '3'))
	expect("other rail", atC, '3')
	write(atC, frameTo(b, '4'))
	expect("after a lost frame", atB, '4')
	s.SetCable(c, Cable{Rate: fast, Loss: 1}, Cable{Rate: fast})
	write(atC, frameTo(a, '5'))
	write(atB, frameTo(a, '6'))
	expect("one-way fault", atA, '6')
	write(atA, frameTo(c, '7'))
	expect("good direction", atC, '7')
}

// TestSwitch_Broadcast checks that a frame for all stays on its rail.
func TestSwitch_Broadcast(t *testing.T) {
	s := NewSwitch(Cable{Rate: 1e12}, nil)
	t.Cleanup(s.Close)
	from, same, other := join(t, s, Plug{1, 0}), join(t, s, Plug{2, 0}), join(t, s, Plug{2, 1})
	all := frameTo(Plug{}, '1')
	copy(all[4:], bytes.Repeat([]byte{0xff}, 6))
	for _, frame := range [][]byte{all, frameTo(Plug{2, 1}, '2')} {
		if _, err := from.Write(frame); err != nil {
			t.Fatal(err)
		}
	}
	for name, test := range map[string]struct {
		at   net.Conn
		want byte
	}{"same rail": {same, '1'}, "other rail": {other, '2'}} {
		got := make([]byte, 4+minFrame)
		if _, err := test.at.Read(got); err != nil || got[len(got)-1] != test.want {
			t.Errorf("%s: got %q, %v, want %q", name, got, err, test.want)
		}
	}
}
