package verbs

import (
	"sync/atomic"

	"github.com/ibkit/ibkit/internal/uapi"
	"github.com/ibkit/ibkit/verbs/provider"
)

// An AH is an address handle: where the datagrams of SendWRs with it go.
type AH struct {
	object
	provided any
	dead     atomic.Bool
}

// CreateAH makes an address handle. RoCE wants a path with a GID.
func (pd *PD) CreateAH(path Path) (*AH, error) {
	const op = "create AH"
	c := pd.context
	if c.provider == nil {
		return nil, c.noProvider(op)
	}
	o, err := c.newObject(op, uapi.ObjectAH, &pd.object)
	if err != nil {
		return nil, err
	}
	ah := &AH{object: o}
	core := uapi.CreateAH{UserHandle: ah.id, PDHandle: pd.handle, Attr: path.ahAttr()}
	ah.provided, err = c.provider.NewAH(func(in, out []byte) (provider.Created, error) {
		resp := uapi.CreateAHResp{Handle: noHandle}
		err := ah.invoke(op, uapi.CmdCreateAH, bytesOf(&core), bytesOf(&resp), in, out)
		ah.handle = resp.Handle
		return provider.Created{Handle: resp.Handle}, err
	})
	if err != nil {
		return nil, ah.fail(ah.destroyAH, c.limit("AHs", c.refusedPath(path, err)))
	}
	return register(&ah.object, ah), nil
}

// Provided returns what the provider made, for the provider.
func (ah *AH) Provided() any {
	if ah.dead.Load() {
		return nil
	}
	return ah.provided
}

// Close destroys the handle. Datagrams to it that are not sent yet fail. A second
// Close is an error.
func (ah *AH) Close() error { return ah.close(ah.destroyAH, ah.finish) }

// destroyAH has work requests refuse the handle first: the kernel may give its
// number to the next.
func (ah *AH) destroyAH() error {
	ah.dead.Store(true)
	err := ah.destroy(uapi.MethodAHDestroy, uapi.AttrDestroyAHHandle, 0, nil)
	ah.dead.Store(err == nil)
	return err
}

// finish is for handles that went with the device.
func (ah *AH) finish() error {
	ah.dead.Store(true)
	return nil
}
