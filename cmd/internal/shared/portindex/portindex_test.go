package portindex

import (
	"errors"
	"net/netip"
	"testing"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/internal/tool/route"
	"github.com/ibkit/ibkit/mad"
)

func TestIndex_PortByIP(t *testing.T) {
	r := &route.Routing{}
	n := r.Add(0x10, mad.NodeTypeCA, 2)
	n.Ports[2].GUID, n.Ports[2].LID = 0x12, 7
	noReply := errors.New("no reply")
	guids := map[string]ib.GUID{"10.0.0.2": 0x12, "10.0.0.1": 0x10, "10.0.0.9": 0x99}
	x := New(r, nil, func(ip netip.Addr) (ib.GID, error) {
		if guid, ok := guids[ip.String()]; ok {
			return ib.MakeGID(ib.DefaultPrefix, guid), nil
		}
		return ib.GID{}, noReply
	})
	for text, want := range map[string]string{
		"10.0.0.2": "",
		"10.0.0.1": "find IP 10.0.0.1: no port has this IP", // a node GUID is not a port's
		"10.0.0.9": "find IP 10.0.0.9: no port has this IP",
		"10.0.0.3": "find IP 10.0.0.3: no reply",
	} {
		a, err := Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		p, lid, err := x.Port(&a)
		switch {
		case want == "" && (err != nil || p != &n.Ports[2] || lid != 7):
			t.Errorf("%s: got port %v, LID %d, %v, want port 2, LID 7", text, p, lid, err)
		case want != "" && (err == nil || err.Error() != want):
			t.Errorf("%s: got error %v, want %q", text, err, want)
		}
	}
}
