package sysstat

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ibkit/ibkit/internal/hostname"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/umad"
	"github.com/ibkit/ibkit/umad/umadtest"
)

// cpuFile writes a list with n processors in the form of /proc/cpuinfo, and returns its
// path and ibsysstat's text.
func cpuFile(t testing.TB, n int) (path, want string) {
	t.Helper()
	var list, text strings.Builder
	for i := range n {
		fmt.Fprintf(&list, "processor\t: %d\nmodel name\t: A CPU: fast\ncpu MHz\t\t: 2600.%03d\n\n", i, i)
		fmt.Fprintf(&text, "cpu %d: model  A CPU: fast MHZ  2600.%03d\n", i, i)
	}
	path = filepath.Join(t.TempDir(), "cpuinfo")
	if err := os.WriteFile(path, []byte(list.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return path, text.String()
}

// connected returns two ports with LIDs 1 and 2 that receive what the other port sends,
// except for packets that drop selects by their number from 1.
func connected(drop func(n int) bool) (client, server *umadtest.Port) {
	client = &umadtest.Port{Attributes: umad.PortAttr{LID: 1}}
	server = &umadtest.Port{Attributes: umad.PortAttr{LID: 2}}
	var count atomic.Int64
	to := func(peer *umadtest.Port) func(*umadtest.Port, umad.Message) error {
		return func(from *umadtest.Port, m umad.Message) error {
			if n := int(count.Add(1)); drop != nil && drop(n) {
				return nil
			}
			m.Addr = umad.Addr{LID: from.Attributes.LID, QPN: 1}
			peer.Deliver(time.Millisecond, m)
			return nil
		}
	}
	client.OnSend, server.OnSend = to(server), to(client)
	return client, server
}

// served serves at a port while f runs.
func served(t *testing.T, p umad.Port, o Options, f func(t *testing.T)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error)
		ready := false
		go func() { ended <- Serve(ctx, p, o, func() { ready = true }) }()
		synctest.Wait()
		if !ready {
			t.Error("the server is not ready")
		}
		f(t)
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

// get requests an attribute, and returns the reply text.
func get(t *testing.T, c *umad.Client, id mad.AttrID, oui uint32) (string, error) {
	t.Helper()
	reply, err := c.CallLong(t.Context(), &umad.Request{
		To: umad.Target{LID: 2}, Class: mad.ClassSysstat, Attr: id, OUI: oui,
	}, umad.LongOptions{})
	if err != nil {
		return "", err
	}
	text, _, _ := bytes.Cut(reply.Data, []byte{0})
	return string(text), nil
}

func TestServe(t *testing.T) {
	client, server := connected(nil)
	path, cpus := cpuFile(t, 3)
	served(t, server, Options{OUI: mad.OpenIB, CPUInfo: path}, func(t *testing.T) {
		c := umad.NewClient(client, umad.ClientOptions{})
		for id, want := range map[mad.AttrID]string{mad.AttrSysstatPing: "", mad.AttrSysstatHost: hostname.WithDomain(), mad.AttrSysstatCPU: cpus} {
			if got, err := get(t, c, id, mad.OpenIB); got != want || err != nil {
				t.Errorf("%v: got %q, error %v, want %q", mad.ClassSysstat.AttrName(id), got, err, want)
			}
		}
		var status mad.StatusError
		if _, err := get(t, c, 0x99, mad.OpenIB); !errors.As(err, &status) || mad.Status(status) != mad.StatusBadMethodAttr {
			t.Errorf("unknown attribute: got error %v, want status %v", err, mad.StatusBadMethodAttr.Err())
		}
		if _, err := get(t, c, mad.AttrSysstatPing, mad.OpenIB+1); !errors.Is(err, umad.ErrTimeout) {
			t.Errorf("another OUI: got error %v, want %v", err, umad.ErrTimeout)
		}
	})
}

// A long text arrives in segments, and some are lost.
func TestServe_Segments(t *testing.T) {
	path, cpus := cpuFile(t, 500)
	for name, drop := range map[string]func(int) bool{
		"no loss":          nil,
		"query":            func(n int) bool { return n == 1 },
		"first segment":    func(n int) bool { return n == 2 },
		"acknowledgement":  func(n int) bool { return n == 3 },
		"every 4th packet": func(n int) bool { return n%4 == 0 },
	} {
		t.Run(name, func(t *testing.T) {
			client, server := connected(drop)
			served(t, server, Options{OUI: mad.OpenIB, CPUInfo: path}, func(t *testing.T) {
				if got, err := get(t, umad.NewClient(client, umad.ClientOptions{}), mad.AttrSysstatCPU, mad.OpenIB); got != cpus || err != nil {
					t.Errorf("got %d bytes, error %v, want %d", len(got), err, len(cpus))
				}
			})
		})
	}
}

// A client that does not acknowledge segments does not keep the server from others.
func TestServe_Unacknowledged(t *testing.T) {
	client, server := connected(nil)
	path, _ := cpuFile(t, 500)
	served(t, server, Options{OUI: mad.OpenIB, CPUInfo: path}, func(t *testing.T) {
		for tid := range uint64(2 * maxTransfers) {
			var m umad.Message
			m.MAD.PutGMP(mad.Header{BaseVersion: 1, Class: mad.ClassSysstat, ClassVersion: 1, Method: mad.MethodGet, TID: tid, Attr: mad.AttrSysstatCPU})
			m.MAD.SetOUI(mad.OpenIB)
			if err := client.Send(&m); err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(time.Minute) // of the bubble: all transfers end
		sent := len(server.Sent())
		if _, err := get(t, umad.NewClient(client, umad.ClientOptions{}), mad.AttrSysstatPing, mad.OpenIB); err != nil {
			t.Error(err)
		}
		if after := len(server.Sent()); after != sent+1 {
			t.Errorf("got %d packets, want one", after-sent)
		}
	})
}

// A query that a client repeats while the reply is on its way causes no second reply with
// segments that are not acknowledged.
func TestServe_Repeated(t *testing.T) {
	path, _ := cpuFile(t, 500)
	packets := func(t *testing.T, queries int) (sent int) {
		client, server := connected(nil)
		served(t, server, Options{OUI: mad.OpenIB, CPUInfo: path}, func(t *testing.T) {
			for range queries {
				var m umad.Message
				m.MAD.PutGMP(mad.Header{BaseVersion: 1, Class: mad.ClassSysstat, ClassVersion: 1, Method: mad.MethodGet, TID: 7, Attr: mad.AttrSysstatCPU})
				m.MAD.SetOUI(mad.OpenIB)
				if err := client.Send(&m); err != nil {
					t.Fatal(err)
				}
			}
			time.Sleep(time.Minute) // of the bubble: all transfers end
			sent = len(server.Sent())
		})
		return sent
	}
	once, twice := 0, 0
	t.Run("once", func(t *testing.T) { once = packets(t, 1) })
	t.Run("twice", func(t *testing.T) { twice = packets(t, 2) })
	if once < 2 || twice != once {
		t.Errorf("got %d packets for a repeated query, want %d as for one", twice, once)
	}
}

// A transport with RMPP gets the whole text at once.
func TestServe_Transport(t *testing.T) {
	client, server := connected(nil)
	client.Attributes.RMPP, server.Attributes.RMPP = true, true
	path, cpus := cpuFile(t, 500)
	served(t, server, Options{OUI: mad.OpenIB, CPUInfo: path}, func(t *testing.T) {
		if got, err := get(t, umad.NewClient(client, umad.ClientOptions{}), mad.AttrSysstatCPU, mad.OpenIB); got != cpus || err != nil || len(server.Sent()) != 1 {
			t.Errorf("got %d bytes in %d messages, error %v, want %d in one", len(got), len(server.Sent()), err, len(cpus))
		}
	})
}

func TestServe_Errors(t *testing.T) {
	broken := errors.New("broken")
	for name, test := range map[string]struct {
		port *umadtest.Port
		want error
	}{
		"class in use": {&umadtest.Port{OnListen: func(umad.Service) error { return umad.ErrTaken }}, umad.ErrTaken},
		"broken port":  {&umadtest.Port{OnRecv: func(*umadtest.Port) error { return broken }}, broken},
	} {
		t.Run(name, func(t *testing.T) {
			if err := Serve(t.Context(), test.port, Options{}, func() {}); !errors.Is(err, test.want) {
				t.Errorf("got error %v, want %v", err, test.want)
			}
		})
	}
}

func TestReadCPUs(t *testing.T) {
	for name, test := range map[string]struct{ list, want string }{
		"empty":         {"", ""},
		"no processor":  {"model name\t: x\n", ""},
		"no model name": {"processor\t: 0\nBogoMIPS\t: 50.00\n\nprocessor\t: 1\n", "cpu 0: model (null) MHZ (null)\ncpu 1: model (null) MHZ (null)\n"},
		"no end":        {"processor\t: 0\nmodel name\t: x\ncpu MHz\t\t: 1", "cpu 0: model  x MHZ  1\n"},
	} {
		t.Run(name, func(t *testing.T) {
			if got, err := readCPUs(strings.NewReader(test.list)); got != test.want || err != nil {
				t.Errorf("got %q, error %v, want %q", got, err, test.want)
			}
		})
	}
	list := strings.Repeat("processor\t: 0\n", 10_000)
	if got, err := readCPUs(strings.NewReader(list)); len(got) > maxText || len(got) < maxText-100 || !strings.HasSuffix(got, "\n") || err != nil {
		t.Errorf("10,000 processors: got %d bytes, error %v, want whole lines of at most %d bytes", len(got), err, maxText)
	}
}

func FuzzReadCPUs(f *testing.F) {
	f.Add("processor\t: 0\nmodel name\t: x\ncpu MHz\t\t: 1\n")
	f.Add("processor\n:\n")
	f.Fuzz(func(t *testing.T, list string) {
		got, _ := readCPUs(strings.NewReader(list))
		if len(got) > maxText || got != "" && !strings.HasSuffix(got, "\n") {
			t.Errorf("got %q", got)
		}
	})
}

// FuzzServe lets a server receive any packets.
func FuzzServe(f *testing.F) {
	var query mad.Packet
	query.PutGMP(mad.Header{BaseVersion: 1, Class: mad.ClassSysstat, ClassVersion: 1, Method: mad.MethodGet, Attr: mad.AttrSysstatCPU})
	query.SetOUI(mad.OpenIB)
	ack := query
	ack.SetRMPP(mad.RMPP{Version: 1, Type: mad.RMPPAck, Flags: mad.RMPPActive, Segment: 1, Length: 65})
	f.Add(query[:], ack[:])
	f.Add(query[:], query[:])
	path, _ := cpuFile(f, 100)
	f.Fuzz(func(t *testing.T, first, second []byte) {
		p := &umadtest.Port{}
		s := &server{Options: Options{OUI: mad.OpenIB, CPUInfo: path, Log: quiet}, port: p, start: time.Now()}
		for _, b := range [][]byte{first, second} {
			s.in = umad.Message{Addr: umad.Addr{LID: 1, QPN: 1}}
			copy(s.in.MAD[:], b)
			if err := s.receive(); err != nil {
				t.Error(err)
			}
		}
		if len(s.transfers) > 2 {
			t.Errorf("got %d transfers of two packets", len(s.transfers))
		}
	})
}
