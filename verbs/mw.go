package verbs

import "github.com/ibkit/ibkit/internal/uapi"

// An MW is a type 2 memory window: a memory region part that the peer accesses with the
// window's own key. Work requests create the key ([OpBindMW]) and invalidate it
// ([OpLocalInvalidate], [OpSendInvalidate]).
type MW struct {
	object
	rkey uint32
}

// AllocMW creates an unbound memory window.
func (pd *PD) AllocMW() (*MW, error) {
	const op = "allocate MW"
	o, err := pd.context.newObject(op, uapi.ObjectMW, &pd.object)
	if err != nil {
		return nil, err
	}
	mw := &MW{object: o}
	core := uapi.AllocMW{PDHandle: pd.handle, Type: uapi.MWType2}
	var resp uapi.AllocMWResp
	if err := mw.invoke(op, uapi.CmdAllocMW, uapi.Bytes(&core), uapi.Bytes(&resp), nil, nil); err != nil {
		return nil, mw.fail(noop, pd.context.limit("MWs", err))
	}
	mw.handle, mw.rkey = resp.Handle, resp.RKey
	return register(&mw.object, mw), nil
}

// RKey returns the window's initial key, for the first Bind.
func (mw *MW) RKey() uint32 { return mw.rkey }

// Close frees the window and ends the peer's access through it. A second Close
// returns fs.ErrClosed.
func (mw *MW) Close() error {
	return mw.close(func() error {
		return mw.destroy(uapi.MethodMWDestroy, uapi.AttrDestroyMWHandle, 0, nil)
	}, noop)
}
