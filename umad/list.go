package umad

// A list links requests by their own fields. A request is in one list at most.
type list struct{ front, back *Request }

func (l *list) pushBack(r *Request) {
	r.prev, r.next = l.back, nil
	if l.back == nil {
		l.front = r
	} else {
		l.back.next = r
	}
	l.back = r
}

func (l *list) pushFront(r *Request) {
	r.prev, r.next = nil, l.front
	if l.front == nil {
		l.back = r
	} else {
		l.front.prev = r
	}
	l.front = r
}

func (l *list) remove(r *Request) {
	if r.prev == nil {
		l.front = r.next
	} else {
		r.prev.next = r.next
	}
	if r.next == nil {
		l.back = r.prev
	} else {
		r.next.prev = r.prev
	}
	r.prev, r.next = nil, nil
}
