package verbs

import (
	"github.com/ibkit/ibkit/internal/uapi"
	"github.com/ibkit/ibkit/verbs/provider"
)

// An AH is an address handle: the path for datagrams posted with it.
type AH struct {
	object
	destination *provider.Destination
}

// CreateAH creates an address handle. On RoCE, the path needs a GID.
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
	core := uapi.CreateAH{UserHandle: ah.id, PDHandle: pd.handle, Attr: ahAttrOf(path)}
	provided, err := c.provider.NewAH(path, pd.number, func(in, out []byte) (provider.Created, error) {
		resp := uapi.CreateAHResp{Handle: noHandle}
		err := ah.invoke(op, uapi.CmdCreateAH, uapi.Bytes(&core), uapi.Bytes(&resp), in, out)
		ah.handle = resp.Handle
		return provider.Created{Handle: resp.Handle}, err
	})
	ah.destination = provider.NewDestination(provided)
	if err != nil {
		return nil, ah.fail(ah.destroyAH, c.limit("AHs", c.explainPath(path, err)))
	}
	return register(&ah.object, ah), nil
}

// Destination returns the handle for work requests, or nil if ah is nil.
func (ah *AH) Destination() *Destination {
	if ah == nil {
		return nil
	}
	return ah.destination
}

// Close destroys the handle. Datagrams that are posted but not yet sent fail. A
// second Close returns fs.ErrClosed.
func (ah *AH) Close() error { return ah.close(ah.destroyAH, ah.finish) }

// destroyAH invalidates the handle for work requests before it destroys it: the
// kernel may reuse its number.
func (ah *AH) destroyAH() error {
	ah.destination.SetClosed(true)
	if ah.handle == noHandle { // the work requests contain the path
		return nil
	}
	err := ah.destroy(uapi.MethodAHDestroy, uapi.AttrDestroyAHHandle, 0, nil)
	ah.destination.SetClosed(err == nil)
	return err
}

// finish invalidates a handle after its device was removed.
func (ah *AH) finish() error {
	ah.destination.SetClosed(true)
	return nil
}
