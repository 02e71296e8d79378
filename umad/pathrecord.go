package umad

import (
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
const defaultPrefix = 0xfe80_0000_0000_0000

// ErrNoSM is returned where the subnet administrator is to be asked and the
// local port knows of no subnet manager.
var ErrNoSM = errors.New("the local port knows of no subnet manager")

// ResolveGUID asks the subnet administrator for the LID of the port with a
// GUID. smLID is where it is; 0: where the local port's subnet manager is.
func (c *Client) ResolveGUID(ctx context.Context, guid uint64, smLID uint16) (uint16, error) {
	lid, err := c.pathTo(ctx, guid, smLID)
	if err != nil {
		return 0, fmt.Errorf("find LID of port 0x%016x: %w", guid, err)
	}
	return lid, nil
}

func (c *Client) pathTo(ctx context.Context, guid uint64, smLID uint16) (uint16, error) {
	attr := c.port.Attr()
	if smLID == 0 {
		smLID = attr.SMLID
	}
	if smLID == 0 {
		return 0, ErrNoSM
	}
	reply, err := c.Call(ctx, &Request{Attr: mad.AttrNodeInfo})
	if err != nil {
		return 0, err
	}
	var self mad.NodeInfo
	if err := mad.Decode(&self, reply.Data()); err != nil {
		return 0, err
	}
	prefix := attr.GIDPrefix
	if prefix == 0 {
		prefix = defaultPrefix
	}
	payload := make([]byte, saPayload)
	binary.BigEndian.PutUint64(payload[saComponentMask:], pathHasDGID|pathHasSGID)
	binary.BigEndian.PutUint64(payload[pathDGID:], prefix)
	binary.BigEndian.PutUint64(payload[pathDGID+8:], guid)
	binary.BigEndian.PutUint64(payload[pathSGID:], prefix)
	binary.BigEndian.PutUint64(payload[pathSGID+8:], self.PortGUID)
	reply, err = c.Call(ctx, &Request{
		To:      Target{LID: smLID},
		Class:   mad.ClassSA,
		Attr:    mad.AttrPathRecord,
		Payload: payload,
	})
	if err != nil {
		return 0, err
	}
	lid := binary.BigEndian.Uint16(reply[headerSize+pathDLID:])
	if !mad.IsUnicastLID(lid) {
		return 0, fmt.Errorf("subnet administrator answers with LID %d, which is not one of a port", lid)
	}
	return lid, nil
}
