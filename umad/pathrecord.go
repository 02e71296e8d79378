package umad

import (
	"cmp"
	"context"
	"fmt"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/mad"
)

// defaultPrefix is the subnet prefix of a subnet whose manager set none.
const defaultPrefix uint64 = 0xfe80_0000_0000_0000

// ResolveGUID asks the subnet administrator for the LID of the port with a
// GUID. smLID is where the administrator is; 0: where the local port's subnet
// manager is, and [ErrNoSM] where there is none.
func (c *Client) ResolveGUID(ctx context.Context, guid ib.GUID, smLID ib.LID) (ib.LID, error) {
	to, err := c.TargetOf(ctx, guid, smLID)
	return to.LID, err
}

// TargetOf is [Client.ResolveGUID] with the service level of the way there.
func (c *Client) TargetOf(ctx context.Context, guid ib.GUID, smLID ib.LID) (Target, error) {
	path, err := c.Path(ctx, ib.MakeGID(cmp.Or(c.attr.GIDPrefix, defaultPrefix), guid), smLID)
	if err != nil {
		return Target{}, fmt.Errorf("find LID of port 0x%016x: %w", guid, err)
	}
	return Target{LID: path.DLID, SL: path.SL}, nil
}

// Path asks the subnet administrator for a way from the local port to the one
// with a GID. smLID is as for [Client.ResolveGUID].
func (c *Client) Path(ctx context.Context, gid ib.GID, smLID ib.LID) (*mad.PathRecord, error) {
	to, err := c.administrator(Target{LID: smLID})
	if err != nil {
		return nil, err
	}
	path := &mad.PathRecord{DGID: gid, SGID: ib.MakeGID(cmp.Or(c.attr.GIDPrefix, defaultPrefix), c.attr.PortGUID)}
	payload, err := mad.SAPayload(mad.SAHeader{ComponentMask: mad.Components(path, &path.DGID, &path.SGID)}, path)
	if err != nil {
		return nil, err
	}
	reply, err := c.Call(ctx, &Request{To: to, Class: mad.ClassSA, Attr: mad.AttrPathRecord, Payload: payload})
	if err != nil {
		return nil, err
	}
	if err := mad.Decode(path, reply.Data()); err != nil {
		return nil, err
	}
	if !path.DLID.IsUnicast() {
		return nil, fmt.Errorf("subnet administrator answers with LID %d, which is not one of a port", path.DLID)
	}
	return path, nil
}
