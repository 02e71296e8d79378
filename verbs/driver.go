package verbs

import "strconv"

// A DriverID identifies a device driver (enum rdma_driver_id of
// <rdma/ib_user_ioctl_verbs.h>). Each request carries it.
type DriverID uint32

// The drivers. Zero is a driver outside the kernel tree.
const (
	DriverMLX5    DriverID = 1
	DriverMLX4    DriverID = 2
	DriverCXGB3   DriverID = 3
	DriverCXGB4   DriverID = 4
	DriverMTHCA   DriverID = 5
	DriverBNXTRE  DriverID = 6
	DriverOCRDMA  DriverID = 7
	DriverNES     DriverID = 8
	DriverIRDMA   DriverID = 9
	DriverPVRDMA  DriverID = 10
	DriverQEDR    DriverID = 11
	DriverHNS     DriverID = 12
	DriverUSNIC   DriverID = 13
	DriverRXE     DriverID = 14
	DriverHFI1    DriverID = 15
	DriverQIB     DriverID = 16
	DriverEFA     DriverID = 17
	DriverSIW     DriverID = 18
	DriverERDMA   DriverID = 19
	DriverMANA    DriverID = 20
	DriverIONIC   DriverID = 21
	lastDriver             = DriverIONIC
	unknownDriver DriverID = 0
)

var driverNames = [...]string{
	"unknown", "mlx5", "mlx4", "cxgb3", "cxgb4", "mthca", "bnxt_re", "ocrdma", "nes", "irdma", "vmw_pvrdma",
	"qedr", "hns", "usnic", "rxe", "hfi1", "qib", "efa", "siw", "erdma", "mana", "ionic",
}

// String returns the driver's name as the kernel spells it.
func (d DriverID) String() string {
	if int(d) < len(driverNames) {
		return driverNames[d]
	}
	return "driver " + strconv.FormatUint(uint64(d), 10)
}
