package routefiles

import (
	"context"
	"errors"

	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/internal/tool/route"
)

// WithUsage makes the failure to read the files of --load a usage error, as for all files
// that the user names.
func WithUsage(err error) error {
	if _, ok := errors.AsType[*route.LoadError](err); ok && !errors.Is(err, context.Canceled) {
		return &cmdutil.UsageError{Err: err}
	}
	return err
}
