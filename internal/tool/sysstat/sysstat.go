// Package sysstat answers queries for this host's name and processors, as ibsysstat in
// infiniband-diags does. Package query sends such queries.
package sysstat

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/ibkit/ibkit/internal/hostname"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/umad"
)

// Options are the options for [Serve].
type Options struct {
	OUI     uint32 // of the queries to answer, usually [mad.OpenIB]
	Host    string // this host's name; "": its name and NIS domain
	CPUInfo string // path to the processor list; "": /proc/cpuinfo

	// Log, if set, gets a debug message for each packet.
	Log *slog.Logger
}

// quiet discards the log.
var quiet = slog.New(slog.DiscardHandler)

// Serve answers queries at a port until ctx ends, for which it returns nil, or the port
// breaks. It calls ready when the port receives queries.
func Serve(ctx context.Context, port umad.Port, o Options, ready func()) error {
	r, ok := port.(umad.Responder)
	if !ok {
		return errors.New("serve system status: the port receives responses only")
	}
	if o.Log == nil {
		o.Log = quiet
	}
	service := umad.Service{
		Class: mad.ClassSysstat, ClassVersion: mad.ClassSysstat.Version(), OUI: o.OUI,
		Methods: []mad.Method{mad.MethodGet}, RMPP: true,
	}
	if err := r.Listen(service); err != nil {
		return fmt.Errorf("serve system status: %w", err)
	}
	ready()
	s := &server{Options: o, port: r, start: time.Now()}
	if err := s.run(ctx); err != nil {
		return fmt.Errorf("serve system status: %w", err)
	}
	return nil
}

// answer returns the reply text for a query.
func (s *server) answer(id mad.AttrID) (string, mad.Status) {
	switch id {
	case mad.AttrSysstatPing:
		return "", 0
	case mad.AttrSysstatHost:
		if s.Host != "" {
			return s.Host, 0
		}
		return hostname.WithDomain(), 0
	case mad.AttrSysstatCPU:
		return s.cpus(), 0
	}
	return "", mad.StatusBadMethodAttr
}
