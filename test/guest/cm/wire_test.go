//go:build guest

package cm_test

import (
	"maps"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/ibkit/ibkit/test/guest"
	"github.com/ibkit/ibkit/test/guest/cmwire"
)

// wireFields are request and reply fields that do not differ from connection to
// connection, unlike queue pairs, sequence numbers and client ports.
var wireFields = []string{
	"infiniband.cm.req.serviceid", "infiniband.cm.req.localcaguid", "infiniband.cm.req.localqkey", "infiniband.cm.req.responderres",
	"infiniband.cm.req.initdepth", "infiniband.cm.req.remoteresptout", "infiniband.cm.req.transpsvctype", "infiniband.cm.req.e2eflowctrl",
	"infiniband.cm.req.localresptout", "infiniband.cm.req.retrcount", "infiniband.cm.req.pkey", "infiniband.cm.req.pppmtu",
	"infiniband.cm.req.rnrretrcount", "infiniband.cm.req.maxcmretr", "infiniband.cm.req.srq",
	"infiniband.cm.req.prim_localgid_ipv4", "infiniband.cm.req.prim_remotegid_ipv4", "infiniband.cm.req.prim_tfcclass", "infiniband.cm.req.prim_hoplim",
	"infiniband.cm.req.prim_sl", "infiniband.cm.req.prim_localacktout", "infiniband.cm.req.ip_cm.majv", "infiniband.cm.req.ip_cm.minv",
	"infiniband.cm.req.ip_cm.ipv", "infiniband.cm.req.ip_cm.sip4", "infiniband.cm.req.ip_cm.dip4", "infiniband.cm.req.ip_cm.private",
	"infiniband.cm.rep.localqkey", "infiniband.cm.rep.respres", "infiniband.cm.rep.initdepth", "infiniband.cm.rep.tgtackdelay",
	"infiniband.cm.rep.failoveracc", "infiniband.cm.rep.e2eflowctrl", "infiniband.cm.rep.rnrretrcount", "infiniband.cm.rep.srq",
	"infiniband.cm.rep.localcaguid", "infiniband.cm.rep.private", "infiniband.cm.rtu.private", "infiniband.cm.rej.msgrej", "infiniband.cm.rej.reason",
	"infiniband.mad.attributemodifier",
}

// TestWire decodes the messages between two hosts with Wireshark's dissector: cmtime's
// messages are the same as Debian's, message by message and field by field, and ibkit cm
// is rejected without a server.
func TestWire(t *testing.T) {
	t.Parallel()
	// messages returns a client's messages by sender and name; the second of two with the
	// same name repeats it. With refused, the client runs without the server first.
	messages := func(server, client string, refused bool) map[string]map[string]string {
		t.Helper()
		args := func(host string) []string { return strings.Fields(strings.ReplaceAll(client, "HOST", host)) }
		capture := filepath.Join(t.TempDir(), "wire.pcap")
		listening := spec(guest.Wire)
		listening.Capture = capture
		a, b := guest.NewPair(t, listening, spec(guest.Wire))
		host := a.Ports[0].Addr.String()
		if refused {
			run(t, b, 3, args(host)...)
		}
		p := a.MustStart(t, strings.Fields(server)...)
		if err := a.Await(t.Context(), "sh", "-c", listens); err != nil {
			t.Fatal(err)
		}
		run(t, b, 0, args(host)...)
		signal(t, p, unix.SIGTERM)
		wait(t, p)
		names := map[string]string{host: "server ", b.Ports[0].Addr.String(): "client "}
		for _, g := range []*guest.Guest{a, b} { // writes the capture
			if err := g.Close(); err != nil {
				t.Log(err)
			}
		}
		all := map[string]map[string]string{}
		for _, m := range cmwire.Decode(t, capture, wireFields...) {
			all[names[m.From]+m.Name] = m.Fields
		}
		return all
	}
	want := messages("cmtime", "cmtime -s HOST -c 1", false)
	for _, name := range []string{"client REQ", "server REP", "client RTU", "client DREQ", "server DREP"} {
		if want[name] == nil {
			t.Errorf("cmtime of Debian: got no %s", name)
		}
	}
	got := messages("ibkit cmtime", "ibkit cmtime -s HOST -c 1", false)
	for name, fields := range want {
		if !maps.Equal(got[name], fields) {
			t.Errorf("cmtime, %s: got\n%v\nwant\n%v", name, got[name], fields)
		}
	}
	got = messages("ibkit cm --serve", "ibkit cm HOST", true)
	for name := range want {
		if got[name] == nil {
			t.Errorf("ibkit cm: got no %s", name)
		}
	}
	const port = "infiniband.cm.req.serviceid"
	if got["client REQ"][port] != want["client REQ"][port] {
		t.Errorf("ibkit cm: got %s, want %s", got["client REQ"][port], want["client REQ"][port])
	}
	if got["server REJ"]["infiniband.cm.rej.reason"] != "0x0008" {
		t.Errorf("no server: got %v, want a REJ with reason 8", got["server REJ"])
	}
}
