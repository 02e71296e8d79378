package umad

import (
	"context"
	"errors"
	"fmt"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/mad"
)

// defaultPKey is the base of the default partition key, which has index 0.
const defaultPKey = 0x7fff

// Redirects reports whether a ClassPortInfo has an address to which requests must be sent
// (InfiniBand Architecture, Volume 1, 13.5.2).
func Redirects(i *mad.ClassPortInfo) bool {
	return i.RedirectQP != 0 && (i.RedirectLID != 0 || i.RedirectGID != [16]uint8{})
}

// Redirection returns the ClassPortInfo in the reply from an agent that redirects the
// request, or nil. [Client.Redirect] returns the address in it.
func Redirection(r *Reply) *mad.ClassPortInfo {
	var status mad.StatusError
	if !errors.As(r.Err, &status) || mad.Status(status)&mad.StatusRedirect == 0 || r.MAD == nil {
		return nil
	}
	var info mad.ClassPortInfo
	if mad.Decode(&info, r.MAD.Data()) != nil || !Redirects(&info) {
		return nil
	}
	return &info
}

// RedirectAddr returns the address in a ClassPortInfo. It reports whether the address is
// complete; otherwise [Client.Redirect] completes it.
func RedirectAddr(i *mad.ClassPortInfo) (to *Addr, complete bool) {
	to = &Addr{LID: i.RedirectLID, QPN: i.RedirectQP, QKey: i.RedirectQKey, SL: i.RedirectSL}
	if to.QKey == 0 {
		to.QKey = QP1QKey
	}
	if i.RedirectGID != [16]uint8{} {
		to.GRH = &GRH{
			HopLimit: 255, TrafficClass: i.RedirectTrafficClass, FlowLabel: i.RedirectFlowLabel,
			DGID: ib.GID(i.RedirectGID),
		}
	}
	return to, to.LID != 0 && !hasOtherPKey(i)
}

// hasOtherPKey reports whether the address has a partition key other than the default.
func hasOtherPKey(i *mad.ClassPortInfo) bool {
	return i.RedirectPKey != 0 && i.RedirectPKey.Base() != defaultPKey
}

// Redirect returns the address in a ClassPortInfo, with a GID's LID, which it requests
// from subnet administration, and with the partition key's index at the local port. The
// client must not be running.
func (c *Client) Redirect(ctx context.Context, i *mad.ClassPortInfo) (*Addr, error) {
	to, _ := RedirectAddr(i)
	if to.LID == 0 {
		path, err := c.Path(ctx, to.GRH.DGID, 0)
		if err != nil {
			return nil, fmt.Errorf("follow redirection: %w", err)
		}
		to.LID, to.SL = path.DLID, path.SL
	}
	if !hasOtherPKey(i) {
		return to, nil
	}
	if err := c.readPKeys(ctx); err != nil {
		return nil, fmt.Errorf("follow redirection: %w", err)
	}
	for index, k := range c.pkeys {
		if k.Base() == i.RedirectPKey.Base() {
			to.PKeyIndex = uint16(index)
			return to, nil
		}
	}
	return nil, fmt.Errorf("follow redirection: the local port does not have P_Key %v", i.RedirectPKey)
}

// readPKeys reads the local port's partition table once.
func (c *Client) readPKeys(ctx context.Context) error {
	if c.pkeys != nil {
		return nil
	}
	local := Target{Route: mad.Local}
	var node mad.NodeInfo
	if err := c.Get(ctx, local, &node); err != nil {
		return err
	}
	var table mad.PKeyTable
	for block := range (int(node.PartitionCap) + len(table.PKeys) - 1) / len(table.PKeys) {
		if err := c.Get(ctx, local, &table, Modifier(uint32(block))); err != nil {
			return err
		}
		c.pkeys = append(c.pkeys, table.PKeys[:]...)
	}
	return nil
}
