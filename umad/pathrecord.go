package umad

import (
	"context"
	"fmt"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/mad"
)

// ResolveGUID requests the LID of the port with a GUID from subnet administration.
// smLID is the administration's LID; 0: the LID of the local port's subnet manager, and
// [ErrNoSM] if it has none.
func (c *Client) ResolveGUID(ctx context.Context, guid ib.GUID, smLID ib.LID) (ib.LID, error) {
	to, err := c.TargetOf(ctx, guid, smLID)
	return to.LID, err
}

// TargetOf is [Client.ResolveGUID] with the path's service level.
func (c *Client) TargetOf(ctx context.Context, guid ib.GUID, smLID ib.LID) (Target, error) {
	path, err := c.Path(ctx, ib.MakeGID(c.attr.Prefix(), guid), smLID)
	if err != nil {
		return Target{}, fmt.Errorf("find LID of port 0x%016x: %w", guid, err)
	}
	return Target{LID: path.DLID, SL: path.SL}, nil
}

// Path requests the path from the local port to the port with a GID from subnet
// administration. smLID is as for [Client.ResolveGUID].
func (c *Client) Path(ctx context.Context, gid ib.GID, smLID ib.LID) (*mad.PathRecord, error) {
	to, err := c.administrator(Target{LID: smLID})
	if err != nil {
		return nil, err
	}
	path := &mad.PathRecord{DGID: gid, SGID: ib.MakeGID(c.attr.Prefix(), c.attr.PortGUID)}
	if err := c.Get(ctx, to, path, Match(&path.DGID, &path.SGID)); err != nil {
		return nil, err
	}
	if !path.DLID.IsUnicast() {
		return nil, fmt.Errorf("invalid path record: LID %d is not the LID of a port", path.DLID)
	}
	return path, nil
}
