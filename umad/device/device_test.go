package device

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/internal/testenv"
	"github.com/ibkit/ibkit/internal/uapi"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/umad"
)

// host describes ports to write into a sysfs tree.
type host []struct {
	umad, device, nodeType string
	port                   int
	layer, state, phys     string
}

func (h host) write(t *testing.T) Host {
	t.Helper()
	files := map[string]string{"class/infiniband_mad/abi_version": "5"}
	for _, p := range h {
		dir := "class/infiniband/" + p.device
		port := fmt.Sprintf("%s/ports/%d", dir, p.port)
		maps.Copy(files, map[string]string{
			dir + "/node_type":                          p.nodeType,
			dir + "/node_guid":                          "0002:c903:0000:0001",
			port + "/state":                             p.state,
			port + "/phys_state":                        p.phys,
			port + "/lid":                               "0x7",
			port + "/lid_mask_count":                    "0",
			port + "/sm_lid":                            "0x1",
			port + "/sm_sl":                             "0",
			port + "/link_layer":                        p.layer,
			port + "/gids/0":                            "fe80:0000:0000:0000:0002:c903:0000:0002",
			"class/infiniband_mad/" + p.umad + "/ibdev": p.device,
			"class/infiniband_mad/" + p.umad + "/port":  fmt.Sprint(p.port),
		})
	}
	return Host{Sysfs: testenv.WriteTree(t, files)}
}

const (
	ca, sw           = "1: CA", "2: Switch"
	ibLayer, eth     = "InfiniBand", "Ethernet"
	active, initial  = "4: ACTIVE", "2: INIT"
	down             = "1: DOWN"
	linkUp, disabled = "5: LinkUp", "3: Disabled"
	polling          = "2: Polling"
)

func TestHost_ChooseOrder(t *testing.T) {
	h := host{
		{"umad0", "mlx5_0", ca, 1, ibLayer, active, linkUp}, {"umad1", "mlx5_1", ca, 1, ibLayer, active, linkUp},
		{"umad2", "mlx5_2", ca, 1, ibLayer, active, linkUp}, {"umad3", "ibp9", ca, 1, ibLayer, active, linkUp},
	}.write(t)
	dir, err := os.Open(filepath.Join(h.Sysfs, "class/infiniband"))
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	if err != nil {
		t.Fatal(err)
	}
	if p, err := h.Choose("", 0); err != nil || p.Attr.Device != names[0] {
		t.Errorf("got %s, error %v, want the first of %q", p.Attr.Device, err, names)
	}
}

func TestHost_Choose(t *testing.T) {
	tests := []struct {
		name   string
		host   host
		device string
		port   uint8
		want   string // node, or an error part
	}{
		{"active", host{{"umad0", "mlx5_0", ca, 1, ibLayer, down, polling}, {"umad1", "mlx5_1", ca, 1, ibLayer, active, linkUp}}, "", 0, "umad1"},
		{"first port", host{{"umad10", "mlx5_0", ca, 2, ibLayer, active, linkUp}, {"umad2", "mlx5_0", ca, 1, ibLayer, active, linkUp}}, "", 0, "umad2"},
		{"link up", host{{"umad0", "mlx5_0", ca, 1, ibLayer, down, polling}, {"umad1", "mlx5_0", ca, 2, ibLayer, initial, linkUp}}, "", 0, "umad1"},
		{"not disabled", host{{"umad0", "mlx5_0", ca, 1, ibLayer, down, disabled}, {"umad1", "mlx5_0", ca, 2, ibLayer, down, polling}}, "", 0, "umad1"},
		{"not Ethernet", host{{"umad0", "mlx5_0", ca, 1, eth, active, linkUp}, {"umad1", "mlx5_1", ca, 1, ibLayer, initial, linkUp}}, "", 0, "umad1"},
		{"Ethernet by name", host{{"umad0", "mlx5_0", ca, 1, eth, active, linkUp}}, "mlx5_0", 0, "umad0"},
		{"port 0 of a switch", host{{"umad0", "sw", sw, 1, ibLayer, active, linkUp}, {"umad1", "sw", sw, 0, ibLayer, active, linkUp}}, "", 0, "umad1"},
		{"by name", host{{"umad0", "mlx5_0", ca, 1, ibLayer, active, linkUp}, {"umad1", "mlx5_1", ca, 1, ibLayer, down, polling}}, "mlx5_1", 0, "umad1"},
		{"by port", host{{"umad0", "mlx5_0", ca, 1, ibLayer, active, linkUp}, {"umad1", "mlx5_0", ca, 2, ibLayer, down, polling}}, "", 2, "umad1"},
		{"Ethernet only", host{{"umad0", "mlx5_0", ca, 1, eth, active, linkUp}}, "", 0, "this host has mlx5_0/1 (Ethernet, Active, LinkUp)"},
		{"all disabled", host{{"umad0", "mlx5_0", ca, 1, ibLayer, down, disabled}}, "", 0, "find InfiniBand port that is not disabled"},
		{"no such device", host{{"umad0", "mlx5_0", ca, 1, ibLayer, active, linkUp}}, "mlx5_7", 1, "find usable port 1 of mlx5_7: this host has mlx5_0/1"},
		{"disabled, by name", host{{"umad0", "mlx5_0", ca, 1, ibLayer, down, disabled}}, "mlx5_0", 0, "umad0"},
		{"disabled, by name and port", host{{"umad0", "mlx5_0", ca, 1, ibLayer, down, disabled}, {"umad1", "mlx5_0", ca, 2, ibLayer, active, linkUp}}, "mlx5_0", 1, "umad0"},
		{"disabled, by port", host{{"umad0", "mlx5_0", ca, 1, ibLayer, down, disabled}}, "", 1, "this host has mlx5_0/1 (InfiniBand, Down, Disabled)"},
		{"two disabled, by name", host{{"umad0", "mlx5_0", ca, 1, ibLayer, down, disabled}, {"umad1", "mlx5_0", ca, 2, ibLayer, down, disabled}}, "mlx5_0", 0, "find usable port of mlx5_0"},
		{"no device", host{}, "", 0, "find InfiniBand port: no port in"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p, err := tt.host.write(t).Choose(tt.device, tt.port)
			switch {
			case err == nil && p.Node != tt.want:
				t.Errorf("got %s, want %s", p.Node, tt.want)
			case err != nil && !strings.Contains(err.Error(), tt.want):
				t.Errorf("got error %v, want %q", err, tt.want)
			}
		})
	}
}

// A device with missing files does not prevent the use of others.
func TestHost_PortsUnplugged(t *testing.T) {
	h := host{
		{"umad0", "mlx5_0", ca, 1, ibLayer, active, linkUp},
		{"umad1", "mlx5_0", ca, 2, ibLayer, active, linkUp},
		{"umad2", "mlx5_1", ca, 1, ibLayer, active, linkUp},
		{"umad3", "mlx5_2", ca, 1, ibLayer, active, linkUp},
	}.write(t)
	for _, file := range []string{
		"class/infiniband/mlx5_0/ports/2/state",
		"class/infiniband/mlx5_1/node_type",
		"class/infiniband_mad/umad3/ibdev",
	} {
		if err := os.Remove(filepath.Join(h.Sysfs, file)); err != nil {
			t.Fatal(err)
		}
	}
	all, err := h.Ports()
	if err != nil || len(all) != 1 || all[0].Node != "umad0" || all[0].NodeType != mad.NodeTypeCA {
		t.Errorf("got %v, error %v, want umad0 only", all, err)
	}
}

// Files with bad contents do not hide other ports. Without another port, they are the
// reason why there is none.
func TestHost_PortsUnreadable(t *testing.T) {
	ports := host{
		{"umad0", "mlx5_0", ca, 1, ibLayer, "ACTIVE", linkUp},
		{"umad1", "mlx5_1", ca, 1, ibLayer, active, linkUp},
	}
	all, err := ports.write(t).Ports()
	if err != nil || len(all) != 1 || all[0].Node != "umad1" {
		t.Errorf("got %v, error %v, want umad1 only", all, err)
	}
	_, err = ports[:1].write(t).Choose("", 0)
	if want := `"ACTIVE" is not an unsigned 8-bit number`; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("got error %v, want %s", err, want)
	}
}

func TestOpen_NoModule(t *testing.T) {
	_, err := Open(Options{Host: Host{Sysfs: t.TempDir()}})
	var missing *NoPortError
	if !errors.As(err, &missing) || !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got error %v, want %T", err, missing)
	}
}

func TestOpen_NoNode(t *testing.T) {
	h := host{{"umad0", "mlx5_0", ca, 1, ibLayer, active, linkUp}}.write(t)
	h.Dev = t.TempDir()
	_, err := Open(Options{Host: h})
	var failed *OpenError
	if !errors.As(err, &failed) || !strings.Contains(err.Error(), "umad0: no such file or directory") || failed.Hint() == "" {
		t.Errorf("got error %v, want %T with a hint", err, failed)
	}
}

// fifoHost returns a host with a FIFO in place of a device node, which can be opened.
func fifoHost(t *testing.T) Host {
	t.Helper()
	h := host{{"umad7", "mlx5_0", ca, 1, ibLayer, active, linkUp}}.write(t)
	h.Dev = t.TempDir()
	if err := unix.Mkfifo(filepath.Join(h.Dev, "umad7"), 0o600); err != nil {
		t.Fatal(err)
	}
	return h
}

func TestOpen(t *testing.T) {
	p, err := Open(Options{Host: fifoHost(t)})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := p.Attr(), (umad.PortAttr{
		Device: "mlx5_0", Number: 1, LinkLayer: "InfiniBand", NodeGUID: 0x0002c90300000001, PortGUID: 0x0002c90300000002,
		LID: 7, SMLID: 1, State: ib.PortActive, PhysState: ib.PhysLinkUp, GIDPrefix: 0xfe80 << 48,
		RMPP: true,
	}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if err := p.Close(); err != nil {
		t.Error(err)
	}
	if err := p.Send(&umad.Message{}); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("Send: got %v, want %v", err, fs.ErrClosed)
	}
	if err := p.Recv(&umad.Message{}, time.Time{}); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("Recv: got %v, want %v", err, fs.ErrClosed)
	}
	p.Interrupt()
}

// A port's device node is closed if the port is dropped without Close.
func TestPort_Dropped(t *testing.T) {
	h := fifoHost(t)
	opened := func() bool {
		links, err := filepath.Glob("/proc/self/fd/*")
		if err != nil {
			t.Fatal(err)
		}
		return slices.ContainsFunc(links, func(link string) bool {
			target, err := os.Readlink(link)
			return err == nil && target == filepath.Join(h.Dev, "umad7")
		})
	}
	p, err := Open(Options{Host: h})
	if err != nil {
		t.Fatal(err)
	}
	if err := p.WaitInThread(); err != nil {
		t.Fatal(err)
	}
	if !opened() {
		t.Fatal("the device node is not open")
	}
	runtime.KeepAlive(p)
	p = nil
	testenv.Await(t, "end of the use of the device node", func() bool { runtime.GC(); return !opened() })
}

func TestOpen_OtherVersion(t *testing.T) {
	h := host{{"umad0", "mlx5_0", ca, 1, ibLayer, active, linkUp}}.write(t)
	if err := os.WriteFile(filepath.Join(h.Sysfs, "class/infiniband_mad/abi_version"), []byte("6\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(Options{Host: h}); err == nil || !strings.Contains(err.Error(), "version: got 6, want 5") {
		t.Errorf("got error %v, want one about the version", err)
	}
}

func TestPermissionHint(t *testing.T) {
	for _, test := range []struct {
		e    OpenError
		want string
	}{
		{OpenError{Owner: "root", Group: "rdma", Mode: 0o660}, "join the group rdma"},
		{OpenError{Owner: "root", Group: "root", Mode: 0o600}, "run as root, or permit a group"},
	} {
		test.e.Path, test.e.Err = "/dev/infiniband/umad0", syscall.EACCES
		if hint := test.e.Hint(); !strings.Contains(hint, test.want) {
			t.Errorf("%v: got hint %q", &test.e, hint)
		}
	}
}

func TestEncode(t *testing.T) {
	m := umad.Message{
		Addr: umad.Addr{LID: 0x1234, QPN: 1, QKey: umad.QP1QKey, SL: 3, PathBits: 1, PKeyIndex: 2, GRH: &umad.GRH{
			SGIDIndex: 4, HopLimit: 64, TrafficClass: 5, FlowLabel: 0x12345, DGID: [16]byte{0xfe, 0x80, 15: 1},
		}},
		Timeout: time.Minute + 500*time.Microsecond,
	}
	m.MAD[0] = 0xaa
	var p packet
	p.encode(&m, 7)
	// In structure order: host byte order (little-endian here) for the kernel's fields,
	// network byte order for packet fields.
	want := "07000000" + "00000000" + "61ea0000" + "00000000" + "40010000" +
		"00000001" + "80010000" + "1234" + "03" + "01" + "01" + "04" + "40" + "05" +
		"fe800000000000000000000000000001" + "00012345" + "0200" + "000000000000" + "aa"
	if got := hex.EncodeToString(p.bytes()[:65]); got != want {
		t.Errorf("got\n%s, want\n%s", got, want)
	}
	var back umad.Message
	if !p.decode(&back, packetSize) || back.Addr.LID != 0x1234 || *back.Addr.GRH != *m.Addr.GRH || back.MAD != m.MAD {
		t.Errorf("got back %+v", back.Addr)
	}
}

// A request without a reply comes back as its header.
func TestDecodeTimeout(t *testing.T) {
	var p packet
	p.Status = uint32(syscall.ETIMEDOUT)
	p.mad.SetTID(42)
	p.mad[200] = 1 // left over from an earlier packet
	var m umad.Message
	if !p.decode(&m, 64+24) || m.Status != syscall.ETIMEDOUT || m.MAD.TID() != 42 || m.MAD[200] != 0 {
		t.Errorf("got %v", m.Status)
	}
}

// A Port over any file that keeps messages apart.
func TestPort(t *testing.T) {
	p, peer := newTestPort(t)
	p.agents[mad.ClassSMPDirected] = agent{id: 3, registered: true}
	var m umad.Message
	m.Addr.LID = ib.PermissiveLID
	m.MAD.PutSMP(mad.SMPRequest{TID: 9, Method: mad.MethodGet, Attr: mad.AttrNodeInfo, Directed: true})
	if err := p.Send(&m); err != nil {
		t.Fatal(err)
	}
	b := make([]byte, 512)
	n, err := peer.Read(b)
	if err != nil || n != packetSize || b[0] != 3 || !bytes.Equal(b[64:n], m.MAD[:]) {
		t.Fatalf("peer got %d bytes, %v", n, err)
	}
	for _, wrong := range [][]byte{b[:10], b[:64], b[:87]} {
		if _, err := peer.Write(wrong); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := peer.Write(b[:n]); err != nil {
		t.Fatal(err)
	}
	var got umad.Message
	if err := p.Recv(&got, time.Now().Add(testenv.WaitLimit)); err != nil || got.MAD.TID() != 9 {
		t.Fatalf("got %v, %v", got.MAD.TID(), err)
	}
	if err := p.Recv(&got, testenv.Soon()); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Fatalf("got error %v", err)
	}
	p.Interrupt()
	if err := p.Recv(&got, time.Time{}); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Fatalf("interrupted: got error %v", err)
	}
	// A file without the ioctl reports an error.
	m.MAD.PutGMP(mad.Header{Class: mad.ClassSA})
	if err := p.Send(&m); err == nil || !strings.Contains(err.Error(), "register for") {
		t.Fatalf("got error %v", err)
	}
}

// A message that exceeds the buffer is read again with the length in its header. The
// next message may be short.
func TestReceiveLong(t *testing.T) {
	p, peer := newTestPort(t)
	long := make([]byte, 1000)
	for i := range long {
		long[i] = byte(i / 7)
	}
	for _, message := range [][]byte{long, long[:packetSize]} {
		if _, err := peer.Write(message); err != nil {
			t.Fatal(err)
		}
	}
	p.in.Length = uint32(len(long))
	var m umad.Message
	n, err := p.receiveLong(&m, p, time.Now().Add(testenv.WaitLimit))
	if err != nil || n != packetSize || !bytes.Equal(p.in.bytes(), long[:n]) || !bytes.Equal(m.Rest, long[n:]) {
		t.Fatalf("got %d bytes and %d more, %v", n, len(m.Rest), err)
	}
	if err := p.Recv(&m, time.Now().Add(testenv.WaitLimit)); err != nil || m.Rest != nil {
		t.Errorf("%d bytes are left over, %v", len(m.Rest), err)
	}
	for _, size := range []uint32{0, uint32(packetSize), maxMessage + 1} {
		p.in.Length = size
		if _, err := p.receiveLong(&m, p, time.Time{}); !errors.Is(err, unix.EMSGSIZE) {
			t.Errorf("%d bytes: got error %v", size, err)
		}
	}
}

func TestPortFull(t *testing.T) {
	p, _ := newTestPort(t)
	p.agents[0].registered = true
	var m umad.Message
	for range 100000 {
		if err := p.Send(&m); err != nil {
			if !errors.Is(err, umad.ErrWouldBlock) {
				t.Errorf("got error %v", err)
			}
			return
		}
	}
	t.Error("there is always room")
}

func TestFailed(t *testing.T) {
	p, peer := newTestPort(t)
	p.agents[0].registered = true
	peer.Close()
	var m umad.Message
	if err := p.Send(&m); !errors.Is(err, umad.ErrDeviceRemoved) || !strings.Contains(err.Error(), "send MAD by /dev/test (test0): device removed") {
		t.Errorf("got error %v", err)
	}
	for err, gone := range map[error]bool{
		syscall.ENODEV: true, syscall.EIO: true, syscall.EPIPE: true, syscall.EINVAL: false, os.ErrClosed: false,
	} {
		if got := p.failed("send MAD", err); errors.Is(got, umad.ErrDeviceRemoved) != gone || !errors.Is(got, err) {
			t.Errorf("%v: got %v", err, got)
		}
	}
}

func TestRegistration(t *testing.T) {
	for _, test := range []struct {
		class   mad.Class
		version uint8
		want    uapi.UMADRegister
	}{
		{mad.ClassSMPLIDRouted, 1, uapi.UMADRegister{QPN: 0, Class: 0x01, ClassVers: 1}},
		{mad.ClassSMPDirected, 1, uapi.UMADRegister{QPN: 0, Class: 0x81, ClassVers: 1}},
		{mad.ClassSA, 2, uapi.UMADRegister{QPN: 1, Class: 0x03, ClassVers: 2, RMPPVersion: 1}},
		{mad.ClassPM, 1, uapi.UMADRegister{QPN: 1, Class: 0x04, ClassVers: 1}},
		{0x0a, 1, uapi.UMADRegister{QPN: 1, Class: 0x0a, ClassVers: 1}},
		{0x32, 1, uapi.UMADRegister{QPN: 1, Class: 0x32, ClassVers: 1, OUI: 0x1405}},
	} {
		t.Run(test.class.String(), func(t *testing.T) {
			var m mad.Packet
			m.PutGMP(mad.Header{BaseVersion: 1, Class: test.class, ClassVersion: test.version})
			if got := registration(&m); got != test.want {
				t.Errorf("%v: got %+v, want %+v", test.class, got, test.want)
			}
		})
	}
}

func TestServiceRegistration(t *testing.T) {
	got := serviceRegistration(umad.Service{Class: 0x32, ClassVersion: 1, OUI: 0x1405, Methods: []mad.Method{0x01, 0x03, 0x40, 0x7f}})
	want := uapi.UMADRegister{QPN: 1, Class: 0x32, ClassVers: 1, OUI: 0x1405, MethodMask: [2]uint64{1<<1 | 1<<3, 1<<0 | 1<<63}}
	if got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

// A class has a single agent, and a file without the ioctl reports an error.
func TestListen(t *testing.T) {
	p, _ := newTestPort(t)
	p.agents[0x33].registered = true
	for class, want := range map[mad.Class]string{0x32: "listen for Vendor(0x32) by /dev/test (test0): ", 0x33: "in use already"} {
		if err := p.Listen(umad.Service{Class: class}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("class %v: got error %v", class, err)
		}
	}
}

func TestAllocations(t *testing.T) {
	p, peer := newTestPort(t)
	p.agents[mad.ClassSMPDirected].registered = true
	var m umad.Message
	m.MAD.PutSMP(mad.SMPRequest{Method: mad.MethodGet, Attr: mad.AttrNodeInfo, Directed: true})
	b := make([]byte, packetSize)
	if n := testing.AllocsPerRun(100, func() {
		if err := p.Send(&m); err != nil {
			t.Fatal(err)
		}
		if _, err := peer.Read(b); err != nil {
			t.Fatal(err)
		}
		if _, err := peer.Write(b); err != nil {
			t.Fatal(err)
		}
		if err := p.Recv(&m, time.Time{}); err != nil {
			t.Fatal(err)
		}
	}); n != 0 {
		t.Errorf("%v allocations per MAD", n)
	}
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte{}, 0)
	f.Add(make([]byte, 320), 320)
	f.Add(make([]byte, 320), 88)
	f.Fuzz(func(t *testing.T, b []byte, n int) {
		var p packet
		copy(p.bytes(), b)
		var m umad.Message
		if p.decode(&m, n) != (n >= 88 && n <= 320) {
			t.Errorf("%d bytes", n)
		}
	})
}
