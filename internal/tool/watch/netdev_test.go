package watch

import (
	"encoding/binary"
	"net"
	"testing"

	"github.com/mdlayher/netlink"
	"github.com/mdlayher/netlink/nltest"
	"golang.org/x/sys/unix"

	"github.com/ibkit/ibkit/report"
)

// linkMessage returns a message about a network device: struct ifinfomsg and IFLA_IFNAME.
func linkMessage(kind netlink.HeaderType, arp uint16, flags uint32, name string) netlink.Message {
	b := make([]byte, unix.SizeofIfInfomsg)
	binary.NativeEndian.PutUint16(b[2:], arp)
	binary.NativeEndian.PutUint32(b[4:], 7)
	binary.NativeEndian.PutUint32(b[8:], flags)
	e := netlink.NewAttributeEncoder()
	e.Uint32(unix.IFLA_MTU, 1500)
	if name != "" {
		e.String(unix.IFLA_IFNAME, name)
	}
	attributes, err := e.Encode()
	if err != nil {
		panic(err)
	}
	return netlink.Message{Header: netlink.Header{Type: kind}, Data: append(b, attributes...)}
}

// bridged returns a bridge's message about a network device.
func bridged(m netlink.Message) netlink.Message {
	m.Data[0] = unix.AF_BRIDGE
	return m
}

// Only a change to the ability to transmit is a change, for the same device under any name.
func TestNetdevTable_Changed(t *testing.T) {
	down, up, removed := netdevState{index: 7, name: "ib0"}, netdevState{index: 7, name: "ib0", running: true}, netdevState{index: 7, name: "ib0", removed: true}
	atStart, renamed := up, up
	atStart.initial, renamed.name = true, "ibp1s0"
	for _, test := range []struct {
		name   string
		states []netdevState
		want   []bool
	}{
		{"running at the start", []netdevState{atStart, up}, []bool{false, false}},
		{"added", []netdevState{down, up}, []bool{false, true}},
		{"added, running", []netdevState{up}, []bool{true}},
		{"down and up", []netdevState{atStart, down, down, up}, []bool{false, true, false, true}},
		{"renamed", []netdevState{atStart, renamed}, []bool{false, false}},
		{"removed and added", []netdevState{atStart, removed, up}, []bool{false, true, true}},
		{"removed while down", []netdevState{down, removed, down}, []bool{false, false, false}},
	} {
		t.Run(test.name, func(t *testing.T) {
			table := netdevTable{}
			for i, s := range test.states {
				if got := table.changed(s); got != test.want[i] {
					t.Errorf("state %d: got %v, want %v", i+1, got, test.want[i])
				}
			}
		})
	}
}

// After the kernel dropped messages, the states are requested again.
func TestNetdevs_Missed(t *testing.T) {
	replies := []func() ([]netlink.Message, error){
		func() ([]netlink.Message, error) {
			return nltest.Multipart([]netlink.Message{linkMessage(unix.RTM_NEWLINK, 1, 0, "eth0"), {}})
		},
		func() ([]netlink.Message, error) { return nil, unix.ENOBUFS },
		func() ([]netlink.Message, error) {
			return nltest.Multipart([]netlink.Message{linkMessage(unix.RTM_NEWLINK, 1, unix.IFF_UP|unix.IFF_RUNNING, "eth0"), {}})
		},
		func() ([]netlink.Message, error) { return nil, net.ErrClosed },
	}
	requests := 0
	n := &netdevs{nltest.Dial(func(request []netlink.Message) ([]netlink.Message, error) {
		requests += len(request)
		reply := replies[0]
		replies = replies[1:]
		return reply()
	})}
	var got []netdevState
	missed := 0
	err := n.read(func(s netdevState) { got = append(got, s) }, func(error) { missed++ })
	if err != nil || requests != 2 || missed != 1 || len(got) != 2 || !got[0].initial || got[1].initial || !got[1].running {
		t.Errorf("got error %v, %d requests, %d losses, %+v, want 2 requests, 1 loss and 2 states", err, requests, missed, got)
	}
}

// An event has the change's severity and detail, and devices without RDMA have none.
func TestRun_Netdev(t *testing.T) {
	for _, test := range []struct {
		name  string
		state netdevState
		kind  report.EventKind
		rated report.Severity
		text  string
	}{
		{"up", netdevState{name: "ib9", infiniband: true, running: true, adminUp: true}, report.NetdevUp, report.Recovery, "running"},
		{"no carrier", netdevState{name: "ib9", infiniband: true, adminUp: true}, report.NetdevDown, report.Error, "no carrier"},
		{"removed", netdevState{name: "ib9", infiniband: true, removed: true}, report.NetdevDown, report.Error, "removed"},
		{"not up", netdevState{name: "ib9", infiniband: true}, report.NetdevDown, report.Error, "not up"},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := &run{queue: queue{wake: make(chan struct{}, 1)}}
			r.netdev(test.state)
			e, _, ok := r.queue.take()
			if !ok || e.Kind != test.kind || e.Severity != test.rated || e.Detail != test.text || e.Subject != "ib9" || *e.Data.Device.Netdev != "ib9" {
				t.Errorf("got %+v, want %v, %v, %s", e, test.kind, test.rated, test.text)
			}
		})
	}
	r := &run{queue: queue{wake: make(chan struct{}, 1)}}
	r.netdev(netdevState{name: "eth9", running: true})
	if e, _, ok := r.queue.take(); ok {
		t.Errorf("without RDMA: got %+v", e)
	}
}

func TestParseNetdev(t *testing.T) {
	const up, running = unix.IFF_UP, unix.IFF_UP | unix.IFF_RUNNING
	for _, test := range []struct {
		name    string
		message netlink.Message
		want    netdevState
		ok      bool
	}{
		{"running", linkMessage(unix.RTM_NEWLINK, 1, running, "eth0"), netdevState{index: 7, name: "eth0", running: true, adminUp: true}, true},
		{"no carrier", linkMessage(unix.RTM_NEWLINK, unix.ARPHRD_INFINIBAND, up, "ib0"), netdevState{index: 7, name: "ib0", infiniband: true, adminUp: true}, true},
		{"not up", linkMessage(unix.RTM_NEWLINK, 1, unix.IFF_RUNNING, "eth0"), netdevState{index: 7, name: "eth0"}, true},
		{"removed", linkMessage(unix.RTM_DELLINK, 1, running, "eth0"), netdevState{index: 7, name: "eth0", adminUp: true, removed: true}, true},
		{"without a name", linkMessage(unix.RTM_NEWLINK, 1, up, ""), netdevState{}, false},
		{"another type", linkMessage(unix.RTM_NEWADDR, 1, up, "eth0"), netdevState{}, false},
		{"port of a bridge", bridged(linkMessage(unix.RTM_DELLINK, 1, running, "eth0")), netdevState{}, false},
		{"short", netlink.Message{Header: netlink.Header{Type: unix.RTM_NEWLINK}, Data: make([]byte, 15)}, netdevState{}, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got, ok := parseNetdev(test.message); ok != test.ok || ok && got != test.want {
				t.Errorf("got %+v, %v, want %+v, %v", got, ok, test.want, test.ok)
			}
		})
	}
}

// FuzzParseNetdev checks that messages never cause a panic, and that each state has a name.
func FuzzParseNetdev(f *testing.F) {
	for _, m := range []netlink.Message{
		linkMessage(unix.RTM_NEWLINK, 1, unix.IFF_UP, "eth0"), linkMessage(unix.RTM_DELLINK, unix.ARPHRD_INFINIBAND, 0, "ib0"),
	} {
		f.Add(uint16(m.Header.Type), m.Data)
	}
	f.Fuzz(func(t *testing.T, kind uint16, data []byte) {
		n, ok := parseNetdev(netlink.Message{Header: netlink.Header{Type: netlink.HeaderType(kind)}, Data: data})
		if ok && (n.name == "" || n.text() == "") {
			t.Errorf("got %+v", n)
		}
	})
}
