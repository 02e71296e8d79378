package umad

import "testing"

func TestTable(t *testing.T) {
	table := newTable(0xfffffffe) // about to come round
	requests := make([]Request, 1000)
	seen := map[uint32]bool{}
	for i := range requests {
		r := &requests[i]
		table.add(r)
		r.flight.attempt = 1
		if seen[r.tid()] || r.flight.seq == 0 || r.tid()>>attemptBits != r.flight.seq {
			t.Fatalf("request %d: sequence number %#x", i, r.flight.seq)
		}
		seen[r.tid()] = true
	}
	for i := range requests {
		if table.find(requests[i].tid()) != &requests[i] {
			t.Errorf("request %d is not found", i)
		}
	}
	late := requests[500].tid()
	table.remove(&requests[500])
	for range 10000 {
		var r Request
		table.add(&r)
		if table.find(late) != nil {
			t.Fatal("a late reply meets another request")
		}
		table.remove(&r)
	}
	if table.used != len(requests)-1 {
		t.Errorf("%d slots used", table.used)
	}
}

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
			t.Errorf("without %d: %d steps there and back, length %d", i, n, l.len)
		}
	}
	if l != (list{}) {
		t.Errorf("empty list is %+v", l)
	}
}
