package perftest

import (
	"bytes"
	"encoding/hex"
	"io"
	"net"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/ibkit/ibkit/verbs"
)

// binaryKey is key as a program of version 6.06 sends it.
const binaryKey = "00000003" + "00000001" + "00000012" + "00a0b1c2" + "000001fd" + "00000000" + "00007f0000001000" +
	"00000000000000000000ffff0a000001" + "00000000" + "00000000"

func TestBinaryKey(t *testing.T) {
	tail := binaryKey[:64] + "0000000000000000" + binaryKey[64:]
	for text, marked := range map[string]bool{binaryKey: false, tail: true} {
		want, err := hex.DecodeString(text)
		if err != nil {
			t.Fatal(err)
		}
		if got := key.appendBinary(nil, marked); !bytes.Equal(got, want) {
			t.Errorf("got %x, want %x", got, want)
		}
		if got, err := parseBinaryKey(want, marked, true); err != nil || got != key {
			t.Errorf("got %+v, %v, want %+v", got, err, key)
		}
		withoutGID := key
		withoutGID.GID = netip.Addr{}
		if got, err := parseBinaryKey(want, marked, false); err != nil || got != withoutGID {
			t.Errorf("got %+v, %v, want %+v", got, err, withoutGID)
		}
		for _, at := range []int{0, 4, 8, 12} { // LID, reads, QPN and PSN
			bad := bytes.Clone(want)
			bad[at] = 1
			if got, err := parseBinaryKey(bad, marked, true); err == nil {
				t.Errorf("number at %d: got %+v, want an error", at, got)
			}
		}
		if got, err := parseBinaryKey(want[1:], marked, true); err == nil {
			t.Errorf("got %+v, want an error", got)
		}
	}
}

// messages is a connection of the connection manager to a peer that sends fixed messages.
type messages struct {
	net.Conn
	sent []string
}

func (m *messages) Read(b []byte) (int, error) {
	if len(m.sent) == 0 {
		return 0, io.EOF
	}
	next := m.sent[0]
	m.sent = m.sent[1:]
	n := copy(b, next)
	if n < len(next) {
		return n, io.ErrShortBuffer
	}
	return n, nil
}
func (m *messages) Write(b []byte) (int, error) { return len(b), nil }
func (m *messages) SetDeadline(time.Time) error { return nil }
func (m *messages) RemoteAddr() net.Addr        { return &net.TCPAddr{} }

// TestConn_Messages exchanges messages with bounds.
func TestConn_Messages(t *testing.T) {
	raw, err := hex.DecodeString(binaryKey)
	if err != nil {
		t.Fatal(err)
	}
	const version = "6.06\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"
	newer := strings.Replace(version, "06", "29", 1)
	start := func(version string) []string {
		return []string{version, "\x00\x00\x10\x00", "\x00\x00\x00\x40", "3\x00"}
	}
	for name, c := range map[string]struct {
		sent []string
		want string
	}{
		"old":   {append(start(version), string(raw)), ""},
		"new":   {append(start(newer), string(raw[:32])+"\x00\x00\x00\x00\x00\x00\x00\x00"+string(raw[32:])), ""},
		"short": {append(start(version), string(raw[1:])), "another size than the 56 bytes of keys"},
		"long":  {append(start(version), string(raw)+"\x00"), "another size than the 56 bytes of keys"},
		"end":   {start(version), "closed the connection"},
	} {
		t.Run(name, func(t *testing.T) {
			conn := newConn(&messages{sent: c.sent}, true, time.Minute)
			conn.binary = true
			if _, err := conn.begin(Layout{Page: 4096, CacheLine: 64, MTU: 3}); err != nil {
				t.Fatal(err)
			}
			got, err := conn.exchangeKeys(key)
			switch {
			case c.want == "" && (err != nil || got != key):
				t.Errorf("got %+v, %v, want %+v", got, err, key)
			case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
				t.Errorf("got error %v, want %q", err, c.want)
			}
		})
	}
}

// TestCM_check rejects settings that the connection manager selects.
func TestCM_check(t *testing.T) {
	tos := uint8(8)
	for _, c := range []struct {
		cm   CM
		test Test
		want string
	}{
		{CM{QueuePairs: true, TOS: &tos}, Test{Type: verbs.QPTypeRC}, ""},
		{CM{}, Test{Type: verbs.QPTypeUC, SL: 3}, ""},
		{CM{TOS: &tos}, Test{}, "type of service"},
		{CM{QueuePairs: true}, Test{Type: verbs.QPTypeUC}, "UC"},
		{CM{QueuePairs: true}, Test{Type: verbs.QPTypeRC, SL: 3}, "service level 3"},
		{CM{QueuePairs: true}, Test{Type: verbs.QPTypeRC, TrafficClass: 3}, "traffic class 3"},
		{CM{QueuePairs: true}, Test{Type: verbs.QPTypeRC, FlowLabels: []uint32{1}}, "flow labels"},
		{CM{QueuePairs: true}, Test{Type: verbs.QPTypeRC, DLID: 3}, "LID 3"},
		{CM{QueuePairs: true}, Test{Type: verbs.QPTypeRC, PKeyIndex: 3}, "P_Key index 3"},
		{CM{QueuePairs: true}, Test{Type: verbs.QPTypeRC, StaticRate: 3}, "rate limit"},
	} {
		t.Run(c.want, func(t *testing.T) {
			switch err := c.cm.check(&c.test); {
			case c.want == "" && err != nil:
				t.Errorf("got %v, want no error", err)
			case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

func FuzzParseBinaryKey(f *testing.F) {
	raw, err := hex.DecodeString(binaryKey)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(raw, false, true)
	f.Add(append(bytes.Clone(raw), make([]byte, 8)...), true, false)
	f.Fuzz(func(t *testing.T, b []byte, tail, withGID bool) {
		k, err := parseBinaryKey(b, tail, withGID)
		if err != nil {
			return
		}
		if got, err := parseBinaryKey(k.appendBinary(nil, tail), tail, withGID); err != nil || got != k {
			t.Errorf("got %+v, %v, want %+v", got, err, k)
		}
	})
}
