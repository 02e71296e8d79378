package umad

import "testing"

func TestList(t *testing.T) {
	var l list
	requests := make([]Request, 4)
	for i := range requests {
		l.push(&requests[i])
	}
	for _, i := range []int{1, 0, 3, 2} {
		l.remove(&requests[i])
		n := 0
		for r := l.head; r != nil; r = r.flight.next {
			n++
		}
		for r := l.tail; r != nil; r = r.flight.prev {
			n++
		}
		if n != 2*l.len {
			t.Errorf("without request %d: got %d steps in both directions, want %d", i, n, 2*l.len)
		}
	}
	if l != (list{}) {
		t.Errorf("after the last removal: got %+v, want an empty list", l)
	}
}
