package umad

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/ibkit/ibkit/mad"
)

// Where things are in the payload of a subnet administration packet, counted
// from the end of the common header (InfiniBand Architecture, Volume 1,
// 15.2.1.1), and in a PathRecord (15.2.5.16).
const (
	saComponentMask = 24
	saData          = 32
	saPayload       = mad.Size - headerSize

	pathDGID = saData + 8
	pathSGID = saData + 24
	pathDLID = saData + 40

	pathHasDGID = 1 << 2 // bits of the component mask
	pathHasSGID = 1 << 3
)

// defaultPrefix is the subnet prefix of a subnet whose manager set none.
const defaultPrefix uint64 = 0xfe80_0000_0000_0000

// ErrNoSM is returned where the subnet administrator is to be asked and the
// local port knows of no subnet manager.
var ErrNoSM = errors.New("the local port knows of no subnet manager")

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
	to := Target{LID: smLID}
	if smLID == 0 {
		to = Target{LID: c.attr.SMLID, SL: c.attr.SMSL}
	}
	if to.LID == 0 {
		return 0, ErrNoSM
	}
	prefix := cmp.Or(c.attr.GIDPrefix, defaultPrefix)
	var payload [saPayload]byte
	binary.BigEndian.PutUint64(payload[saComponentMask:], pathHasDGID|pathHasSGID)
	binary.BigEndian.PutUint64(payload[pathDGID:], prefix)
	binary.BigEndian.PutUint64(payload[pathDGID+8:], guid)
	binary.BigEndian.PutUint64(payload[pathSGID:], prefix)
	binary.BigEndian.PutUint64(payload[pathSGID+8:], c.attr.PortGUID)
	reply, err := c.Call(ctx, &Request{
		To:      to,
		Class:   mad.ClassSA,
		Attr:    mad.AttrPathRecord,
		Payload: payload[:],
	})
	if err != nil {
		return 0, err
	}
	lid := binary.BigEndian.Uint16(reply.MAD[headerSize+pathDLID:])
	if !mad.IsUnicastLID(lid) {
		return 0, fmt.Errorf("subnet administrator answers with LID %d, which is not one of a port", lid)
	}
	return lid, nil
}
