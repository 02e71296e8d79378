package cmdutil

import (
	"errors"
	"fmt"
	"slices"

	"github.com/ibkit/ibkit/umad/device"
)

// deviceHint returns the advice for an error in the selection of the local port, or "".
func deviceHint(err error) string {
	if several, ok := errors.AsType[*device.AmbiguousError](err); ok {
		return fmt.Sprintf("select a port with -C and -P, or name the network, as in %v%%eth0", several.To)
	}
	none, ok := errors.AsType[*device.NoPortError](err)
	if !ok {
		return ""
	}
	const simulated = " Without hardware, use a simulated fabric: --sim demo"
	switch {
	case slices.ContainsFunc(none.Existing, device.LocalPort.CanManage):
		return "select another port with -C and -P"
	case len(none.Existing) > 0:
		return "only an InfiniBand port that is not disabled reaches the management of a fabric." + simulated
	case none.Err != nil:
		return "load the kernel module: modprobe ib_umad." + simulated
	}
	return "load the driver of the device, for instance: modprobe mlx5_ib." + simulated
}
