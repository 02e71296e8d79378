package ibdiagnet

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/internal/textfile"
	"github.com/ibkit/ibkit/mad"
)

// links formats a link list's data.
func links(f *fabric.Fabric) string {
	var b strings.Builder
	for _, n := range f.Nodes {
		fmt.Fprintf(&b, "%v %q %v %v\n", n.Info.NodeType, n.Desc.String(), n.GUID, n.Info.SystemGUID)
		for _, p := range n.Ports {
			if p != nil && p.Peer != nil {
				fmt.Fprintf(&b, "  %d LID %d %v %v %v to %v port %d\n", p.Number, p.LID(), p.Info.State, p.Info.LinkWidthActive,
					p.Info.ActiveSpeed(p.Caps(), p.Ext), p.Peer.Node.GUID, p.Peer.Number)
			}
		}
	}
	return b.String()
}

// A list that was written and read has the same links.
func TestList(t *testing.T) {
	for _, description := range []string{"demo", "mixed", "chassis", "torus"} {
		t.Run(description, func(t *testing.T) {
			f := scan(t, description)
			var b bytes.Buffer
			if err := WriteList(&b, f, nil); err != nil {
				t.Fatal(err)
			}
			got, err := ReadList(&b, "list")
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(links(f), links(got)); diff != "" || !got.Sparse {
				t.Errorf("want (-), got (+)\n%ssparse %v", diff, got.Sparse)
			}
		})
	}
}

// Names cannot break a line, and unknown attributes are read as such.
func TestList_Unknown(t *testing.T) {
	f := scan(t, "single-switch:hosts=2")
	host := f.Nodes[0]
	host.Desc = mad.NewNodeDescription("a {b}\nc")
	f.Start.Ports[1].Info = nil
	var b bytes.Buffer
	if err := WriteList(&b, f, nil); err != nil {
		t.Fatal(err)
	}
	got, err := ReadList(&b, "list")
	if err != nil {
		t.Fatal(err)
	}
	n := got.NodeByGUID(host.GUID)
	if p := n.Ports[1]; n.Desc.String() != "a (b) c" || p.Info.State != ib.PortNoChange || p.Info.LinkWidthActive != 0 || p.Info.ActiveSpeed(p.Info, nil) != 0 {
		t.Errorf("got %q, %+v", n.Desc.String(), p.Info)
	}
}

const (
	endA = "{ SW Ports:02 SystemGUID:1 NodeGUID:1 PortGUID:1 VenID:2C9 DevID:BD36 Rev:0 {leaf {1}} LID:0003 PN:01 } "
	endB = "{ CA-SM Ports:01 SystemGUID:2 NodeGUID:2 PortGUID:3 VenID:000002C9 DevID:0000BD36 Rev:00000000 {} LID:0004 PN:01 } "
	rate = "PHY=4x LOG=ACT SPD=50"
)

func TestReadList_Errors(t *testing.T) {
	for _, test := range []struct {
		name, text, want string
		line             int
	}{
		{"empty", "# comment\n", "got no links", 0},
		{"text", "x", "want {", 1},
		{"no rate", endA + endB, "want PHY=", 1},
		{"state", endA + endB + "PHY=4x LOG=UP SPD=50", "want LOG= and one of", 1},
		{"type", strings.Replace(endA, "SW", "XX", 1), "want CA, SW or RT", 1},
		{"GUID", strings.Replace(endA, "NodeGUID:1", "NodeGUID:x", 1), "NodeGUID: and a hexadecimal number", 1},
		{"port", strings.Replace(endA, "PN:01", "PN:03", 1) + endB + rate, "want 1 to 2", 1},
		{"description", strings.Replace(endA, "{leaf {1}}", "leaf", 1), "a description in braces", 1},
		{"type changes", endA + endB + rate + "\n" + endB + strings.Replace(endA, "SW", "CA", 1) + rate, "in a line before a Switch", 2},
		{"LID changes", endA + endB + rate + "\n" + endA + strings.Replace(endB, "LID:0004", "LID:0005", 1) + rate, "and LID 4 in an earlier line", 2},
		{"itself", endA + endA + rate, "is linked to itself", 1},
		{"two links", endA + endB + rate + "\n" + strings.Replace(endA, "PN:01", "PN:02", 1) + endB + rate, "has another link", 2},
	} {
		t.Run(test.name, func(t *testing.T) {
			f, err := ReadList(strings.NewReader(test.text), "list")
			if err == nil && f.Damaged() {
				err = f.Failures[0].Err
			}
			var at *textfile.Error
			if err == nil || !strings.Contains(err.Error(), test.want) || !errors.As(err, &at) || at.Line != test.line {
				t.Errorf("got %v, want %s in line %d", err, test.want, test.line)
			}
		})
	}
}

func FuzzReadList(f *testing.F) {
	f.Add(endA + endB + rate + "\n" + endB + endA + rate)
	f.Fuzz(func(t *testing.T, text string) {
		list, err := ReadList(strings.NewReader(text), "list")
		if err != nil {
			return
		}
		var b bytes.Buffer
		if err := WriteList(&b, list, nil); err != nil {
			t.Fatal(err)
		}
		again, err := ReadList(&b, "list")
		if err != nil && b.Len() > 0 {
			t.Fatal(err)
		}
		if b.Len() > 0 && strings.Count(links(again), " to ") != strings.Count(links(list), " to ") {
			t.Errorf("got\n%swant\n%s", links(again), links(list))
		}
	})
}
