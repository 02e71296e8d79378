package trap

import (
	"bytes"
	"testing"
	"time"

	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/sim"
)

func TestParseKind(t *testing.T) {
	for text, want := range map[string]uint16{"link-state": 128, "Link-State": 128, "128": 128, "0": 0, "65534": 65534} {
		if k, err := ParseKind(text); err != nil || k.Number != want {
			t.Errorf("%s: got %+v, %v, want %d", text, k, err, want)
		}
	}
	for _, text := range []string{"", "nosuch", "-1", "65535", "0x80"} {
		if k, err := ParseKind(text); err == nil {
			t.Errorf("%q: got %+v, want an error", text, k)
		}
	}
}

// Each kind has details, which come back from their bytes, a text and a subject.
func TestKinds(t *testing.T) {
	s := Source{NodeType: mad.NodeTypeSwitch, LID: 7, GID: ib.MakeGID(0xfe80000000000000, 9), CapMask: mad.CapTrap, Port: 3}
	for _, k := range Kinds {
		t.Run(k.Name, func(t *testing.T) {
			details := s.Details(k.Number)
			n, err := s.Notice(k.Number, details)
			if err != nil {
				t.Fatal(err)
			}
			var b, again [mad.DataSize]byte
			if err := mad.Encode(n, b[:]); err != nil {
				t.Fatal(err)
			}
			var decoded mad.Notice
			if err := mad.Decode(&decoded, b[:]); err != nil {
				t.Fatal(err)
			}
			if err := decoded.EncodeDetails(decoded.DecodeDetails()); err != nil {
				t.Fatal(err)
			}
			if err := mad.Encode(&decoded, again[:]); err != nil || !bytes.Equal(b[:], again[:]) {
				t.Errorf("got % x, %v, want % x", again, err, b)
			}
			notice := newNotice(mad.Report{Notice: *n}, time.Time{})
			if got, known := notice.Kind(); !known || got != k || notice.Text() == "" || notice.Subject.LID == 0 && notice.Subject.GID.IsZero() {
				t.Errorf("got kind %v, text %q, subject %+v", got, notice.Text(), notice.Subject)
			}
		})
	}
	if s.Details(1) != nil {
		t.Error("got details of trap 1, want none")
	}
}

func TestSend(t *testing.T) {
	f, err := sim.Build("demo")
	if err != nil {
		t.Fatal(err)
	}
	open := f.Opener("node02")
	for _, noWait := range []bool{false, true} {
		kind, _ := KindOf(mad.TrapLinkIntegrity)
		sent, err := Send(t.Context(), SendOptions{Source: fabric.Source{OpenPort: open}, Kind: kind, Port: 3, NoWait: noWait})
		if err != nil || sent.To.LID != f.Node("node01").Ports[1].Info.LID {
			t.Fatalf("no wait: %t: got %+v, %v", noWait, sent, err)
		}
		if d, ok := sent.Notice.DecodeDetails().(*mad.PortNotice); !ok || d.Port != 3 || sent.Notice.ProducerType != uint32(mad.NodeTypeCA) {
			t.Errorf("got %+v with details %+v", sent.Notice, d)
		}
	}
	if _, err := Send(t.Context(), SendOptions{Source: fabric.Source{OpenPort: open}, Kind: Kind{Number: 5}}); err == nil {
		t.Error("trap 5: got no error")
	}
}
