package verbs

import "github.com/ibkit/ibkit/internal/uapi"

// A PD is a protection domain: queue pairs reach only memory of their own.
type PD struct{ object }

// AllocPD makes a protection domain.
func (c *Context) AllocPD() (*PD, error) {
	o, err := c.newObject("allocate PD", uapi.ObjectPD)
	if err != nil {
		return nil, err
	}
	pd := &PD{o}
	var core uapi.AllocPD
	var resp uapi.AllocPDResp
	err = pd.invoke("allocate PD", uapi.CmdAllocPD, bytesOf(&core), bytesOf(&resp), nil, nil)
	if err != nil {
		return nil, pd.fail(nothing, c.limit("PDs", err))
	}
	pd.handle = resp.Handle
	return register(&pd.object, pd), nil
}

// Close frees the protection domain. While it has MRs, queue pairs and so on that
// is ErrBusy; a second Close is an error.
func (pd *PD) Close() error {
	return pd.close(func() error {
		return pd.destroy(uapi.MethodPDDestroy, uapi.AttrDestroyPDHandle, 0, nil)
	}, nothing)
}

// nothing is left to do.
func nothing() error { return nil }
