package cmd

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/umad"
)

// pingTarget is a port by LID or, until it was found, by GUID.
type pingTarget struct {
	name string
	lid  uint16
	guid uint64
}

// parsePingTargets reads LIDs and ranges of them, or GUIDs of ports.
func parsePingTargets(args []string, byGUID bool) ([]pingTarget, error) {
	if len(args) == 0 {
		return nil, usageErrorf("no target given: see ibkit ping --help")
	}
	var targets []pingTarget
	for _, arg := range args {
		if byGUID {
			guid, err := mad.ParseGUID(arg)
			if err != nil {
				return nil, &usageError{err}
			}
			targets = append(targets, pingTarget{name: fmt.Sprintf("0x%016x", guid), guid: guid})
			continue
		}
		low, high, isRange := strings.Cut(arg, "-")
		first, err := parseUnicastLID(low)
		last := first
		if err == nil && isRange {
			last, err = parseUnicastLID(high)
		}
		if err != nil || last < first {
			return nil, usageErrorf("invalid target %q: neither a LID from 1 to 0xbfff nor a range of them", arg)
		}
		for lid := first; lid <= last; lid++ {
			targets = append(targets, pingTarget{name: fmt.Sprintf("LID %d", lid), lid: lid})
		}
	}
	return targets, nil
}

func parseUnicastLID(s string) (uint16, error) {
	lid, err := strconv.ParseUint(s, 0, 16)
	if err == nil && !mad.IsUnicastLID(uint16(lid)) {
		err = strconv.ErrRange
	}
	return uint16(lid), err
}

// find asks subnet administration for the LID of a target that is a GUID.
func (t *pingTarget) find(ctx context.Context, c *umad.Client, smLID uint16) (err error) {
	if t.guid != 0 {
		t.lid, err = c.ResolveGUID(ctx, t.guid, smLID)
	}
	return err
}
