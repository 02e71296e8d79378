package softdevice

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"github.com/ibkit/ibkit/devinfo"
	"github.com/ibkit/ibkit/internal/outcome"
	"github.com/ibkit/ibkit/internal/rdmahost"
	"github.com/ibkit/ibkit/internal/rdmanl"
)

// A fakeKernel has the devices rxe0 on eth0, mlx5_0, and rxe5 with an unknown driver.
type fakeKernel struct {
	calls  []string
	err    error // of addLink and deleteLink
	states int   // number of port states before it is ready
}

func (*fakeKernel) devices() ([]rdmahost.Device, error) {
	device := func(index uint32, name, netdev string, driver *uint64) rdmahost.Device {
		return rdmahost.Device{Name: name, Netlink: &rdmanl.Device{Index: index, Name: name}, Ports: []rdmanl.Port{{Netdev: netdev}}, DriverID: driver}
	}
	return []rdmahost.Device{
		device(1, "rxe0", "eth0", new(uint64(14))), device(2, "mlx5_0", "eth1", new(uint64(1))), device(3, "rxe5", "", nil), {Name: "old"},
	}, nil
}

func (*fakeKernel) users(device string) (*devinfo.Resources, error) {
	kernel := func(name string) devinfo.Owner { return devinfo.Owner{Kernel: &name} }
	d := &devinfo.DeviceResources{Name: device, PDs: []devinfo.PDObject{{Owner: kernel("ib_core")}, {Owner: kernel("rpcrdma")}}}
	if device == "rxe0" {
		d.QPs = []devinfo.QPObject{{Owner: kernel("ib_core")}, {Owner: kernel("rpcrdma")}, {Owner: kernel("rpcrdma")}}
	} else {
		d.PDs = d.PDs[:1]
	}
	return &devinfo.Resources{Devices: []*devinfo.DeviceResources{d}}, nil
}

func (*fakeKernel) netdevUp(name string) (bool, error) {
	if name == "eth9" {
		return false, errors.New("no such network interface")
	}
	return name != "eth2", nil
}

func (k *fakeKernel) addLink(name, linkType, netdev string) error {
	k.calls = append(k.calls, fmt.Sprint("add ", name, " ", linkType, " ", netdev))
	return k.err
}

func (k *fakeKernel) deleteLink(index uint32) error {
	k.calls = append(k.calls, fmt.Sprint("delete ", index))
	return k.err
}

func (k *fakeKernel) ready(string) (Port, bool) {
	k.states--
	if k.states >= 0 {
		return Port{}, false
	}
	return Port{Active: true, GID: "fe80::1"}, true
}

func TestCheck(t *testing.T) {
	for _, test := range []struct {
		change Change
		want   string // error, or ""
		is     error
	}{
		{Change{Add, "rxe1", "rxe", "eth1"}, "", nil},
		{Change{Add, "siw0", "siw", "eth0"}, "", nil},
		{Change{Add, "rxe0", "rxe", "eth0"}, "", nil},
		{Change{Add, "rxe0", "rxe", "eth1"}, "add device rxe0: file already exists", fs.ErrExist},
		{Change{Add, "rxe0", "siw", "eth0"}, "add device rxe0: file already exists", fs.ErrExist},
		{Change{Add, "rxe1", "rxe", "eth0"}, "eth0 has the rxe device rxe0", fs.ErrExist},
		{Change{Add, "rxe1", "rxe", "eth9"}, "add device rxe1: no such network interface", nil},
		{Change{Add, "", "rxe", "eth1"}, "invalid name", nil},
		{Change{Add, "rxe%d", "rxe", "eth1"}, "invalid name", nil},
		{Change{Add, "a/b", "rxe", "eth1"}, "invalid name", nil},
		{Change{Add, "..", "rxe", "eth1"}, "invalid name", nil},
		{Change{Add, strings.Repeat("x", 64), "rxe", "eth1"}, "invalid name", nil},
		{Change{Action: Delete, Device: "rxe0"}, "", nil},
		{Change{Action: Delete, Device: "rxe5"}, "", nil},
		{Change{Action: Delete, Device: "rxe9"}, "delete device rxe9: no such device", devinfo.ErrNoDevice},
		{Change{Action: Delete, Device: "old"}, "delete device old: no such device", devinfo.ErrNoDevice},
		{Change{Action: Delete, Device: "mlx5_0"}, "delete device mlx5_0 (mlx5): not a software device", ErrNotSoftware},
	} {
		t.Run(fmt.Sprint(test.change), func(t *testing.T) {
			_, err := check(&fakeKernel{}, test.change)
			if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
				t.Errorf("got error %v, want %q", err, test.want)
			}
			if test.is != nil && !errors.Is(err, test.is) {
				t.Errorf("got error %v, want %v", err, test.is)
			}
		})
	}
}

func TestCheck_Users(t *testing.T) {
	p, err := check(&fakeKernel{}, Change{Action: Delete, Device: "rxe0"})
	if err != nil {
		t.Fatal(err)
	}
	want := []User{{Owner: devinfo.Owner{Kernel: new("rpcrdma")}, QPs: 2}}
	if diff := cmp.Diff(want, p.Users); diff != "" || p.Type != "rxe" || p.Netdev != "eth0" {
		t.Errorf("got %+v, difference of users (-want +got):\n%s", p.Change, diff)
	}
	p, err = check(&fakeKernel{}, Change{Action: Delete, Device: "rxe5"})
	if err != nil || len(p.Users) != 0 {
		t.Errorf("got users %v, %v, want none", p.Users, err)
	}
}

func TestApply(t *testing.T) {
	up := Change{Add, "rxe1", "rxe", "eth1"}
	for _, test := range []struct {
		name    string
		change  Change
		kernel  fakeKernel
		calls   []string
		outcome outcome.Outcome
		failure string
	}{
		{"add", up, fakeKernel{}, []string{"add rxe1 rxe eth1"}, outcome.Changed, ""},
		{"ready later", up, fakeKernel{states: 3}, []string{"add rxe1 rxe eth1"}, outcome.Changed, ""},
		{"never ready", up, fakeKernel{states: 1 << 30}, []string{"add rxe1 rxe eth1"}, outcome.NotActive, ""},
		{"network device is down", Change{Add, "rxe1", "rxe", "eth2"}, fakeKernel{states: 1}, []string{"add rxe1 rxe eth2"}, outcome.NotActive, ""},
		{"exists", Change{Add, "rxe0", "rxe", "eth0"}, fakeKernel{}, nil, outcome.Unneeded, ""},
		{"no module", up, fakeKernel{err: unix.EINVAL}, []string{"add rxe1 rxe eth1"}, outcome.Failed, "the kernel has no module rdma_rxe"},
		{"no permission", up, fakeKernel{err: unix.EPERM}, []string{"add rxe1 rxe eth1"}, outcome.Failed, "operation not permitted"},
		{"delete", Change{Action: Delete, Device: "rxe0"}, fakeKernel{}, []string{"delete 1"}, outcome.Changed, ""},
		{"not deleted", Change{Action: Delete, Device: "rxe0"}, fakeKernel{err: unix.EPERM}, []string{"delete 1"}, outcome.Failed, "delete device rxe0: operation not permitted"},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				k := test.kernel
				p, err := check(&k, test.change)
				if err != nil {
					t.Fatal(err)
				}
				port, err := p.apply(t.Context(), &k, time.Second)
				r := p.ReportResult(port, err)
				if *r.Outcome != test.outcome || r.DryRun || test.failure != "" && !strings.Contains(*r.Failure, test.failure) {
					t.Errorf("got %+v, failure %v, want outcome %v, failure %q", r, err, test.outcome, test.failure)
				}
				if diff := cmp.Diff(test.calls, k.calls); diff != "" {
					t.Errorf("calls (-want +got):\n%s", diff)
				}
			})
		})
	}
}
