package fabricflag

import (
	"cmp"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/fabric/fabricfile"
	"github.com/ibkit/ibkit/fabric/ibdiagnet"
	"github.com/ibkit/ibkit/umad"
)

// A Source is the flags that select the source of the fabric: a scan, subnet
// administration, or a file.
type Source struct {
	// File is the path of the file; "" for another source.
	File string

	// Read is the content of the file, nil before it was read.
	Read *ibdiagnet.Database

	// SA reports whether the source is subnet administration.
	SA bool

	from     string
	flags    *pflag.FlagSet
	FileHint string // how to create a file; empty: for any file of a fabric
}

// The sources that are not files.
const (
	fromSweep = "sweep"
	fromSA    = "sa"
)

// Define declares the flags.
func (s *Source) Define(cmd *cobra.Command) {
	s.flags = cmd.Flags()
	s.flags.StringVar(&s.from, "from", fromSweep, "`SOURCE` of the fabric: sweep (a scan), sa (the subnet manager), a file")
	_ = cmd.RegisterFlagCompletionFunc("from", func(_ *cobra.Command, _ []string, begun string) ([]string, cobra.ShellCompDirective) {
		return cmdutil.BeginningWith(begun, []string{fromSweep, fromSA}), cobra.ShellCompDirectiveDefault
	})
}

// ScanFlags are the flags of [Flags] that have no effect without requests.
var ScanFlags = []string{"sim", "sim-model", "sim-events", "Ca", "Port", "timeout", "sm-port", "m-key", "outstanding-smps", "errors"}

// Complete checks the flags. notFile and notSA are the names of flags of the command
// that do not apply to these sources.
func (s *Source) Complete(notFile, notSA []string) error {
	switch {
	case s.from == "":
		return cmdutil.UsageErrorf("invalid --from %q: want sweep, sa or a file", s.from)
	case s.from == fromSA:
		s.SA = true
	case s.from != fromSweep:
		s.File = s.from
	}
	var clashes []string
	switch {
	case s.File != "":
		clashes = slices.Concat(ScanFlags, notFile)
	case s.SA:
		clashes = slices.Concat([]string{"m-key"}, notSA)
	}
	if other := cmdutil.Given(s.flags, clashes); other != "" {
		err := cmdutil.UsageErrorf("--from %s and %s are mutually exclusive", s.from, other)
		return cmdutil.WithHint(err, "sources: sweep (a scan, also of a simulated fabric), sa, or a file, which is read without requests")
	}
	return nil
}

// Stored returns the fabric in the file of the source, nil for another source. Errors are
// usage errors, as for all files that the user names. full are the names of flags that
// require all attributes of ports.
func (s *Source) Stored(full ...string) (*fabric.Fabric, error) {
	d, err := s.Database()
	if d == nil {
		return nil, err
	}
	if given := cmdutil.Given(s.flags, full); d.Fabric.Sparse && given != "" {
		return nil, cmdutil.UsageErrorf("%s requires a file with all attributes of ports: %s does not contain them", given, s.File)
	}
	return d.Fabric, nil
}

// Database returns the content of the file of the source, nil without a file. Errors are
// usage errors.
func (s *Source) Database() (*ibdiagnet.Database, error) {
	if s.File == "" {
		return nil, nil
	}
	var err error
	if s.Read, err = fabricfile.Read(s.File); err != nil {
		return nil, cmdutil.WithFileHint(&cmdutil.UsageError{Err: err}, cmp.Or(s.FileHint, "sources: sweep, sa, or a file: ibkit linkinfo --save FILE"))
	}
	return s.Read, nil
}

// Fabric returns the fabric at the local port, or the records of subnet administration.
// [Source.Stored] reads that of a file.
func (s *Source) Fabric(settings *Settings, env *cmdutil.Env) fabric.Source {
	if s.SA {
		return settings.Records(env)
	}
	return settings.Source(env)
}

// Records returns the fabric in the records of subnet administration.
func (s *Settings) Records(env *cmdutil.Env) fabric.Source {
	source := s.Source(env)
	source.Discover = fabric.RecordOptions{To: umad.Target{LID: s.SMLID}, SMKey: s.SAKey()}.Discover
	return source
}
