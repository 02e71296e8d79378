package udpong

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"testing"
)

// TestRun runs both tests against a server.
func TestRun(t *testing.T) {
	// A port that is free now.
	l, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	at := l.LocalAddr().(*net.UDPAddr).AddrPort()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	logins := make(chan netip.Addr, 1)
	served := make(chan error)
	go func() { served <- Serve(ctx, at, 0, func(a netip.Addr) { logins <- a }) }()
	var c *Client
	for c == nil {
		// The server may not listen yet.
		if c, err = Dial(at, 0); err != nil && t.Context().Err() != nil {
			t.Fatal(err)
		}
	}
	if got := <-logins; got != at.Addr() {
		t.Errorf("got login from %v, want %v", got, at.Addr())
	}
	for _, test := range []struct {
		Test
		want int
	}{{Test{Size: 64, Count: 10, Echo: true}, 20}, {Test{Size: 1000, Count: 5}, 5}} {
		r, err := c.Run(test.Test)
		if err != nil || r.Transfers != test.want || r.Elapsed <= 0 {
			t.Errorf("%+v: got %+v, %v, want %d transfers", test.Test, r, err, test.want)
		}
	}
	stop()
	if err := errors.Join(<-served, c.Close()); err != nil {
		t.Error(err)
	}
}

func TestHandle(t *testing.T) {
	s := server{login: func(netip.Addr) {}, last: 255}
	for _, c := range []struct {
		name    string
		message []byte
		reply   bool
		want    byte // for the message count
	}{
		{"short", []byte{opLogin, 0, 0}, false, 0},
		{"login", make([]byte, 16), true, 0},
		{"data", []byte{opData, 255, 0, 0, 0, 0, 0, 0}, false, 0},
		{"echo", []byte{opEcho, 255, 0, 0, 0, 0, 0, 0}, true, 0},
		{"unknown", []byte{99, 255, 0, 0, 0, 0, 0, 0}, false, 0},
		{"end", []byte{opEnd, 255, 0, 0, 0, 0, 0, 0}, true, 3},
		{"start", []byte{opStart, 255, 0, 0, 0, 0, 0, 0}, true, 0},
		{"end again", []byte{opEnd, 255, 0, 0, 0, 0, 0, 0}, true, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := s.handle(c.message, netip.AddrPort{}); got != c.reply {
				t.Errorf("got reply %v, want %v", got, c.reply)
			}
			if c.reply && c.message[atData+3] != c.want {
				t.Errorf("got %d messages, want %d", c.message[atData+3], c.want)
			}
		})
	}
}
