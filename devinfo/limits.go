package devinfo

import (
	"iter"

	"github.com/ibkit/ibkit/verbs"
)

// Limits yields the limits of a device by their names in ibv_devinfo, in its order. It
// omits limits on SRQs and FMRs of devices that do not support these.
func Limits(a *verbs.DeviceAttr) iter.Seq2[string, uint64] {
	return func(yield func(string, uint64) bool) {
		for _, l := range []struct {
			name  string
			value uint64
			shown bool
		}{
			{"max_mr_size", a.MaxMRSize, true},
			{"page_size_cap", a.PageSizeCap, true},
			{"max_qp", uint64(a.MaxQP), true},
			{"max_qp_wr", uint64(a.MaxQPWR), true},
			{"device_cap_flags", uint64(a.Caps), true},
			{"max_sge", uint64(a.MaxSGE), true},
			{"max_sge_rd", uint64(a.MaxSGERd), true},
			{"max_cq", uint64(a.MaxCQ), true},
			{"max_cqe", uint64(a.MaxCQE), true},
			{"max_mr", uint64(a.MaxMR), true},
			{"max_pd", uint64(a.MaxPD), true},
			{"max_qp_rd_atom", uint64(a.MaxQPRdAtom), true},
			{"max_ee_rd_atom", uint64(a.MaxEERdAtom), true},
			{"max_res_rd_atom", uint64(a.MaxResRdAtom), true},
			{"max_qp_init_rd_atom", uint64(a.MaxQPInitRdAtom), true},
			{"max_ee_init_rd_atom", uint64(a.MaxEEInitRdAtom), true},
			{"atomic_cap", uint64(a.AtomicCap), true},
			{"max_ee", uint64(a.MaxEE), true},
			{"max_rdd", uint64(a.MaxRDD), true},
			{"max_mw", uint64(a.MaxMW), true},
			{"max_raw_ipv6_qp", uint64(a.MaxRawIPv6QP), true},
			{"max_raw_ethy_qp", uint64(a.MaxRawEthyQP), true},
			{"max_mcast_grp", uint64(a.MaxMcastGroup), true},
			{"max_mcast_qp_attach", uint64(a.MaxMcastQPAttach), true},
			{"max_total_mcast_qp_attach", uint64(a.MaxTotalMcastQPAttach), true},
			{"max_ah", uint64(a.MaxAH), true},
			{"max_fmr", uint64(a.MaxFMR), true},
			{"max_map_per_fmr", uint64(a.MaxMapPerFMR), a.MaxFMR != 0},
			{"max_srq", uint64(a.MaxSRQ), true},
			{"max_srq_wr", uint64(a.MaxSRQWR), a.MaxSRQ != 0},
			{"max_srq_sge", uint64(a.MaxSRQSGE), a.MaxSRQ != 0},
			{"max_pkeys", uint64(a.MaxPKeys), true},
			{"local_ca_ack_delay", uint64(a.LocalCAAckDelay), true},
		} {
			if l.shown && !yield(l.name, l.value) {
				return
			}
		}
	}
}
