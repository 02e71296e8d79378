package perftest

import (
	"errors"
	"io"
	"net"
	"net/netip"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ibkit/ibkit/internal/tool/perf/internal/peererr"
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
			t.Errorf("got %q, want %q", got, text)
		}
		withGID := want.GID.IsValid()
		got, err := ParseKey([]byte(text), withGID)
		if err != nil || got != want {
			t.Errorf("got %+v, %v, want %+v", got, err, want)
		}
		for _, bad := range []string{"", text[1:], "x" + text[1:], strings.Replace(text, "000012:", "0000012", 1), text[:len(text)-1] + "0", strings.Repeat(":", len(text)-1) + "\x00"} {
			t.Run(bad, func(t *testing.T) {
				if got, err := ParseKey([]byte(bad), withGID); err == nil {
					t.Errorf("got %+v, want an error", got)
				}
			})
		}
	}
}

// pair returns two connected sides.
func pair(t *testing.T, wait time.Duration) (client, server *conn) {
	a, b := net.Pipe()
	t.Cleanup(func() { a.Close(); b.Close() })
	return newConn(a, true, wait), newConn(b, false, wait)
}

func TestExchanges(t *testing.T) {
	client, server := pair(t, time.Minute)
	type result struct {
		layout Layout
		key    Key
		report Report
		err    error
	}
	exchange := func(c *conn, layout Layout, k Key, r Report) (got result) {
		if got.layout, got.err = c.begin(layout); got.err != nil {
			return got
		}
		if got.key, got.err = c.exchangeKeys(k); got.err != nil {
			return got
		}
		if got.err = c.sync(k, false); got.err != nil {
			return got
		}
		got.report, got.err = c.exchangeReports(r)
		return got
	}
	serverKey := key
	serverKey.QPN++
	ended := make(chan result)
	report := Report{Size: 65536, Iterations: 1000, Peak: 1.5, Average: 1.25, MsgRate: 0.02}
	go func() { ended <- exchange(server, Layout{Page: 65536, CacheLine: 128, MTU: 3}, serverKey, Report{}) }()
	c := exchange(client, Layout{Page: 4096, CacheLine: 64, MTU: 5}, key, report)
	s := <-ended
	agreed := Layout{Page: 65536, CacheLine: 128, MTU: 3}
	if c != (result{agreed, serverKey, Report{}, nil}) {
		t.Errorf("client: got %+v", c)
	}
	if s != (result{agreed, key, report, nil}) {
		t.Errorf("server: got %+v", s)
	}
	if p := server.peer; p != (peer{version: Version, number: 6.27, pageSize: 4096, cacheLine: 64, mtu: 5}) {
		t.Errorf("got peer %+v", p)
	}
}

// TestForeignPeer runs against peers that are not usable programs of perftest.
func TestForeignPeer(t *testing.T) {
	for sent, want := range map[string]string{
		"5.60\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00": "too old",
		"0000:000011:8f31a0:00000000000000000000ffff0a000001":  "pingpong",
		"SSH-2.0-OpenSSH_9.2": "not a usable perftest program",
		"NaN\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00": "too old",
		"6.06": "closed the connection (EOF)",
		"6.06\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\xff\xff\xff\xff\xff\xff\xff\xff": "pages",
	} {
		t.Run(sent, func(t *testing.T) {
			client, server := pair(t, time.Minute)
			go func() {
				go io.Copy(io.Discard, server.link)
				io.WriteString(server.link, sent)
				server.link.Close()
			}()
			if _, err := client.begin(Layout{Page: 4096, CacheLine: 64, MTU: 3}); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("got %v, want %q in it", err, want)
			}
		})
	}
	c := newConn(script{sent: strings.NewReader("\r\u00856.06\n\x00\x00\x00\x00\x00\x00\x00\x00")}, true, time.Minute)
	if _, err := c.begin(Layout{}); err == nil || c.peer.version != "6.06" {
		t.Errorf("version with control characters: got %q, %v", c.peer.version, err)
	}
}

// TestPeer_Unknown checks the remark on newer protocol versions, in failures too.
func TestPeer_Unknown(t *testing.T) {
	for number, want := range map[string]string{
		"6.06": "", "6.29": "", "6.31": `protocol version "6.31" of the peer is not known, the newest known version is 6.29`,
	} {
		t.Run(number, func(t *testing.T) {
			client, server := pair(t, time.Minute)
			ended := make(chan error)
			go func() {
				_, err := server.begin(Layout{Page: 4096, CacheLine: 64, MTU: 3})
				ended <- err
			}()
			if _, err := client.begin(Layout{Page: 4096, CacheLine: 64, MTU: 3}); err != nil {
				t.Fatal(err)
			}
			if err := <-ended; err != nil {
				t.Fatal(err)
			}
			client.peer.version = number
			client.peer.number, _ = strconv.ParseFloat(number, 64)
			if got := client.peer.unknown(); got != want {
				t.Errorf("got %q, want %q", got, want)
			}
			s := Session{conn: client, ctx: t.Context(), test: Test{Order: Order{Verb: Write}}}
			if got := s.cause(peererr.ErrClosed).Error(); got != strings.TrimSuffix(peererr.ErrClosed.Error()+": "+want, ": ") {
				t.Errorf("got %q, want %q at the end", got, want)
			}
		})
	}
}

// TestForeignPeer_Silent runs against a peer that does not answer.
func TestForeignPeer_Silent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, server := pair(t, time.Second)
		go io.Copy(io.Discard, server.link)
		if _, err := client.exchangeKeys(key); !errors.Is(err, peererr.ErrTimeout) {
			t.Errorf("silent peer: got %v, want %v", err, peererr.ErrTimeout)
		}
		server.abort()
		if err := server.lockstep("keys", make([]byte, 1)); !errors.Is(err, peererr.ErrTimeout) {
			t.Errorf("aborted: got %v, want %v", err, peererr.ErrTimeout)
		}
	})
}

func FuzzParseKey(f *testing.F) {
	f.Add([]byte(keyLID), false)
	f.Add([]byte(keyGID), true)
	f.Fuzz(func(t *testing.T, b []byte, withGID bool) {
		k, err := ParseKey(b, withGID)
		if err != nil {
			return
		}
		if got, err := ParseKey(k.Append(nil), withGID); err != nil || got != k {
			t.Errorf("got %+v, %v, want %+v", got, err, k)
		}
	})
}

// A script is a connection to a peer that sends a fixed text.
type script struct {
	net.Conn
	sent *strings.Reader
}

func (s script) Read(b []byte) (int, error)  { return s.sent.Read(b) }
func (s script) Write(b []byte) (int, error) { return len(b), nil }
func (s script) SetDeadline(time.Time) error { return nil }
func (s script) RemoteAddr() net.Addr        { return &net.TCPAddr{} }

func FuzzConn(f *testing.F) {
	f.Add("6.06\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x10\x00\x00\x00\x00\x403\x00"+keyGID, true)
	f.Add("6.29\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x10\x00\x00\x00\x00\x403\x00"+keyLID, false)
	f.Fuzz(func(t *testing.T, sent string, withGID bool) {
		c := newConn(script{sent: strings.NewReader(sent)}, true, time.Minute)
		agreed, err := c.begin(Layout{Page: 4096, CacheLine: 64, MTU: 3})
		if err != nil {
			return
		}
		if agreed.MTU < 1 || agreed.MTU > 3 || agreed.Page < 4096 || agreed.Page > maxPage || agreed.CacheLine < 64 {
			t.Errorf("got layout %+v", agreed)
		}
		k := key
		if !withGID {
			k.GID = netip.Addr{}
		}
		if _, err := c.exchangeKeys(k); err == nil {
			c.exchangeReports(Report{})
		}
	})
}
