package ibqueryerrors

import (
	"fmt"
	"os"

	"github.com/ibkit/ibkit/cmd/internal/shared/pma"
	"github.com/ibkit/ibkit/mad"
)

// CounterSelect masks, with CounterSelect2 above (InfiniBand Architecture, Volume 1,
// 16.1.3.5 and 16.1.4.11).
const (
	maskErrors        = 0x0fff
	maskXmitWait      = 1 << 16
	maskData          = 0xf000
	maskAllData       = 0x00ff // in PortCountersExtended
	maskDataNoIETF    = 0x000f // in PortCountersExtended
	maskWideErrors    = 0xfff0000
	maskWideXmitWait  = 1 << 28
	maskDiscardCauses = 0x000f
	maskErrorCauses   = 0x003f
)

// clear clears the port counters that the options select.
func (r *report) clear(port int) {
	caller, out := r.job.Caller, &r.job.ErrOut
	if mask := r.clearMask(); mask != 0 {
		if caller.Reset(&r.to, mad.AttrPortCounters, pma.Selection{Port: port, Counters: mask}) != nil {
			fmt.Fprintf(out, "Failed to reset errors %s port %d\n", r.name, port)
		}
	}
	if r.clearErrors && r.details {
		// As in the C tool, an agent without these attributes is not an error.
		_ = caller.Reset(&r.to, mad.AttrPortXmitDiscardDetails, pma.Selection{Port: port, Counters: maskDiscardCauses})
		_ = caller.Reset(&r.to, mad.AttrPortRcvErrorDetails, pma.Selection{Port: port, Counters: maskErrorCauses})
	}
	if mask := r.clearWideMask(); mask != 0 && r.caps.HasExtended() {
		if r.Debug > 0 {
			fmt.Fprintf(&r.job.Out, "ibdebug: [%d] reset_pc_ext: lid %d port %d mask 0x%x\n", os.Getpid(), r.to.LID, port, mask)
		}
		if caller.ResetQuietly(&r.to, mad.AttrPortCountersExtended, pma.Selection{Port: port, Counters: mask}) != nil {
			fmt.Fprintf(out, "Failed to reset extended data counters %s, %s port %d\n", r.name, pma.PortID(r.to), port)
		}
	}
}

// clearMask returns the PortCounters counters to clear.
func (r *report) clearMask() uint64 {
	mask := uint64(0)
	if r.clearErrors {
		mask |= maskErrors
		if r.caps.Has(mad.PerfXmitWait) {
			mask |= maskXmitWait
		}
	}
	if r.clearData {
		mask |= maskData
	}
	return mask
}

// clearWideMask returns the PortCountersExtended counters to clear.
func (r *report) clearWideMask() uint64 {
	mask := uint64(0)
	if r.clearData {
		mask = maskDataNoIETF
		if r.caps.Has(mad.PerfExtendedWidth) {
			mask = maskAllData
		}
	}
	if r.clearErrors && r.caps2.Has(mad.PerfAdditionalExtended) {
		mask |= maskWideErrors
		if r.caps.Has(mad.PerfXmitWait) {
			mask |= maskWideXmitWait
		}
	}
	return mask
}
