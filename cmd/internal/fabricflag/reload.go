package fabricflag

import (
	"context"

	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
)

// Reload returns completed settings with the configuration files and the file of the M_Key as
// they are now. Mistakes are errors in default files, too. A simulated fabric, the counts of
// packets, and a key from a prompt stay those of s.
func (s *Settings) Reload(ctx context.Context, env *cmdutil.Env) (*Settings, error) {
	next := *s.given
	next.given, next.strict, next.simulated, next.counter = s.given, true, s.simulated, s.counter
	next.prompted = &s.mkey
	if err := next.readFiles(ctx, env); err != nil {
		return nil, err
	}
	return &next, nil
}
