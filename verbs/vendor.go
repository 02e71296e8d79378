package verbs

import "github.com/ibkit/ibkit/internal/uapi"

// A vendorContext is a context's driver-specific part.
type vendorContext struct {
	out         []byte // the driver's response to GET_CONTEXT
	queryDevice int    // driver's QUERY_DEVICE response size
}

// contextIn are the structures that drivers read when a context is created. Other
// drivers read none, or treat a missing structure as zeros.
var contextIn = map[DriverID]func() []byte{
	// Two doorbell registers are the minimum, of which none has to be a low-latency
	// one.
	DriverMLX5: func() []byte {
		return uapi.Bytes(&uapi.MLX5AllocUcontextReq{
			TotalNumBFRegs: 2,
			MaxCQEVersion:  1,
			LibCaps:        uapi.MLX5LibCap4KUAR | uapi.MLX5LibCapDynUAR,
		})
	},
	DriverBNXTRE: func() []byte {
		return uapi.Bytes(&uapi.BNXTContextReq{CompMask: uapi.BNXTReqPow2 | uapi.BNXTReqVariableWQE})
	},
	DriverIRDMA: func() []byte {
		return uapi.Bytes(&uapi.IRDMAAllocUcontextReq{UserspaceVer: uapi.IRDMAABIVersion, CompMask: uapi.IRDMAUseRawAttr | uapi.IRDMAFormatV2})
	},
	DriverEFA: func() []byte {
		return uapi.Bytes(&uapi.EFAAllocUcontextCmd{SupportedCaps: uapi.EFACapTxBatch | uapi.EFACapMinSQWR})
	},
}

// contextOut are the response sizes for drivers that require response room
// when a context is created, in bytes: *alloc_ucontext_resp, bnxt_re_uctx_resp,
// siw_uresp_alloc_ctx and similar structures in <rdma/*-abi.h>.
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

// request returns the driver's part in a context request, and room for the
// driver's response.
func (v *vendorContext) request(d DriverID) (in, out []byte) {
	if f := contextIn[d]; f != nil {
		in = f()
	}
	return in, make([]byte, contextOut[d])
}

// response evaluates the driver's response.
func (v *vendorContext) response(d DriverID, out []byte) {
	v.out = out
	switch d {
	case DriverMLX5:
		if uapi.Decode[uapi.MLX5AllocUcontextResp](out).CmdsSuppUHW&uapi.MLX5SuppUHWQueryDevice != 0 {
			v.queryDevice = uapi.MLX5QueryDeviceRespSize
		}
	case DriverMLX4:
		v.queryDevice = uapi.MLX4QueryDeviceRespSize
	}
}
