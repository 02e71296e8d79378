package mlx5

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"

	"golang.org/x/sys/unix"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/internal/uapi"
	"github.com/ibkit/ibkit/verbs/provider"
)

// An ah is an address handle: the work request address vector, without the number and
// the queue pair's key (mlx5dv.h, struct mlx5_wqe_av).
type ah struct{ vector [vectorSize]byte }

// An address vector's fields.
const (
	avRateSL   = 12
	avPathBits = 13
	avLID      = 14 // on RoCE v2, the UDP source port
	avMAC      = 20
	avClass    = 26
	avHopLimit = 27
	avGRH      = 28 // GRH present, source GID index, flow label
	avGID      = 32
)

const avGlobal = 1 << 30 // the packet has a GRH; not set on RoCE

// NewAH creates an address handle. InfiniBand needs no kernel object; on RoCE, the
// kernel resolves the MAC address.
func (d *device) NewAH(path provider.Path, _ uint32, create provider.Create) (any, error) {
	network, err := d.Network(path.Port, path.SGIDIndex)
	if err != nil {
		return nil, err
	}
	if network == provider.GlobalInfiniBand && !path.DGID.IsValid() {
		return nil, fmt.Errorf("path without a GID: %w", unix.EINVAL)
	}
	infiniBand := network == provider.InfiniBand || network == provider.GlobalInfiniBand
	a := &ah{}
	v := a.vector[:]
	if path.DGID.IsValid() {
		gid := path.DGID.As16()
		v[avClass], v[avHopLimit] = path.TrafficClass, path.HopLimit
		grh := uint32(path.SGIDIndex)<<20 | path.FlowLabel&(1<<20-1)
		if infiniBand {
			grh |= avGlobal
		}
		binary.BigEndian.PutUint32(v[avGRH:], grh)
		copy(v[avGID:], gid[:])
	}
	rate := rateCode(path.StaticRate) << 4
	if infiniBand {
		v[avRateSL], v[avPathBits] = rate|path.SL&0xf, path.SrcPathBits&0x7f
		binary.BigEndian.PutUint16(v[avLID:], uint16(path.DLID))
		return a, nil
	}
	v[avRateSL] = rate | path.SL&7<<1
	if network == provider.RoCEv2 {
		binary.BigEndian.PutUint16(v[avLID:], sourcePort(path.FlowLabel))
	}
	var resp uapi.MLX5CreateAHResp
	if _, err := create(nil, uapi.Bytes(&resp)); err != nil {
		return nil, err
	}
	copy(v[avMAC:], resp.DMAC[:])
	return a, nil
}

// rateCodes are the adapter's codes for the specification's rates. Rates without a code of their
// own have the next higher code, or none (0: the port's rate).
var rateCodes = [...]uint8{
	ib.Rate2p5: 7, ib.Rate10: 8, ib.Rate30: 9, ib.Rate5: 10, ib.Rate20: 11, ib.Rate40: 12, ib.Rate60: 13, ib.Rate80: 14,
	ib.Rate120: 15, ib.Rate14: 11, ib.Rate56: 13, ib.Rate112: 15, ib.Rate25: 9, ib.Rate100: 15, ib.Rate28: 9, ib.Rate50: 13,
}

// rateCode returns a rate's code (verbs.c, ah_attr_to_mlx5_rate).
func rateCode(r ib.Rate) uint8 {
	if int(r) < len(rateCodes) {
		return rateCodes[r]
	}
	return 0
}

// sourcePort returns a flow label's UDP source port: from 0xc000 on, the same for
// the same label (the kernel's rdma_flow_label_to_udp_sport). Without a label, the port
// is random.
func sourcePort(label uint32) uint16 {
	if label == 0 {
		return 0xc000 | uint16(rand.Uint32())&0x3fff
	}
	low, high := label&0x3fff, label>>14&0x3f
	return uint16(low^high) | 0xc000
}
