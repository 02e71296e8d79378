package cmdutil

import (
	"context"
	"slices"
	"strconv"

	"github.com/spf13/pflag"

	"github.com/ibkit/ibkit/devinfo"
)

// DeviceNames returns the names of the RDMA devices of this host.
func DeviceNames(env *Env, _ *pflag.FlagSet) []string {
	return devinfo.Names(devinfo.Options{Sysfs: env.Sysfs()})
}

// PortNumbers are the ports of the device that was given, else of all.
func PortNumbers(env *Env, flags *pflag.FlagSet) []string {
	device := ""
	for _, name := range []string{"Ca", "device"} {
		if f := flags.Lookup(name); f != nil {
			device = f.Value.String()
		}
	}
	r, err := devinfo.Run(context.Background(), devinfo.Options{Sysfs: env.Sysfs(), Brief: true, SysfsOnly: true})
	if err != nil {
		return nil
	}
	var numbers []string
	for _, d := range r.Devices {
		if device != "" && d.Name != device {
			continue
		}
		for _, p := range d.Ports {
			numbers = append(numbers, strconv.Itoa(p.Number))
		}
	}
	slices.Sort(numbers)
	return slices.Compact(numbers)
}
