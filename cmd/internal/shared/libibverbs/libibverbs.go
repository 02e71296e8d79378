// Package libibverbs contains the part of libibverbs that its programs share.
package libibverbs

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/cmd/internal/getopt"
)

// Check prints an error if the kernel does not provide verbs to programs. libibverbs
// checks this first.
func Check(env *cmdutil.Env) error {
	if _, err := os.Stat(filepath.Join(env.Sysfs(), "class/infiniband_verbs/abi_version")); err != nil {
		fmt.Fprintln(env.ErrOut, "Failed to get IB devices list: Function not implemented")
		return &cmdutil.ExitError{Code: getopt.ExitFailure}
	}
	return nil
}
