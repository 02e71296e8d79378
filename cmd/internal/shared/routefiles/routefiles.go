// Package routefiles has the flags of commands that read a routing from files instead of
// scanning a fabric, and the warnings about parts of a routing that were not read.
package routefiles

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/pflag"

	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/cmd/internal/fabricflag"
	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/fabric/fabricfile"
	"github.com/ibkit/ibkit/internal/tool/route"
	"github.com/ibkit/ibkit/internal/tool/route/dump"
)

// Flags are the values of --tables and --lmc.
type Flags struct {
	Load []string // empty: the fabric is scanned
	LMC  uint8
}

// Register defines the flags.
func (f *Flags) Register(flags *pflag.FlagSet) {
	flags.StringSliceVar(&f.Load, "tables", nil, "read the files or the directory `PATH` instead of scanning")
	f.RegisterLMC(flags)
}

// RegisterLMC defines --lmc.
func (f *Flags) RegisterLMC(flags *pflag.FlagSet) {
	cmdutil.NumberFlag(flags, &f.LMC, "lmc", cmdutil.NumberRange{Most: 7}, "LMC `N` of end ports, if files do not contain it (--tables)")
}

// Read reads the files of --tables, or returns nil without --tables. An invalid file is a
// usage error, as for all files that the user names.
func (f *Flags) Read() (*route.Routing, error) {
	if len(f.Load) == 0 {
		return nil, nil
	}
	r, err := dump.Load(f.Load, dump.LoadOptions{LMC: f.LMC})
	if err != nil && !errors.Is(err, context.Canceled) {
		return nil, cmdutil.WithFileHint(&cmdutil.UsageError{Err: err}, cmdutil.TablesHint)
	}
	return r, err
}

// ReadStored reads a stored routing, dumps with tables, or a fabric without tables. An
// invalid file is a usage error.
func ReadStored(path string) (*route.Routing, error) {
	r, err := dump.Load([]string{path}, dump.LoadOptions{})
	if err == nil {
		return r, nil
	}
	d, other := fabricfile.Read(path)
	if other != nil {
		return nil, cmdutil.WithFileHint(&cmdutil.UsageError{Err: err}, cmdutil.TablesHint)
	}
	return route.FromFabric(d.Fabric), nil
}

// Clash returns the rule that --tables excludes the flags of a scan, and others.
func Clash(others ...string) cmdutil.Clash {
	return cmdutil.Clash{Flags: []string{"tables"}, Others: slices.Concat(fabricflag.ScanFlags, others)}
}

// Need returns the rule that --lmc requires --tables.
func Need() cmdutil.Need {
	return cmdutil.Need{Flags: []string{"lmc"}, Others: []string{"tables"}}
}

// PrintFailures prints the requests for a routing without a response.
func PrintFailures(failures *cmdutil.Failures, r *route.Routing, names *fabric.NameMap) {
	for _, f := range r.Failures {
		failures.Print(FailureError(f, names))
	}
	failures.Close()
}

// FailureError returns the error of a request for a routing, with the name of the node.
func FailureError(f route.Failure, names *fabric.NameMap) error {
	if f.Attr == "" {
		return f.Err // which names the file and the line
	}
	return fmt.Errorf("%s: %w", f.Subject(names), f.Err)
}

// PrintChanging prints the switches whose tables changed during each read.
func PrintChanging(failures *cmdutil.Failures, r *route.Routing, names *fabric.NameMap) {
	for _, n := range r.Changing {
		failures.Print(fmt.Errorf("%s: its tables changed during each read: entries may be of different times", names.LabelOf(n.GUID, n.Desc)))
	}
	failures.Close()
}
