package mlx5

import (
	"github.com/ibkit/ibkit/internal/uapi"
	"github.com/ibkit/ibkit/verbs/provider"
)

// A target is a queue pair of type XRCTarget. It has no memory in this process: the
// adapter receives for the XRC domain's SRQs.
type target struct{}

// newTarget creates a target. The kernel takes a doorbell page for it, which is not used.
func (d *device) newTarget(create provider.Create) (provider.QP, error) {
	p, err := d.commonPage()
	if err != nil {
		return nil, err
	}
	in := uapi.MLX5CreateQP{Flags: uapi.MLX5QPUARPageIndex, BFRegIndex: p.id}
	var resp uapi.MLX5CreateQPResp
	if _, err := create(uapi.Bytes(&in), uapi.Bytes(&resp)); err != nil {
		return nil, err
	}
	return target{}, nil
}

// Cap returns the zero capacity.
func (target) Cap() provider.QPCap { return provider.QPCap{} }

// PostSend returns ErrOpcode: a target has no queues.
func (target) PostSend([]provider.SendWR) (int, error) { return 0, provider.ErrOpcode }

// PostRecv returns ErrOpcode: a target has no queues.
func (target) PostRecv([]provider.RecvWR) (int, error) { return 0, provider.ErrOpcode }

// Reset has no effect.
func (target) Reset() {}

// Close returns nil. Completions of messages that were received stay in the SRQs'
// CQs.
func (target) Close() error { return nil }
