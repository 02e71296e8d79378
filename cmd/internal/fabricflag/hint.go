package fabricflag

import (
	"errors"

	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/umad"
)

// WithHint adds a hint to the error of a request without a reply.
func WithHint(err error) error {
	switch {
	case NoManager(err):
		return cmdutil.WithHint(err, "check that a subnet manager is running")
	case errors.Is(err, umad.ErrTimeout):
		return cmdutil.WithHint(err, "no port has this address, its node or a link on the way is down, or -t is too short for this fabric")
	}
	return err
}

// NoManager reports whether subnet administration did not reply, or is not known.
func NoManager(err error) bool {
	var failed *umad.Error
	return errors.Is(err, umad.ErrNoSM) || errors.As(err, &failed) && failed.Class == mad.ClassSA && errors.Is(err, umad.ErrTimeout)
}
