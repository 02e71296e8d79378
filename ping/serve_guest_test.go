//go:build inguest

package ping

import (
	"context"
	"net/netip"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/umad"
	"github.com/ibkit/ibkit/umad/device"
)

// roceDevice is the guest's, which talks to itself.
const roceDevice = "rxe0"

func openRoCE(t *testing.T) *device.Port {
	t.Helper()
	p, err := device.Open(device.Options{Device: roceDevice})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	return p
}

// ownGID returns a device GID and the GID index.
func ownGID(t *testing.T, is func(netip.Addr) bool) (netip.Addr, uint8) {
	t.Helper()
	dir := "/sys/class/infiniband/" + roceDevice + "/ports/1/gids/"
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for i := range len(files) {
		text, err := os.ReadFile(dir + string(rune('0'+i)))
		if err != nil {
			break
		}
		if gid, err := netip.ParseAddr(strings.TrimSpace(string(text))); err == nil && is(gid) {
			return gid, uint8(i)
		}
	}
	t.Fatal("no such GID")
	return netip.Addr{}, 0
}

// exchange sends a ping to a GID and returns the reply.
func exchange(t *testing.T, p *device.Port, gid netip.Addr, index uint8, method, answer mad.Method) umad.Message {
	t.Helper()
	m := umad.Message{Addr: umad.Addr{QPN: 1, QKey: umad.QP1QKey, GRH: &umad.GRH{SGIDIndex: index, HopLimit: 64, DGID: gid.As16()}}}
	m.MAD.PutGMP(mad.Header{BaseVersion: 1, Class: class, ClassVersion: 1, Method: method, TID: 0x1234567})
	m.MAD.SetOUI(OUI)
	(&echo{answer: answer, id: 42, payload: []byte("over RoCE")}).put(m.MAD.Data())
	if answer == 0 {
		m.Timeout = 2 * time.Second
	}
	if err := p.Send(&m); err != nil {
		t.Fatal(err)
	}
	var r umad.Message
	if err := p.Recv(&r, time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	return r
}

// TestGuestServeRoCE pings a server over Soft-RoCE: over an IPv6 GID by a request and a
// response, over an IPv4-mapped GID by two packets that are not responses.
func TestGuestServeRoCE(t *testing.T) {
	server := NewServer(ServeOptions{OUI: OUI})
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	listening, err := server.listen(openRoCE(t))
	if err != nil {
		t.Fatal(err)
	}
	go func() { ended <- listening(ctx) }()

	v6, v6index := ownGID(t, netip.Addr.IsLinkLocalUnicast)
	v4, v4index := ownGID(t, netip.Addr.Is4In6)
	check := func(what string, r *umad.Message, method mad.Method, from netip.Addr) {
		t.Helper()
		e, ok := parseEcho(r.MAD.Data())
		if r.Status != 0 || r.MAD.Method() != method || uint32(r.MAD.TID()) != 0x1234567 || !ok || !e.isAnswer || e.id != 42 || string(e.payload) != "over RoCE" {
			t.Errorf("%s: status %d, method %v, TID %x, %+v", what, r.Status, r.MAD.Method(), r.MAD.TID(), e)
		}
		if r.Addr.GRH == nil || r.Addr.GRH.DGID.Addr() != from {
			t.Errorf("%s: answered from %+v", what, r.Addr.GRH)
		}
	}
	client := openRoCE(t)
	r := exchange(t, client, v6, v6index, mad.MethodGet, 0)
	check("IPv6, Get", &r, mad.MethodGetResp, v6)

	// If the kernel begins to deliver this packet, one-way messages are no longer needed.
	if r := exchange(t, client, v4, v4index, mad.MethodGet, 0); r.Status == 0 {
		t.Errorf("IPv4-mapped, Get: got %v", r.MAD.Method())
	}

	// Each client has a separate method.
	for i := range 2 {
		client := openRoCE(t)
		answer, err := ListenForAnswers(client, OUI)
		if err != nil || answer != firstAnswerMethod+mad.Method(i) {
			t.Fatalf("client %d listens for %v: %v", i, answer, err)
		}
		r := exchange(t, client, v4, v4index, mad.MethodSend, answer)
		check("IPv4-mapped, Send", &r, answer, v4)
		r = exchange(t, client, v6, v6index, mad.MethodSend, answer)
		check("IPv6, Send", &r, answer, v6)
	}

	// A second server at the port reports the first server.
	if _, err := server.listen(openRoCE(t)); err == nil || !strings.Contains(err.Error(), umad.ErrTaken.Error()) {
		t.Errorf("a second server: %v", err)
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	c := server.Counts()
	if want := (Counts{Received: 6, Answered: 6}); c.Total != want || c.Ignored != 0 || len(c.Sources) != 2 {
		t.Errorf("counted %+v", c)
	}
}
