package mesh

import (
	"context"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/cmd/internal/fabricflag"
	"github.com/ibkit/ibkit/cmd/internal/render"
	"github.com/ibkit/ibkit/cmd/internal/shared/routefiles"
	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/internal/tool/mesh"
	"github.com/ibkit/ibkit/internal/tool/route"
	"github.com/ibkit/ibkit/report"
)

// source is the flags that select the fabric, and the fabric.
type source struct {
	env    *cmdutil.Env
	fabric fabricflag.Flags
	from   fabricflag.Source
	files  bool // --from is defined

	routing *route.Routing
	names   *fabric.NameMap
}

// define declares the flags of a fabric that may be stored.
func (s *source) define(cmd *cobra.Command) {
	s.files = true
	s.from.Define(cmd)
	s.fabric.Define(s.env, cmd)
}

func (s *source) complete(ctx context.Context, flags *pflag.FlagSet) (err error) {
	if s.files {
		if err := s.from.Complete(nil, nil); err != nil {
			return err
		}
	}
	switch name := cmdutil.FlagName(flags, "sm-port"); {
	case flags.Changed("sm-port") && !s.files:
		return cmdutil.UsageErrorf("%s has no effect: mesh does not query a subnet manager", name)
	case flags.Changed("sm-port") && !s.from.SA:
		return cmdutil.UsageErrorf("%s requires --from sa", name)
	}
	s.names, err = s.fabric.CompleteNames(ctx, s.env)
	return err
}

// wiring reads the fabric and its forwarding tables.
func (s *source) wiring(ctx context.Context) (w *mesh.Wiring, err error) {
	if s.from.File != "" {
		s.routing, err = routefiles.ReadStored(s.from.File)
	} else {
		s.routing, err = s.scan(ctx)
	}
	if err != nil {
		return nil, err
	}
	failures := s.fabric.Failures(s.env, "warning")
	routefiles.PrintFailures(failures, s.routing, s.names)
	return mesh.NewWiring(s.routing, s.names), nil
}

// scan reads the fabric at the local port. Subnet administration is not asked for tables.
func (s *source) scan(ctx context.Context) (*route.Routing, error) {
	bar := render.NewProgress(s.env.ErrOut)
	defer bar.Close()
	o := route.Options{Source: s.from.Fabric(&s.fabric.Settings, s.env), SMLID: s.fabric.SMLID}
	o.Source.Progress = bar.Update
	o.Select = func(*route.Routing) (read route.ReadOptions, err error) {
		if s.from.SA {
			read.Switches = []*route.Node{}
		}
		return read, nil
	}
	r, err := route.Scan(ctx, o)
	return r, fabricflag.WithHint(err)
}

// head returns the head of a document about the fabric.
func (s *source) head(schema string) report.Head {
	h := report.NewHead(schema, s.routing.Began)
	h.Fail(s.routing.ReportFailures(s.names)...)
	return h
}
