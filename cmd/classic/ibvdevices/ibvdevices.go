// Package ibvdevices implements ibv_devices of libibverbs.
package ibvdevices

import (
	"context"
	"fmt"

	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/cmd/internal/render"
	"github.com/ibkit/ibkit/cmd/internal/shared/libibverbs"
	"github.com/ibkit/ibkit/devinfo"
	"github.com/ibkit/ibkit/internal/sysfs"
)

// Run runs ibv_devices.
func Run(ctx context.Context, env *cmdutil.Env, _ []string) error {
	if err := libibverbs.Check(env); err != nil {
		return &cmdutil.ExitError{Code: 1}
	}
	out := render.NewOutput(env.Out)
	defer out.Flush()
	fmt.Fprintf(out, "    %-16s\t   node GUID\n", "device")
	fmt.Fprintf(out, "    %-16s\t----------------\n", "------")
	for _, name := range devinfo.Names(devinfo.Options{Sysfs: env.Sysfs()}) {
		d, err := sysfs.FS(env.Sysfs()).Device(name)
		if err == nil {
			fmt.Fprintf(out, "    %-16s\t%016x\n", name, d.NodeGUID)
		}
	}
	return ctx.Err()
}
