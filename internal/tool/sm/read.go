package sm

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"github.com/ibkit/ibkit/mad"
)

// read queries all managers, and after the wait the responding managers once more.
func (r *run) read() error {
	for _, m := range r.result.Managers {
		r.name(m)
		if len(r.Targets) > 0 {
			r.capability(m)
		}
		r.smInfo(m, &m.Info)
	}
	if err := r.client.Run(r.ctx); err != nil {
		return err
	}
	if r.Wait <= 0 {
		return nil
	}
	start := time.Now()
	if r.Meanwhile != nil {
		if err := r.Meanwhile(r.ctx); err != nil {
			return err
		}
	}
	select {
	case <-r.ctx.Done():
		return r.ctx.Err()
	case <-time.After(r.Wait - time.Since(start)):
	}
	for _, m := range r.result.Managers {
		if m.Info != nil {
			r.smInfo(m, &m.Later)
			m.Elapsed = time.Since(start)
		}
	}
	return r.client.Run(r.ctx)
}

// smInfo requests a manager's SMInfo.
func (r *run) smInfo(m *Manager, to **mad.SMInfo) {
	var info mad.SMInfo
	r.client.SubmitGet(m.To, &info, func(err error) {
		if err != nil {
			m.Err = err
			return
		}
		*to = &info
	})
}

// capability requests a port's IsSM capability. Without a reply it stays unknown.
func (r *run) capability(m *Manager) {
	var info mad.PortInfo // modifier 0 selects the port itself
	r.client.SubmitGet(m.To, &info, func(err error) {
		if err == nil {
			isSM := info.CapMask.Has(mad.CapSM)
			m.IsSM = &isSM
		}
	})
}

// separate moves ports that neither claim to have a manager nor reply like a manager.
func (r *run) separate() {
	var managers []*Manager
	for _, m := range r.result.Managers {
		var status mad.StatusError
		if m.Info == nil && m.IsSM != nil && !*m.IsSM && errors.As(m.Err, &status) {
			r.result.Without = append(r.result.Without, m)
		} else {
			managers = append(managers, m)
		}
	}
	r.result.Managers = managers
}

// name requests the node's attributes if they are unknown. A node that does not reply has
// no name.
func (r *run) name(m *Manager) {
	if m.Node != nil && m.Description != nil {
		return
	}
	var node mad.NodeInfo
	var desc mad.NodeDescription
	r.client.SubmitGet(m.To, &node, func(err error) {
		if m.failed(err) == nil {
			m.Node = &node
		}
	})
	r.client.SubmitGet(m.To, &desc, func(err error) {
		if m.failed(err) == nil {
			m.Description = &desc
		}
	})
}

// failed records and returns the error for a node name request.
func (m *Manager) failed(err error) error {
	m.unnamed = cmp.Or(m.unnamed, err)
	return err
}

// warnUnnamed adds warnings about managers that replied and have no name.
func (r *run) warnUnnamed() {
	for _, m := range r.result.Managers {
		if m.Info != nil && m.unnamed != nil {
			r.result.Warnings = append(r.result.Warnings, fmt.Errorf("read the name of the node: %w", m.unnamed))
		}
	}
}
