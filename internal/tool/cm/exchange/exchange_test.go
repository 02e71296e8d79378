package exchange

import (
	"errors"
	"fmt"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/ibkit/ibkit/rdmacm"
	"github.com/ibkit/ibkit/verbs"
)

func TestError(t *testing.T) {
	for _, test := range []struct {
		name string
		err  error
		text string
		code int
	}{
		{"call", failed("failure connecting", unix.ECONNREFUSED), "failure connecting: connection refused", -1},
		{"without a cause", unable(unix.ENOMEM, errors.New("hidden"), "unable to create %s", "CQ"), "unable to create CQ", -int(unix.ENOMEM)},
		{"post", posted("receives", fmt.Errorf("post: %w", unix.EINVAL)), "failed to post receives: 22", 22},
		{"full queue", posted("sends", errors.New("queue full")), "failed to post sends: 12", 12},
		{"datagrams without a path", (&node{}).resolved(nil), "failure creating address handle", -1},
	} {
		t.Run(test.name, func(t *testing.T) {
			f, ok := errors.AsType[*Error](test.err)
			if !ok || f.Error() != test.text || f.Code != test.code {
				t.Errorf("got %v, want %q with code %d", test.err, test.text, test.code)
			}
		})
	}
	for name, err := range map[string]error{"failed": failed("x", nil), "unable": unable(unix.ENOMEM, nil, "x"), "posted": posted("x", nil)} {
		if err != nil {
			t.Errorf("%s without an error: got %v, want nil", name, err)
		}
	}
	if err := failed("x", unix.EIO); !errors.Is(err, unix.EIO) {
		t.Errorf("got %v, want one that wraps EIO", err)
	}
}

func TestSession_Types(t *testing.T) {
	for _, test := range []struct {
		datagrams bool
		qpType    verbs.QPType
		header    int
	}{{false, verbs.QPTypeRC, 0}, {true, verbs.QPTypeUD, verbs.GRHSize}} {
		t.Run(fmt.Sprint(test.datagrams), func(t *testing.T) {
			s := &Session{Options: Options{Datagrams: test.datagrams}}
			if s.qpType() != test.qpType || s.grhSize() != test.header {
				t.Errorf("got %v and %d, want %v and %d", s.qpType(), s.grhSize(), test.qpType, test.header)
			}
		})
	}
}

// TestSession_Await handles the events that arrived during transfers, in their order.
func TestSession_Await(t *testing.T) {
	id, stranger := &rdmacm.ID{}, &rdmacm.ID{}
	event := func(of *rdmacm.ID, kind rdmacm.EventType, status int32) rdmacm.Event {
		return rdmacm.Event{ID: of, Type: kind, Status: status}
	}
	for _, test := range []struct {
		name     string
		events   []rdmacm.Event
		want     string // error; "": none
		code     int
		warnings int
		left     int // events that were not handled
	}{
		{"rejected by status 0", []rdmacm.Event{event(id, rdmacm.EventUnreachable, 0)}, "", 0, 1, 0},
		{"unreachable", []rdmacm.Event{event(id, rdmacm.EventUnreachable, -110)}, "event: RDMA_CM_EVENT_UNREACHABLE, error: -110", -110, 0, 0},
		{"address", []rdmacm.Event{event(id, rdmacm.EventAddrError, -19), event(id, rdmacm.EventRouteError, -1)}, "event: RDMA_CM_EVENT_ADDR_ERROR, error: -19", -19, 0, 1},
		{"another ID", []rdmacm.Event{event(stranger, rdmacm.EventAddrError, -19), event(id, rdmacm.EventConnectError, -1)}, "event: RDMA_CM_EVENT_CONNECT_ERROR, error: -1", -1, 0, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			warnings := 0
			s := &Session{Options: Options{Connections: 1, Warn: func(*Error) { warnings++ }}, byID: map[*rdmacm.ID]*node{}, connecting: 1, early: test.events}
			s.add(id)
			err := s.await(t.Context(), &s.connecting)
			f, _ := errors.AsType[*Error](err)
			switch {
			case test.want == "" && err != nil, test.want != "" && (f == nil || f.Error() != test.want || f.Code != test.code):
				t.Errorf("got %v, want %q with code %d", err, test.want, test.code)
			case warnings != test.warnings || len(s.early) != test.left || s.connecting != 0:
				t.Errorf("got %d warnings, %d events left, %d connecting; want %d, %d, 0", warnings, len(s.early), s.connecting, test.warnings, test.left)
			}
		})
	}
}

// TestSession_HangUp skips connections that were never established.
func TestSession_HangUp(t *testing.T) {
	s := &Session{byID: map[*rdmacm.ID]*node{}}
	for range 3 {
		s.add(&rdmacm.ID{}) // without a queue pair
	}
	s.Disconnect()
	if err := s.AwaitDisconnect(t.Context()); err != nil {
		t.Errorf("got %v, want no wait without connections", err)
	}
}
