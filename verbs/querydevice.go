package verbs

import (
	"encoding/binary"
	"errors"
	"unsafe"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/internal/uapi"
)

// QueryDevice returns the device's attributes. It sends the extended command,
// or the old command if the kernel or the driver does not support it.
func (c *Context) QueryDevice() (DeviceAttr, error) {
	var (
		core   uapi.ExQueryDevice
		resp   uapi.ExQueryDeviceResp
		vendor = make([]byte, c.vendor.queryDevice)
	)
	err := c.write("query device", uapi.CmdExQueryDevice, uapi.Bytes(&core), uapi.Bytes(&resp), vendor)
	if errors.Is(err, ErrUnsupported) {
		var core uapi.QueryDevice
		vendor = nil
		resp = uapi.ExQueryDeviceResp{ResponseLength: uapi.QueryDeviceRespSize}
		err = c.write("query device", uapi.CmdQueryDevice, uapi.Bytes(&core), uapi.Bytes(&resp.Base), nil)
	}
	if err != nil {
		return DeviceAttr{}, err
	}
	a := deviceAttr(&resp, c.driver)
	a.addVendor(c.driver, vendor)
	if c.driver == DriverEFA { // send queues are in the adapter's memory (libefa's verbs.c, efa_query_device_ex)
		a.MaxQPWR = min(a.MaxQPWR, uapi.Decode[uapi.EFAAllocUcontextResp](c.vendor.out).MaxLLQSize/efaWorkRequest)
	}
	return a, nil
}

// efaWorkRequest is the size of a send work request of efa in bytes.
const efaWorkRequest = 64

// deviceAttr converts a response.
func deviceAttr(r *uapi.ExQueryDeviceResp, driver DriverID) DeviceAttr {
	b := &r.Base
	a := DeviceAttr{
		FW:                    FWVersion{b.FWVersion, driver},
		NodeGUID:              ib.GUID(binary.BigEndian.Uint64(b.NodeGUID[:])),
		SysImageGUID:          ib.GUID(binary.BigEndian.Uint64(b.SysImageGUID[:])),
		MaxMRSize:             b.MaxMRSize,
		PageSizeCap:           b.PageSizeCap,
		VendorID:              b.VendorID,
		VendorPartID:          b.VendorPartID,
		HWVersion:             b.HWVersion,
		Caps:                  DeviceCaps(b.DeviceCapFlags),
		MaxQP:                 b.MaxQP,
		MaxQPWR:               b.MaxQPWR,
		MaxSGE:                b.MaxSGE,
		MaxSGERd:              b.MaxSGERd,
		MaxCQ:                 b.MaxCQ,
		MaxCQE:                b.MaxCQE,
		MaxMR:                 b.MaxMR,
		MaxPD:                 b.MaxPD,
		MaxQPRdAtom:           b.MaxQPRdAtom,
		MaxEERdAtom:           b.MaxEERdAtom,
		MaxResRdAtom:          b.MaxResRdAtom,
		MaxQPInitRdAtom:       b.MaxQPInitRdAtom,
		MaxEEInitRdAtom:       b.MaxEEInitRdAtom,
		AtomicCap:             AtomicCap(b.AtomicCap),
		MaxEE:                 b.MaxEE,
		MaxRDD:                b.MaxRDD,
		MaxMW:                 b.MaxMW,
		MaxRawIPv6QP:          b.MaxRawIPv6QP,
		MaxRawEthyQP:          b.MaxRawEthyQP,
		MaxMcastGroup:         b.MaxMcastGrp,
		MaxMcastQPAttach:      b.MaxMcastQPAttach,
		MaxTotalMcastQPAttach: b.MaxTotalMcastQPAttach,
		MaxAH:                 b.MaxAH,
		MaxFMR:                b.MaxFMR,
		MaxMapPerFMR:          b.MaxMapPerFMR,
		MaxSRQ:                b.MaxSRQ,
		MaxSRQWR:              b.MaxSRQWR,
		MaxSRQSGE:             b.MaxSRQSGE,
		MaxPKeys:              b.MaxPKeys,
		LocalCAAckDelay:       b.LocalCAAckDelay,
		PhysPortCount:         b.PhysPortCnt,
	}
	a.addExtended(r)
	return a
}

// addExtended adds the fields that the response contains.
func (a *DeviceAttr) addExtended(r *uapi.ExQueryDeviceResp) {
	reaches := func(offset, size uintptr) bool { return uintptr(r.ResponseLength) >= offset+size }
	if reaches(unsafe.Offsetof(r.ODP), unsafe.Sizeof(r.ODP)) {
		a.ODP = &ODPCaps{
			General: ODPGeneral(r.ODP.General),
			RC:      ODPTransport(r.ODP.RC),
			UC:      ODPTransport(r.ODP.UC),
			UD:      ODPTransport(r.ODP.UD),
		}
	}
	if reaches(unsafe.Offsetof(r.TimestampMask), unsafe.Sizeof(r.TimestampMask)) {
		a.TimestampMask = &r.TimestampMask
	}
	if reaches(unsafe.Offsetof(r.HCACoreClock), unsafe.Sizeof(r.HCACoreClock)) {
		a.CoreClock = &r.HCACoreClock
	}
	if reaches(unsafe.Offsetof(r.DeviceCapFlagsEx), unsafe.Sizeof(r.DeviceCapFlagsEx)) {
		a.CapsEx = (*DeviceCapsEx)(&r.DeviceCapFlagsEx)
	}
	if reaches(unsafe.Offsetof(r.RSS), unsafe.Sizeof(r.RSS)) {
		a.RSS = &RSSCaps{
			QPTypes:                    QPTypes(r.RSS.SupportedQPTypes),
			MaxRWQIndirectionTables:    r.RSS.MaxRWQIndirectionTables,
			MaxRWQIndirectionTableSize: r.RSS.MaxRWQIndirectionTableSize,
		}
	}
	if reaches(unsafe.Offsetof(r.MaxWQTypeRQ), unsafe.Sizeof(r.MaxWQTypeRQ)) {
		a.MaxWQTypeRQ = &r.MaxWQTypeRQ
	}
	if reaches(unsafe.Offsetof(r.RawPacketCaps), unsafe.Sizeof(r.RawPacketCaps)) {
		a.RawPacket = (*RawPacketCaps)(&r.RawPacketCaps)
	}
	if reaches(unsafe.Offsetof(r.TM), unsafe.Sizeof(r.TM)) {
		a.TagMatching = &TagMatchingCaps{
			MaxRndvHdrSize: r.TM.MaxRndvHdrSize,
			MaxNumTags:     r.TM.MaxNumTags,
			Flags:          TagMatching(r.TM.Flags),
			MaxOps:         r.TM.MaxOps,
			MaxSGE:         r.TM.MaxSGE,
		}
	}
	if reaches(unsafe.Offsetof(r.CQModeration), unsafe.Sizeof(r.CQModeration)) {
		a.CQModeration = &CQModerationCaps{r.CQModeration.MaxCount, r.CQModeration.MaxPeriod}
	}
	if reaches(unsafe.Offsetof(r.MaxDMSize), unsafe.Sizeof(r.MaxDMSize)) {
		a.MaxDMSize = &r.MaxDMSize
	}
	if reaches(unsafe.Offsetof(r.XRCODP), unsafe.Sizeof(r.XRCODP)) {
		a.XRCODP = (*ODPTransport)(&r.XRCODP)
	}
}

// addVendor adds the driver response fields, which contains its length.
func (a *DeviceAttr) addVendor(driver DriverID, b []byte) {
	if len(b) == 0 {
		return
	}
	switch driver {
	case DriverMLX5:
		r := uapi.Decode[uapi.MLX5QueryDeviceResp](b)
		if r.ResponseLength >= 16 {
			a.TSO = &TSOCaps{r.MaxTSO, QPTypes(r.TSOQPTypes)}
		}
		if r.ResponseLength >= 32 {
			a.RxHash = &RxHashCaps{r.RxHashFunction, r.RxHashFieldsMask}
		}
		if r.ResponseLength >= 56 {
			a.PacketPacing = &PacketPacingCaps{r.QPRateLimitMin, r.QPRateLimitMax, QPTypes(r.PacketPacingQPType)}
		}
	case DriverMLX4:
		r := uapi.Decode[uapi.MLX4QueryDeviceResp](b)
		if r.ResponseLength >= 40 {
			a.RxHash = &RxHashCaps{r.RxHashFunction, r.RxHashFieldsMask}
		}
		if r.ResponseLength >= 48 {
			a.TSO = &TSOCaps{r.MaxTSO, QPTypes(r.TSOQPTypes)}
		}
	}
}
