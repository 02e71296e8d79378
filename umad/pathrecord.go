package umad

import (
	"cmp"
	"context"
	"fmt"

	"github.com/ibkit/ibkit/mad"
)

// defaultPrefix is the subnet prefix of a subnet whose manager set none.
const defaultPrefix uint64 = 0xfe80_0000_0000_0000

// ResolveGUID asks the subnet administrator for the LID of the port with a
// GUID. smLID is where the administrator is; 0: where the local port's subnet
// manager is, and [ErrNoSM] where there is none.
func (c *Client) ResolveGUID(ctx context.Context, guid uint64, smLID uint16) (uint16, error) {
	lid, err := c.pathTo(ctx, guid, smLID)
	if err != nil {
		return 0, fmt.Errorf("find LID of port 0x%016x: %w", guid, err)
	}
	return lid, nil
}

func (c *Client) pathTo(ctx context.Context, guid uint64, smLID uint16) (uint16, error) {
	to, err := c.administrator(Target{LID: smLID})
	if err != nil {
		return 0, err
	}
	prefix := cmp.Or(c.attr.GIDPrefix, defaultPrefix)
	path := mad.PathRecord{DGID: mad.MakeGID(prefix, guid), SGID: mad.MakeGID(prefix, c.attr.PortGUID)}
	payload, err := mad.SAPayload(mad.SAHeader{ComponentMask: mad.Components(&path, &path.DGID, &path.SGID)}, &path)
	if err != nil {
		return 0, err
	}
	reply, err := c.Call(ctx, &Request{To: to, Class: mad.ClassSA, Attr: mad.AttrPathRecord, Payload: payload})
	if err != nil {
		return 0, err
	}
	if err := mad.Decode(&path, reply.Data()); err != nil {
		return 0, err
	}
	if !mad.IsUnicastLID(path.DLID) {
		return 0, fmt.Errorf("subnet administrator answers with LID %d, which is not one of a port", path.DLID)
	}
	return path.DLID, nil
}
