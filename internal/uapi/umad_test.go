package uapi

import (
	"testing"
	"unsafe"
)

// The offsets come from a C compiler with <rdma/ib_user_mad.h>, printed by
// testdata/offsets.c.
func TestUMADLayout(t *testing.T) {
	var h UMADHeader
	var r UMADRegister
	for _, f := range []struct {
		name      string
		got, want uintptr
	}{
		{"id", unsafe.Offsetof(h.ID), 0},
		{"status", unsafe.Offsetof(h.Status), 4},
		{"timeout_ms", unsafe.Offsetof(h.TimeoutMS), 8},
		{"retries", unsafe.Offsetof(h.Retries), 12},
		{"length", unsafe.Offsetof(h.Length), 16},
		{"qpn", unsafe.Offsetof(h.QPN), 20},
		{"qkey", unsafe.Offsetof(h.QKey), 24},
		{"lid", unsafe.Offsetof(h.LID), 28},
		{"sl", unsafe.Offsetof(h.SL), 30},
		{"path_bits", unsafe.Offsetof(h.PathBits), 31},
		{"grh_present", unsafe.Offsetof(h.GRHPresent), 32},
		{"gid_index", unsafe.Offsetof(h.GIDIndex), 33},
		{"hop_limit", unsafe.Offsetof(h.HopLimit), 34},
		{"traffic_class", unsafe.Offsetof(h.TrafficClass), 35},
		{"gid", unsafe.Offsetof(h.GID), 36},
		{"flow_label", unsafe.Offsetof(h.FlowLabel), 52},
		{"pkey_index", unsafe.Offsetof(h.PKeyIndex), 56},
		{"reg.id", unsafe.Offsetof(r.ID), 0},
		{"reg.qpn", unsafe.Offsetof(r.QPN), 4},
		{"reg.mgmt_class", unsafe.Offsetof(r.Class), 8},
		{"reg.mgmt_class_version", unsafe.Offsetof(r.ClassVers), 9},
		{"reg.flags", unsafe.Offsetof(r.Flags), 12},
		{"reg.method_mask", unsafe.Offsetof(r.MethodMask), 16},
		{"reg.oui", unsafe.Offsetof(r.OUI), 32},
		{"reg.rmpp_version", unsafe.Offsetof(r.RMPPVersion), 36},
	} {
		t.Run(f.name, func(t *testing.T) {
			if f.got != f.want {
				t.Errorf("got offset %d, want %d", f.got, f.want)
			}
		})
	}
}

// strace prints 0xc0281b04 for a C program on amd64.
func TestUMADIoctl(t *testing.T) {
	if UMADRegisterAgent != 0xc0281b04 {
		t.Errorf("REGISTER_AGENT2: got %#x, want 0xc0281b04", UMADRegisterAgent)
	}
}
