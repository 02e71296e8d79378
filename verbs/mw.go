package verbs

import "github.com/ibkit/ibkit/internal/uapi"

// A MW is a memory window of type 2: a piece of a memory region for the other side,
// by a key of its own that a work request makes ([OpBindMW]) and takes away
// ([OpLocalInvalidate], [OpSendInvalidate]).
type MW struct {
	object
	rkey uint32
}

// AllocMW makes a memory window that is bound to nothing.
func (pd *PD) AllocMW() (*MW, error) {
	const op = "allocate MW"
	o, err := pd.context.newObject(op, uapi.ObjectMW, &pd.object)
	if err != nil {
		return nil, err
	}
	mw := &MW{object: o}
	core := uapi.AllocMW{PDHandle: pd.handle, Type: uapi.MWType2}
	var resp uapi.AllocMWResp
	if err := mw.invoke(op, uapi.CmdAllocMW, bytesOf(&core), bytesOf(&resp), nil, nil); err != nil {
		return nil, mw.fail(nothing, pd.context.limit("MWs", err))
	}
	mw.handle, mw.rkey = resp.Handle, resp.RKey
	return register(&mw.object, mw), nil
}

// RKey is the window's key when it was made, for the first Bind.
func (mw *MW) RKey() uint32 { return mw.rkey }

// Close frees the window; the other side has no access by it any more. A second
// Close is an error.
func (mw *MW) Close() error {
	return mw.close(func() error {
		return mw.destroy(uapi.MethodMWDestroy, uapi.AttrDestroyMWHandle, 0, nil)
	}, nothing)
}
