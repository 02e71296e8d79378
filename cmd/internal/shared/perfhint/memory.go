package perfhint

import (
	"errors"

	"github.com/ibkit/ibkit/internal/tool/perf"
	"github.com/ibkit/ibkit/internal/tool/perf/memory"
	"github.com/ibkit/ibkit/verbs"
)

const (
	installHelper = "install the package " + memory.Helper + "; the program must be in PATH"

	// findSmallBAR is the remedy if a device with dma-bufs does not register this dma-buf.
	findSmallBAR = "ibkit devinfo --topology as root shows a small BAR and ACS, dmesg the reason of the driver"
)

// memoryHint returns the remedy for test memory that cannot be used, or "".
func memoryHint(err error) string {
	switch {
	case errors.Is(err, memory.ErrHelper):
		return installHelper
	case reports(err, memory.ErrHelper):
		return "on the server, " + installHelper
	case reports(err, memory.ErrRegister):
		return "on the server, ibkit doctor --only devices shows the devices that register dma-bufs, and " + findSmallBAR
	case errors.Is(err, perf.ErrAddressable):
		return "measure the latency of sends, or of writes with --imm"
	case !errors.Is(err, memory.ErrRegister):
	case errors.Is(err, verbs.ErrUnknownMethod):
		return "Linux 5.12 and later register dma-bufs"
	case errors.Is(err, verbs.ErrUnsupported):
		return "ibkit doctor --only devices shows the devices that register dma-bufs; Soft-RoCE and siw do not"
	default:
		return findSmallBAR
	}
	return ""
}
