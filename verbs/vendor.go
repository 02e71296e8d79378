package verbs

import "github.com/ibkit/ibkit/internal/uapi"

// A vendorContext is what drivers want to know, and tell, when a context is made.
type vendorContext struct {
	queryDevice int // bytes of QUERY_DEVICE's answer that are the driver's
}

// contextIn is what drivers read when a context is made. The others read nothing,
// or take nothing for zeros.
var contextIn = map[DriverID]func() []byte{
	// Two doorbell registers are the least, and none has to be of low latency.
	DriverMLX5: func() []byte {
		return bytesOf(&uapi.MLX5AllocUcontextReq{
			TotalNumBFRegs: 2,
			MaxCQEVersion:  1,
			LibCaps:        uapi.MLX5LibCap4KUAR | uapi.MLX5LibCapDynUAR,
		})
	},
	DriverIRDMA: func() []byte {
		return bytesOf(&uapi.IRDMAAllocUcontextReq{UserspaceVer: uapi.IRDMAABIVersion, CompMask: uapi.IRDMAUseRawAttr})
	},
	DriverEFA: func() []byte {
		return bytesOf(&uapi.EFAAllocUcontextCmd{SupportedCaps: uapi.EFACapTxBatch | uapi.EFACapMinSQWR})
	},
}

// contextOut is how many bytes drivers write when a context is made: those that
// insist on it. (Sizes of the structures *alloc_ucontext_resp, bnxt_re_uctx_resp,
// siw_uresp_alloc_ctx and so on of <rdma/*-abi.h>.)
var contextOut = map[DriverID]int{
	DriverMLX5:   uapi.MLX5AllocUcontextRespSize,
	DriverMLX4:   16,
	DriverCXGB4:  16,
	DriverMTHCA:  8,
	DriverBNXTRE: 48,
	DriverOCRDMA: 80,
	DriverIRDMA:  80,
	DriverPVRDMA: 8,
	DriverQEDR:   56,
	DriverHNS:    32,
	DriverEFA:    24,
	DriverSIW:    8,
	DriverERDMA:  40,
	DriverIONIC:  40,
}

// request returns the driver's part of the request for a context, and room for
// that of the answer.
func (v *vendorContext) request(d DriverID) (in, out []byte) {
	if f := contextIn[d]; f != nil {
		in = f()
	}
	return in, make([]byte, contextOut[d])
}

// response takes what the driver said.
func (v *vendorContext) response(d DriverID, out []byte) {
	switch d {
	case DriverMLX5:
		if decode[uapi.MLX5AllocUcontextResp](out).CmdsSuppUHW&uapi.MLX5SuppUHWQueryDevice != 0 {
			v.queryDevice = uapi.MLX5QueryDeviceRespSize
		}
	case DriverMLX4:
		v.queryDevice = uapi.MLX4QueryDeviceRespSize
	}
}
