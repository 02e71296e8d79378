package perftest

import (
	"errors"
	"io"
	"net"
	"net/netip"
	"strings"
	"testing"
	"time"
)

var key = Key{LID: 0x3, OutReads: 1, QPN: 0x12, PSN: 0xa0b1c2, RKey: 0x1fd, VAddr: 0x7f0000001000, GID: netip.MustParseAddr("::ffff:10.0.0.1")}

const (
	keyLID = "0003:0001:000012:a0b1c2:000001fd:00007f0000001000:00000000\x00"
	keyGID = "0003:0001:000012:a0b1c2:000001fd:00007f0000001000:00:00:00:00:00:00:00:00:00:00:ff:ff:0a:00:00:01:00000000:\x00"
)

func TestKey(t *testing.T) {
	withLID := key
	withLID.GID = netip.Addr{}
	for text, want := range map[string]Key{keyLID: withLID, keyGID: key} {
		if got := want.Append(nil); string(got) != text {
			t.Errorf("%q", got)
		}
		withGID := want.GID.IsValid()
		got, err := ParseKey([]byte(text), withGID)
		if err != nil || got != want {
			t.Errorf("%+v, %v", got, err)
		}
		for _, bad := range []string{"", text[1:], "x" + text[1:], strings.Replace(text, "000012:", "0000012", 1), text[:len(text)-1] + "0", strings.Repeat(":", len(text)-1) + "\x00"} {
			if _, err := ParseKey([]byte(bad), withGID); err == nil {
				t.Errorf("%q is taken", bad)
			}
		}
	}
}

// pair joins two sides.
func pair(t *testing.T, wait time.Duration) (client, server *Conn) {
	a, b := net.Pipe()
	t.Cleanup(func() { a.Close(); b.Close() })
	return NewConn(a, true, wait), NewConn(b, false, wait)
}

func TestExchanges(t *testing.T) {
	client, server := pair(t, time.Minute)
	type result struct {
		layout Layout
		key    Key
		report Report
		err    error
	}
	talk := func(c *Conn, layout Layout, k Key, r Report) (got result) {
		if got.layout, got.err = c.Begin(layout); got.err != nil {
			return got
		}
		if got.key, got.err = c.ExchangeKeys(k); got.err != nil {
			return got
		}
		if got.err = c.Sync(k, false); got.err != nil {
			return got
		}
		got.report, got.err = c.ExchangeReports(r)
		return got
	}
	serverKey := key
	serverKey.QPN++
	ended := make(chan result)
	report := Report{Size: 65536, Iterations: 1000, Peak: 1.5, Average: 1.25, MsgRate: 0.02}
	go func() { ended <- talk(server, Layout{Page: 65536, CacheLine: 128, MTU: 3}, serverKey, Report{}) }()
	c := talk(client, Layout{Page: 4096, CacheLine: 64, MTU: 5}, key, report)
	s := <-ended
	agreed := Layout{Page: 65536, CacheLine: 128, MTU: 3}
	if c != (result{agreed, serverKey, Report{}, nil}) {
		t.Errorf("client: %+v", c)
	}
	if s != (result{agreed, key, report, nil}) {
		t.Errorf("server: %+v", s)
	}
	if p := server.Peer(); p != (Peer{Version: Version, PageSize: 4096, CacheLine: 64, MTU: 5}) {
		t.Errorf("peer: %+v", p)
	}
}

// TestStrangers talks to what is no perftest program, or one that waits for
// something else.
func TestStrangers(t *testing.T) {
	for said, want := range map[string]string{
		"5.60\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00": "too old",
		"0000:000011:8f31a0:00000000000000000000ffff0a000001":  "pingpong",
		"SSH-2.0-OpenSSH_9.2": "no perftest program",
		"NaN\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00": "too old",
		"6.06": "hung up (EOF)",
		"6.06\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\xff\xff\xff\xff\xff\xff\xff\xff": "pages",
	} {
		client, server := pair(t, time.Minute)
		go func() {
			go io.Copy(io.Discard, server.conn)
			io.WriteString(server.conn, said)
			server.Close()
		}()
		if _, err := client.Begin(Layout{Page: 4096, CacheLine: 64, MTU: 3}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", said, err)
		}
	}
	c := NewConn(script{said: strings.NewReader("\r\u00856.06\n\x00\x00\x00\x00\x00\x00\x00\x00")}, true, time.Minute)
	if _, err := c.Begin(Layout{}); err == nil || c.Peer().Version != "6.06" {
		t.Errorf("a version with what steers a terminal: %q, %v", c.Peer().Version, err)
	}
	client, server := pair(t, time.Millisecond)
	go io.Copy(io.Discard, server.conn)
	if _, err := client.ExchangeKeys(key); !errors.Is(err, ErrSilent) {
		t.Errorf("silence: %v", err)
	}
	server.Abort()
	if err := server.inStep("keys", make([]byte, 1)); !errors.Is(err, ErrSilent) {
		t.Errorf("abort: %v", err)
	}
}

func FuzzParseKey(f *testing.F) {
	f.Add([]byte(keyLID), false)
	f.Add([]byte(keyGID), true)
	f.Fuzz(func(t *testing.T, b []byte, withGID bool) {
		k, err := ParseKey(b, withGID)
		if err != nil {
			return
		}
		if again, err := ParseKey(k.Append(nil), withGID); err != nil || again != k {
			t.Errorf("%+v came back as %+v, %v", k, again, err)
		}
	})
}

// script is a peer that has said all it says, and takes what comes.
type script struct {
	net.Conn
	said *strings.Reader
}

func (s script) Read(b []byte) (int, error)  { return s.said.Read(b) }
func (s script) Write(b []byte) (int, error) { return len(b), nil }
func (s script) SetDeadline(time.Time) error { return nil }
func (s script) RemoteAddr() net.Addr        { return &net.TCPAddr{} }

func FuzzConn(f *testing.F) {
	f.Add("6.06\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x10\x00\x00\x00\x00\x403\x00"+keyGID, true)
	f.Add("6.29\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x10\x00\x00\x00\x00\x403\x00"+keyLID, false)
	f.Fuzz(func(t *testing.T, said string, withGID bool) {
		c := NewConn(script{said: strings.NewReader(said)}, true, time.Minute)
		agreed, err := c.Begin(Layout{Page: 4096, CacheLine: 64, MTU: 3})
		if err != nil {
			return
		}
		if agreed.MTU < 1 || agreed.MTU > 3 || agreed.Page < 4096 || agreed.Page > maxPage || agreed.CacheLine < 64 {
			t.Errorf("agreed on %+v", agreed)
		}
		k := key
		if !withGID {
			k.GID = netip.Addr{}
		}
		if _, err := c.ExchangeKeys(k); err == nil {
			c.ExchangeReports(Report{})
		}
	})
}
