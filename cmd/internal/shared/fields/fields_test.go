package fields

import (
	"bytes"
	"strings"
	"testing"

	"github.com/ibkit/ibkit/mad"
)

// Each line of a dump belongs to a field or is a row.
func TestOf(t *testing.T) {
	for _, class := range []mad.Class{mad.ClassSMPLIDRouted, mad.ClassPM, mad.ClassCC, mad.ClassSA} {
		for _, id := range class.Attributes() {
			t.Run(class.AttrName(id), func(t *testing.T) {
				a := class.NewAttribute(id)
				var b bytes.Buffer
				if err := mad.Dump(&b, a); err != nil {
					t.Fatal(err)
				}
				got := Of(a)
				want := 0
				for line := range strings.Lines(b.String()) {
					if strings.TrimSpace(line) != "" && !strings.HasPrefix(line, "\t") {
						want++
					}
				}
				if len(got) != want {
					t.Errorf("got %d fields, want %d:\n%s", len(got), want, b.String())
				}
			})
		}
	}
}

func TestOf_Capabilities(t *testing.T) {
	for _, f := range Of(&mad.PortInfo{CapMask: mad.CapSM | mad.CapTrap}) {
		if want := "0xa IsSM IsTrapSupported"; f.Name == "CapMask" && f.Text != want {
			t.Errorf("got %q, want %q", f.Text, want)
		}
	}
	if got := Of(&mad.NodeDescription{'.', 'x', ':', 0x1b}); len(got) != 1 || got[0].Text != ".x: " {
		t.Errorf("got %q, want the description", got)
	}
}

func TestOfPacket(t *testing.T) {
	var p mad.Packet
	p.PutSMP(mad.SMPRequest{Directed: true, Route: mad.RouteOf(1, 2), Attr: mad.AttrNodeInfo, Modifier: 7})
	p.SetStatus(mad.StatusBadValue)
	found := map[string]string{}
	for _, f := range OfPacket(&p) {
		found[f.Name] = f.Text
	}
	for name, want := range map[string]string{"InitialPath": "0,1,2", "AttributeID": "0x0011 NodeInfo", "AttributeModifier": "0x00000007", "Data48": strings.Repeat("00", 16)} {
		if found[name] != want {
			t.Errorf("%s: got %q, want %q", name, found[name], want)
		}
	}
	if !strings.Contains(found["Status"], "invalid value") {
		t.Errorf("got status %q", found["Status"])
	}
}
