package fabricflag

import (
	"errors"
	"strings"

	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/sim"
)

// Build makes a simulated fabric from a description, as [sim.Build] does. Errors are
// usage errors.
func Build(description string, options ...string) (*sim.Fabric, error) {
	f, err := sim.Build(description, options...)
	switch {
	case errors.Is(err, sim.ErrCache):
		return nil, &cmdutil.UsageError{Err: &cacheError{err}}
	case err != nil && strings.HasPrefix(description, "json:"):
		return nil, cmdutil.WithFileHint(&cmdutil.UsageError{Err: err}, "json:FILE has the output of linkinfo --json --attributes")
	case err != nil:
		return nil, &cmdutil.UsageError{Err: err}
	}
	return f, nil
}

// A cacheError is a cache in place of a fabric file.
type cacheError struct{ error }

func (e *cacheError) Unwrap() error { return e.error }

// Hint implements the interface of [cmdutil.Hint].
func (*cacheError) Hint() string {
	return "convert the cache: ibkit linkinfo --from FILE --json --attributes > fabric.json"
}
