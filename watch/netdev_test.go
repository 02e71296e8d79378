package watch

import (
	"encoding/binary"
	"testing"

	"github.com/mdlayher/netlink"
	"golang.org/x/sys/unix"
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
