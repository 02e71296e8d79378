package verbs

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ibkit/ibkit/internal/uapi"
)

// The texts are from rdma-core's ibv_devinfo.
func TestStrings(t *testing.T) {
	for _, test := range []struct {
		values []fmt.Stringer
		want   string
	}{
		{[]fmt.Stringer{AtomicCap(0), AtomicCap(1), AtomicCap(2), AtomicCap(3)},
			"ATOMIC_NONE|ATOMIC_HCA|ATOMIC_GLOB|invalid atomic capability"},
		{[]fmt.Stringer{GIDTypeIB, GIDTypeRoCEv1, GIDTypeRoCEv2, GIDType(3)}, "IB|RoCE v1|RoCE v2|Invalid gid type"},
		{[]fmt.Stringer{unknownDriver, DriverMLX5, DriverIRDMA, DriverRXE, DriverSIW, DriverIONIC, DriverID(99)},
			"unknown|mlx5|irdma|rxe|siw|ionic|driver 99"},
		{[]fmt.Stringer{EventCQErr, EventDeviceFatal, EventPortActive, EventGIDChange, EventWQFatal, EventDeviceSpeedChange, EventType(21)},
			"CQ_ERR|DEVICE_FATAL|PORT_ACTIVE|GID_CHANGE|WQ_FATAL|DEVICE_SPEED_CHANGE|EVENT_21"},
		{[]fmt.Stringer{Event{EventPortErr, 2}, Event{EventDeviceFatal, 0}, Event{EventQPFatal, 3}, Event{EventCQErr, 4},
			Event{EventSRQLimitReached, 5}, Event{EventWQFatal, 6}, Event{EventType(77), 7}, Element(9)},
			"PORT_ERR, port 2|DEVICE_FATAL|QP_FATAL, QP 3|CQ_ERR, CQ 4|SRQ_LIMIT_REACHED, SRQ 5|WQ_FATAL, WQ 6|EVENT_77|element"},
	} {
		t.Run(test.want, func(t *testing.T) {
			var got []string
			for _, v := range test.values {
				got = append(got, v.String())
			}
			if g := strings.Join(got, "|"); g != test.want {
				t.Errorf("got %s, want %s", g, test.want)
			}
		})
	}
}

func TestFWVersion(t *testing.T) {
	for d, want := range map[DriverID]string{
		DriverMLX5: "2.42.0500", DriverMLX4: "2.42.500", DriverHNS: "2.42.500", DriverRXE: "2.42.500",
		DriverIRDMA: "2.500", DriverMANA: "", DriverID(99): "",
	} {
		if got := (FWVersion{2<<32 | 42<<16 | 500, d}).String(); got != want {
			t.Errorf("%v: got %q, want %q", d, got, want)
		}
	}
	if got := (FWVersion{8<<24 | 37<<16 | 2<<8 | 1, DriverQEDR}).String(); got != "8.37.2.1" {
		t.Errorf("got %q, want 8.37.2.1", got)
	}
	v := uapi.Decode[uint64]([]byte{216, 0, 1, 7})
	if got := (FWVersion{v, DriverBNXTRE}).String(); got != "216.0.1.7" {
		t.Errorf("got %q, want 216.0.1.7", got)
	}
}

func TestNames(t *testing.T) {
	show := func(known []string, rest uint64) string { return fmt.Sprintf("%s %x", strings.Join(known, ","), rest) }
	caps, rest := DeviceCaps(1<<10 | 1<<31 | 1<<0).Names()
	if got := show(caps, uint64(rest)); got != "RESIZE_MAX_WR,PORT_ACTIVE_EVENT 80000000" {
		t.Errorf("DeviceCaps: got %s", got)
	}
	ex, restEx := DeviceCapsEx(1<<36 | 1<<41 | 1<<50 | 0xffff).Names()
	if got := show(ex, uint64(restEx)); got != "PCI_WRITE_END_PADDING,CC_DMA_BOUNCE 4000000000000" {
		t.Errorf("DeviceCapsEx: got %s", got)
	}
	qp, restQP := QPTypes(1<<QPTypeRC | 1<<QPTypeUD | 1<<QPTypeRawPacket | 1<<QPTypeUC).Names()
	if got := show(qp, uint64(restQP)); got != "SUPPORT_RAW_PACKET,SUPPORT_UD,SUPPORT_RC 8" {
		t.Errorf("QPTypes: got %s", got)
	}
	if s := QPTypes(1 << QPTypeUD); !s.Has(QPTypeUD) || s.Has(QPTypeRC) || s.Has(QPTypeSRD) {
		t.Errorf("QPTypes.Has: got UD %v, RC %v, SRD %v, want only UD", s.Has(QPTypeUD), s.Has(QPTypeRC), s.Has(QPTypeSRD))
	}
	if !PortCaps(1 << 26).IPBasedGIDs() {
		t.Error("IPBasedGIDs: got false, want true")
	}
}
