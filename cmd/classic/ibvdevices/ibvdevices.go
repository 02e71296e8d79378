// Package ibvdevices implements ibv_devices from libibverbs.
package ibvdevices

import (
	"context"
	"fmt"

	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/cmd/internal/fabricflag"
	"github.com/ibkit/ibkit/cmd/internal/getopt"
	"github.com/ibkit/ibkit/cmd/internal/render"
	"github.com/ibkit/ibkit/cmd/internal/shared/libibverbs"
	"github.com/ibkit/ibkit/devinfo"
	"github.com/ibkit/ibkit/internal/sysfs"
)

// New returns ibv_devices, which ignores its arguments.
func New(env *cmdutil.Env) *getopt.Tool {
	var settings fabricflag.Settings
	return &getopt.Tool{
		Name: "ibv_devices", Family: libibverbs.Family, Lenient: true,
		Options: getopt.SimOptions(&settings),
		Run: func(ctx context.Context, _ []string) error {
			if err := libibverbs.Check(env, &settings, cmdutil.ExitFailed); err != nil {
				return err
			}
			return list(ctx, env)
		},
	}
}

func list(ctx context.Context, env *cmdutil.Env) error {
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
