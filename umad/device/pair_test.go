package device

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/ibkit/ibkit/internal/testenv"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/umad"
)

// setCaps writes a port's capability mask and GUID.
func setCaps(t *testing.T, h Host, device string, port int, caps uint32, guid string) {
	t.Helper()
	dir := filepath.Join(h.Sysfs, "class/infiniband", device, "ports", fmt.Sprint(port))
	for name, text := range map[string]string{"cap_mask": fmt.Sprintf("0x%08x", caps), "gids/0": "fe80:0000:0000:0000:" + guid} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// Devices with the same port GUID are a pair if either has no subnet management.
func TestHost_ChoosePair(t *testing.T) {
	const one, two = "0002:c903:0000:0001", "0002:c903:0000:0002"
	const general, managed = 0x2594_0c48, 0x2594_0848
	type caps struct {
		device string
		port   int
		caps   uint32
		guid   string
	}
	h := host{
		{"umad0", "mlx5_0", ca, 1, ibLayer, active, linkUp},
		{"umad1", "smi0", ca, 1, ibLayer, down, polling}, {"umad2", "smi0", ca, 2, ibLayer, active, linkUp},
		{"umad3", "mlx5_1", ca, 1, ibLayer, active, linkUp},
	}
	planes := []caps{{"mlx5_0", 1, general, one}, {"smi0", 1, managed, one}, {"smi0", 2, managed, one}, {"mlx5_1", 1, managed, two}}
	for _, tt := range []struct {
		name     string
		caps     []caps
		device   string
		port     uint8
		gsi, smi string
	}{
		{"named by the device for general packets", planes, "mlx5_0", 0, "umad0", "umad2"},
		{"named by the device for subnet management", planes, "smi0", 0, "umad0", "umad2"},
		{"a plane of its own", planes, "smi0", 1, "umad0", "umad1"},
		{"the only device of a GUID", planes, "mlx5_1", 0, "umad3", "umad3"},
		{"both with subnet management", []caps{{"mlx5_0", 1, managed, one}, {"smi0", 1, managed, one}, {"smi0", 2, managed, one}}, "mlx5_0", 0, "umad0", "umad0"},
		{"neither with subnet management", []caps{{"mlx5_0", 1, general, one}, {"smi0", 1, general, one}, {"smi0", 2, general, one}}, "mlx5_0", 0, "umad0", "umad0"},
		{"no masks", nil, "mlx5_0", 0, "umad0", "umad0"},
		{"no GUID", []caps{{"mlx5_0", 1, general, "0000:0000:0000:0000"}, {"smi0", 2, managed, "0000:0000:0000:0000"}}, "mlx5_0", 0, "umad0", "umad0"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			written := h.write(t)
			for _, c := range tt.caps {
				setCaps(t, written, c.device, c.port, c.caps, c.guid)
			}
			p, err := written.Choose(tt.device, tt.port)
			if err != nil || p.Node != tt.gsi || p.SubnetManagement().Node != tt.smi {
				t.Errorf("got %s and %s, error %v, want %s and %s", p.Node, p.SubnetManagement().Node, err, tt.gsi, tt.smi)
			}
			if isPair := tt.gsi != tt.smi; p.Attr.DirectedOnly != isPair {
				t.Errorf("got DirectedOnly %v, want %v", p.Attr.DirectedOnly, isPair)
			}
		})
	}
	t.Run("Ethernet", func(t *testing.T) {
		for _, h := range []host{
			{{"umad0", "mlx5_0", ca, 1, ibLayer, active, linkUp}, {"umad1", "roce0", ca, 1, eth, active, linkUp}},
			{{"umad0", "mlx5_0", ca, 1, eth, active, linkUp}, {"umad1", "roce0", ca, 1, ibLayer, active, linkUp}},
		} {
			written := h.write(t)
			setCaps(t, written, "mlx5_0", 1, managed, one)
			setCaps(t, written, "roce0", 1, general, one)
			for _, device := range []string{"mlx5_0", "roce0"} {
				p, err := written.Choose(device, 0)
				if err != nil || p.Attr.Device != device || p.SubnetManagement().Node != p.Node || p.Attr.DirectedOnly {
					t.Errorf("%s: got %s and %s, error %v, want no pair", device, p.Node, p.SubnetManagement().Node, err)
				}
			}
		}
	})
	written := h.write(t)
	for _, c := range planes[:3] {
		setCaps(t, written, c.device, c.port, c.caps, c.guid)
	}
	setCaps(t, written, "mlx5_1", 1, general, two)
	if p, err := written.Choose("", 0); err != nil || p.SubnetManagement().NoSubnetManagement && p.Node != "umad3" {
		t.Errorf("by default: got %s and %s, error %v", p.Node, p.SubnetManagement().Node, err)
	}
}

// newTestPair returns a port in a pair, and its sockets' other ends.
func newTestPair(t *testing.T) (p *Port, general, management *os.File) {
	t.Helper()
	p, general = newTestPort(t)
	p.smi, management = newTestPort(t)
	p.smi.attr.Device = "smi0"
	for i := range p.agents {
		p.agents[i], p.smi.agents[i] = agent{id: 1, registered: true}, agent{id: 2, registered: true}
	}
	if err := p.joinReads(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.ready.Close() })
	return p, general, management
}

// testPair sends a packet of each kind, and receives the replies in any order.
func testPair(t *testing.T, p *Port, general, management *os.File) {
	for _, class := range []mad.Class{mad.ClassSMPDirected, mad.ClassPM, mad.ClassSMPLIDRouted, mad.ClassSA} {
		var m umad.Message
		m.MAD.PutGMP(mad.Header{BaseVersion: 1, Class: class, TID: uint64(class)})
		if err := p.Send(&m); err != nil {
			t.Fatal(err)
		}
	}
	b := make([]byte, 1024)
	for peer, want := range map[*os.File][]mad.Class{general: {mad.ClassPM, mad.ClassSA}, management: {mad.ClassSMPDirected, mad.ClassSMPLIDRouted}} {
		for _, class := range want {
			n, err := peer.Read(b)
			if err != nil || n != packetSize {
				t.Fatalf("got %d bytes, error %v, want a packet", n, err)
			}
			if got := mad.Class(b[packetSize-mad.Size+1]); got != class {
				t.Errorf("got a packet of %v, want %v", got, class)
			}
			if _, err := peer.Write(b[:n]); err != nil { // the reply
				t.Fatal(err)
			}
		}
	}
	limit := time.Now().Add(testenv.WaitLimit)
	got := map[mad.Class]bool{}
	for range 4 {
		var m umad.Message
		if err := p.Recv(&m, limit); err != nil {
			t.Fatal(err)
		}
		got[m.MAD.Class()] = true
	}
	if len(got) != 4 {
		t.Errorf("got %v, want four classes", got)
	}
	var m umad.Message
	if err := p.Recv(&m, testenv.Soon()); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("without a message: got error %v", err)
	}
	p.Interrupt()
	if err := p.Recv(&m, limit); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("interrupted: got error %v", err)
	}
	// A message that arrives during the wait, on either device, again and again.
	for i := range 20 {
		peer := general
		if i%2 == 0 {
			peer = management
		}
		go peer.Write(b[:packetSize])
		if err := p.Recv(&m, limit); err != nil {
			t.Fatalf("message %d: %v", i, err)
		}
	}
}

func TestPair(t *testing.T) {
	t.Run("poller", func(t *testing.T) {
		p, general, management := newTestPair(t)
		testPair(t, p, general, management)
	})
	t.Run("thread", func(t *testing.T) {
		p, general, management := newTestPair(t)
		if err := p.WaitInThread(); err != nil {
			t.Fatal(err)
		}
		testPair(t, p, general, management)
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
}

// A removed device is named.
func TestPair_Removed(t *testing.T) {
	p, _, management := newTestPair(t)
	if err := management.Close(); err != nil {
		t.Fatal(err)
	}
	var m umad.Message
	m.MAD.PutSMP(mad.SMPRequest{Directed: true})
	if err := p.Send(&m); err == nil {
		t.Error("got no error of a closed device")
	}
}
