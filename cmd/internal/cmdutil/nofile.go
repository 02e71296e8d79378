package cmdutil

import (
	"context"
	"errors"
	"io/fs"
)

// The hints of [WithFileHint] for files that ibkit writes.
const (
	BaselineHint = "save a baseline: ibkit counters --save FILE"
	PlanHint     = "save the current cabling as a plan: ibkit topology --write-plan FILE"
	TablesHint   = "store the tables of a fabric: ibkit check routes --save FILE"
	TargetsHint  = "the file has a target on each line; -: standard input"
)

// CacheHint is the hint for a fabric that a command with --save stores.
func CacheHint(command string) string { return "create one: ibkit " + command + " --save FILE" }

// WithFileHint adds to the error of a file that does not exist, or has another content, how to
// create it.
func WithFileHint(err error, hint string) error {
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, context.Canceled) {
		return err
	}
	return WithHint(err, hint)
}
