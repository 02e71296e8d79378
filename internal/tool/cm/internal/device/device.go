// Package device opens connection devices, each once: opening a device takes longer
// than a connection.
package device

import (
	"errors"
	"fmt"
	"sync"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/rdmacm"
	"github.com/ibkit/ibkit/verbs"
)

// A Set has the open devices. Its methods may be called concurrently.
type Set struct {
	lock sync.Mutex
	open map[key]*Device
}

type key struct {
	guid  ib.GUID
	index uint32
}

// A Device has the objects that its queue pairs share.
type Device struct {
	Context *verbs.Context
	PD      *verbs.PD

	idle *verbs.CQ // for queue pairs without data
}

// NewQP creates a queue pair for an ID, and returns it with its device name. No data is
// sent over it.
func (s *Set) NewQP(id *rdmacm.ID) (qp *verbs.QP, name string, err error) {
	a, err := id.Addresses()
	if err != nil {
		return nil, "", err
	}
	return s.NewQPAt(a, id.QPType())
}

// NewQPAt is NewQP for an ID with these addresses.
func (s *Set) NewQPAt(a rdmacm.Addresses, t verbs.QPType) (qp *verbs.QP, name string, err error) {
	d, err := s.Get(a)
	if err != nil {
		return nil, "", err
	}
	qp, err = d.PD.CreateQP(verbs.QPInit{
		Type: t, SendCQ: d.idle, RecvCQ: d.idle,
		Cap: verbs.QPCap{MaxSendWR: 1, MaxRecvWR: 1, MaxSendSGE: 1, MaxRecvSGE: 1},
	})
	return qp, d.Context.Name(), err
}

// Get returns a local port's open device.
func (s *Set) Get(a rdmacm.Addresses) (*Device, error) {
	s.lock.Lock()
	defer s.lock.Unlock()
	k := key{a.NodeGUID, a.Index}
	if found := s.open[k]; found != nil {
		return found, nil
	}
	at, err := a.Device()
	if err != nil {
		return nil, err
	}
	opened := &Device{}
	if opened.Context, err = at.Open(); err != nil {
		return nil, err
	}
	if err := opened.create(); err != nil {
		return nil, errors.Join(fmt.Errorf("use %s: %w", at.Name, err), opened.Context.Close())
	}
	if s.open == nil {
		s.open = map[key]*Device{}
	}
	s.open[k] = opened
	return opened, nil
}

func (d *Device) create() (err error) {
	if d.PD, err = d.Context.AllocPD(); err != nil {
		return err
	}
	d.idle, err = d.Context.CreateCQ(verbs.CQInit{Entries: 1})
	return err
}

// Close closes all devices with their objects.
func (s *Set) Close() error {
	s.lock.Lock()
	defer s.lock.Unlock()
	var errs []error
	for _, d := range s.open {
		errs = append(errs, d.Context.Close())
	}
	s.open = nil
	return errors.Join(errs...)
}
