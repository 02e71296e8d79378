package cmd

import (
	"fmt"
	"net/netip"
	"path"

	"github.com/ibkit/ibkit/resolve"
)

// pingTarget is what a user wrote for one port or more.
type pingTarget struct {
	resolve.Address
	where string // for errors: file and line; "": the command line
}

// parsePingTarget reads a target. prefix is the kind that all are of; "": any.
func parsePingTarget(text, prefix string) (t pingTarget, err error) {
	t.Address, err = resolve.Parse(prefix + text)
	t.Text = text
	if err == nil && t.Kind == resolve.Name {
		if _, bad := path.Match(t.Name, ""); bad != nil {
			err = fmt.Errorf("parse pattern %q: a bracket is not closed", t.Name)
		}
	}
	return t, err
}

// address returns the GID, or the IP address that is one over RoCE.
func (t *pingTarget) address() (netip.Addr, bool) {
	switch t.Kind {
	case resolve.GID:
		return netip.AddrFrom16(t.GID), true
	case resolve.IP:
		return t.IP, true
	}
	return netip.Addr{}, false
}

// fail returns an error that says where the target is written.
func (t *pingTarget) fail(err error) error {
	if t.where == "" {
		return err
	}
	return fmt.Errorf("%s: %w", t.where, err)
}
