package verbs

import (
	"fmt"
	"unsafe"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/internal/uapi"
)

// DecodeQPAttr decodes struct ib_uverbs_qp_attr (<rdma/ib_user_verbs.h>), in which
// the connection manager returns the attributes for a state change. It ignores
// attributes that QPAttr lacks: kernels before Linux 5.15 set undefined bits of the
// mask.
func DecodeQPAttr(b []byte) (QPState, QPAttr, error) {
	if want := int(unsafe.Sizeof(uapi.UserQPAttr{})); len(b) < want {
		return 0, QPAttr{}, fmt.Errorf("decode QP attributes: got %d bytes, want %d", len(b), want)
	}
	r := uapi.Decode[uapi.UserQPAttr](b)
	m := qpAttrMask(r.Mask)
	a := QPAttr{
		CurState:        get(m, maskCurState, r.CurState, func(s uint32) QPState { return QPState(s) }),
		EnableSQDNotify: get(m, maskEnableSQDNotify, r.EnSQDNotify, func(v uint8) bool { return v != 0 }),
		Access:          get(m, maskAccess, r.AccessFlags, func(v uint32) Access { return Access(v) }),
		PKeyIndex:       get(m, maskPKeyIndex, r.PKeyIndex, same),
		Port:            get(m, maskPort, r.PortNum, same),
		QKey:            get(m, maskQKey, r.QKey, same),
		Path:            get(m, maskPath, r.AH, pathOfAH),
		PathMTU:         get(m, maskPathMTU, r.PathMTU, func(v uint32) ib.MTU { return ib.MTU(v) }),
		Timeout:         get(m, maskTimeout, r.Timeout, same),
		RetryCount:      get(m, maskRetryCount, r.RetryCnt, same),
		RNRRetry:        get(m, maskRNRRetry, r.RNRRetry, same),
		RQPSN:           get(m, maskRQPSN, r.RQPSN, same),
		MaxRdAtomic:     get(m, maskMaxRdAtomic, r.MaxRdAtomic, same),
		MinRNRTimer:     get(m, maskMinRNRTimer, r.MinRNRTimer, same),
		SQPSN:           get(m, maskSQPSN, r.SQPSN, same),
		MaxDestRdAtomic: get(m, maskMaxDestRdAtomic, r.MaxDestRdAtomic, same),
		PathMigState:    get(m, maskPathMigState, r.PathMigState, func(v uint32) uint8 { return uint8(v) }),
		DestQPN:         get(m, maskDestQPN, r.DestQPNum, same),
	}
	if m&maskAltPath != 0 {
		alt := pathOfAH(r.AltAH)
		alt.Port = r.AltPortNum
		a.AltPath = &AltPath{Path: alt, PKeyIndex: r.AltPKeyIndex, Timeout: r.AltTimeout}
	}
	return QPState(r.State), a, nil
}

// DecodePath decodes struct ib_uverbs_ah_attr (<rdma/ib_user_verbs.h>), in which
// the connection manager returns the datagram path.
func DecodePath(b []byte) (Path, error) {
	if want := int(unsafe.Sizeof(uapi.AHAttr{})); len(b) < want {
		return Path{}, fmt.Errorf("decode path: got %d bytes, want %d", len(b), want)
	}
	return pathOfAH(uapi.Decode[uapi.AHAttr](b)), nil
}

// pathOfAH converts an address handle's attributes.
func pathOfAH(a uapi.AHAttr) Path {
	g := a.GRH
	return pathOf(uapi.QPDest{
		DGID: g.DGID, FlowLabel: g.FlowLabel, SGIDIndex: g.SGIDIndex, HopLimit: g.HopLimit, TrafficClass: g.TrafficClass,
		DLID: a.DLID, SL: a.SL, SrcPathBits: a.SrcPathBits, StaticRate: a.StaticRate, IsGlobal: a.IsGlobal, PortNum: a.PortNum,
	})
}

// get returns an attribute from the kernel's structure, or nil if the mask lacks it.
func get[F, T any](mask, bit qpAttrMask, v F, convert func(F) T) *T {
	if mask&bit == 0 {
		return nil
	}
	return new(convert(v))
}
