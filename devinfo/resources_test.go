package devinfo

import (
	"errors"
	"fmt"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"github.com/ibkit/ibkit/internal/rdmanl"
)

// A fakeLister is a host with two devices; the kernel lists no contexts and no SRQs.
type fakeLister struct{ err error }

func (f fakeLister) Devices() ([]rdmanl.Device, error) {
	return []rdmanl.Device{{Index: 1, Name: "rxe0", Ports: 1}, {Index: 2, Name: "rxe1", Ports: 1}}, f.err
}

func (f fakeLister) Resources(device uint32, kind rdmanl.ResourceKind) ([]rdmanl.Resource, error) {
	self := new(uint32(os.Getpid()))
	switch {
	case kind == rdmanl.Contexts || kind == rdmanl.SRQs:
		return nil, fmt.Errorf("%w: %w", unix.EINVAL, rdmanl.ErrUnsupported)
	case device == 2:
		return []rdmanl.Resource{}, nil
	case kind == rdmanl.QPs:
		return []rdmanl.Resource{
			{QPN: new(uint32(1)), Type: new(uint8(1)), State: new(uint8(3)), KernelName: "ib_core"},
			{QPN: new(uint32(17)), Type: new(uint8(2)), State: new(uint8(9)), PathMig: new(uint8(2)), PID: self},
			{QPN: new(uint32(18)), Type: new(uint8(255))},
		}, nil
	case kind == rdmanl.CMIDs:
		return []rdmanl.Resource{{
			CMIDN: new(uint32(0)), State: new(uint8(8)), PortSpace: new(uint32(0x106)), PID: self,
			Source: []byte{2, 0, 0x1d, 0x23, 10, 0, 0, 1}, Destination: []byte{99, 0, 1},
		}}, nil
	case kind == rdmanl.MRs:
		return []rdmanl.Resource{{MRN: new(uint32(3)), Length: new(uint64(4096)), PID: self}}, nil
	}
	return []rdmanl.Resource{}, nil
}

func (f fakeLister) PortStatistic(device, port uint32) (*rdmanl.Statistic, error) {
	if device == 2 {
		return nil, unix.EACCES
	}
	return &rdmanl.Statistic{Port: port, Counters: map[string]uint64{"sent_pkts": 7}}, nil
}

func (f fakeLister) BoundStatistics(device uint32, kind rdmanl.ResourceKind) ([]rdmanl.Statistic, error) {
	if device == 2 {
		return nil, nil
	}
	if kind == rdmanl.MRs {
		return []rdmanl.Statistic{{MRN: new(uint32(3)), Counters: map[string]uint64{"page_faults": 1}}}, nil
	}
	return []rdmanl.Statistic{{Port: 1, CounterID: new(uint32(4)), Mode: new(uint32(1)), QPs: []rdmanl.QPRange{{First: 17, Last: 18}}, Counters: map[string]uint64{}}}, nil
}

func TestListResources(t *testing.T) {
	r, err := listResources(fakeLister{}, "", true)
	if err != nil {
		t.Fatal(err)
	}
	d := r.Devices[0]
	self := d.QPs[1].Owner
	if self.PID == nil || self.Process == nil || *self.Process == "" {
		t.Fatalf("got owner %+v, want this process", self)
	}
	want := &DeviceResources{
		Name: "rxe0", Index: 1, PDs: []PDObject{}, CQs: []CQObject{},
		MRs: []MRObject{{Number: new(uint32(3)), Length: new(uint64(4096)), Owner: self}},
		QPs: []QPObject{
			{Number: new(uint32(1)), Type: new("GSI"), State: new("RTS"), Owner: Owner{Kernel: new("ib_core")}},
			{Number: new(uint32(17)), Type: new("RC"), State: new("state 9"), PathMigration: new("ARMED"), Owner: self},
			{Number: new(uint32(18)), Type: new("driver")},
		},
		CMIDs: []CMIDObject{{Number: new(uint32(0)), State: new("LISTEN"), PortSpace: new("TCP"), Source: new("10.0.0.1:7459"), Owner: self}},
		Statistics: []Statistic{
			{Port: new(uint32(1)), QPs: []string{}, Counters: map[string]uint64{"sent_pkts": 7}},
			{Port: new(uint32(1)), Counter: new(uint32(4)), Mode: new("auto"), QPs: []string{"17-18"}, Counters: map[string]uint64{}},
			{MR: new(uint32(3)), QPs: []string{}, Counters: map[string]uint64{"page_faults": 1}},
		},
	}
	if diff := cmp.Diff(want, d); diff != "" {
		t.Errorf("difference (-want +got):\n%s", diff)
	}
	usages := []Usage{
		{Owner: self, MRs: 1, QPs: 1, CMIDs: 1},
		{Owner: Owner{Kernel: new("ib_core")}, QPs: 1},
		{QPs: 1},
	}
	if diff := cmp.Diff(usages, d.Usages()); diff != "" {
		t.Errorf("usages: difference (-want +got):\n%s", diff)
	}
	if r.Keys {
		t.Error("got keys, want none: the memory region has no key")
	}
	if len(r.Problems) != 5 || len(r.Failures) != 5 || r.Problems[0].Advice != "Linux lists contexts since release 5.14" {
		t.Errorf("got problems %+v, want 5", r.Problems)
	}
}

func TestListResources_Device(t *testing.T) {
	r, err := listResources(fakeLister{}, "rxe1", false)
	if err != nil || len(r.Devices) != 1 || r.Devices[0].Name != "rxe1" || r.Devices[0].Statistics != nil {
		t.Errorf("got %+v, %v, want rxe1 without counters", r, err)
	}
	if _, err := listResources(fakeLister{}, "rxe2", false); !errors.Is(err, ErrNoDevice) {
		t.Errorf("got %v, want %v", err, ErrNoDevice)
	}
	if _, err := listResources(fakeLister{unix.EPERM}, "", false); !errors.Is(err, unix.EPERM) {
		t.Errorf("got %v, want %v", err, unix.EPERM)
	}
}
