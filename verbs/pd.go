package verbs

import "github.com/ibkit/ibkit/internal/uapi"

// A PD is a protection domain: queue pairs access only the memory in their own
// domain.
type PD struct {
	object
	number uint32 // in work requests, if the driver returns it
}

// AllocPD creates a protection domain.
func (c *Context) AllocPD() (*PD, error) {
	o, err := c.newObject("allocate PD", uapi.ObjectPD)
	if err != nil {
		return nil, err
	}
	pd := &PD{object: o}
	var core uapi.AllocPD
	var resp uapi.AllocPDResp
	var vendor uapi.AllocPDVendorResp
	err = pd.invoke("allocate PD", uapi.CmdAllocPD, uapi.Bytes(&core), uapi.Bytes(&resp), nil, uapi.Bytes(&vendor))
	if err != nil {
		return nil, pd.fail(noop, c.limit("PDs", err))
	}
	pd.handle, pd.number = resp.Handle, vendor.Number
	return register(&pd.object, pd), nil
}

// Close frees the protection domain. It returns ErrBusy while objects use the
// domain, and fs.ErrClosed if it is closed already.
func (pd *PD) Close() error {
	return pd.close(func() error {
		return pd.destroy(uapi.MethodPDDestroy, uapi.AttrDestroyPDHandle, 0, nil)
	}, noop)
}

// noop destroys or finishes an object that needs no such request.
func noop() error { return nil }
