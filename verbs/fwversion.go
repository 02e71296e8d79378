package verbs

import (
	"encoding/binary"
	"fmt"
)

// A FWVersion is a device's firmware version, in the driver's encoding.
type FWVersion struct {
	Raw    uint64
	Driver DriverID
}

// String returns the version in the format that rdma-core's provider for the driver has,
// or "" for a driver that reports it in sysfs only (fw_ver).
func (v FWVersion) String() string {
	var b [8]byte
	binary.NativeEndian.PutUint64(b[:], v.Raw)
	major, minor, sub := v.Raw>>32&0xffff, v.Raw>>16&0xffff, v.Raw&0xffff
	switch v.Driver {
	case DriverMLX5:
		return fmt.Sprintf("%d.%d.%04d", major, minor, sub)
	case DriverMLX4, DriverHNS, DriverPVRDMA:
		return fmt.Sprintf("%d.%d.%03d", major, minor, sub)
	case DriverRXE, DriverHFI1, DriverQIB, DriverERDMA, DriverMTHCA, DriverSIW:
		return fmt.Sprintf("%d.%d.%d", major, minor, sub)
	case DriverIRDMA:
		return fmt.Sprintf("%d.%d", major, sub)
	case DriverQEDR, DriverCXGB4:
		return fmt.Sprintf("%d.%d.%d.%d", v.Raw>>24&0xff, v.Raw>>16&0xff, v.Raw>>8&0xff, v.Raw&0xff)
	case DriverEFA, DriverBNXTRE:
		return fmt.Sprintf("%d.%d.%d.%d", b[0], b[1], b[2], b[3])
	}
	return ""
}
