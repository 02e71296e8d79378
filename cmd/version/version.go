// Package version implements the command version.
package version

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"github.com/ibkit/ibkit/cmd/internal/buildinfo"
	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/cmd/internal/render"
	"github.com/ibkit/ibkit/devinfo"
	"github.com/ibkit/ibkit/report"
)

// New returns the command.
func New(env *cmdutil.Env) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "version [flags]",
		Short: "Show the versions of ibkit, the kernel and device firmware",
		Long: strings.TrimSpace(`
version shows the version, commit and Go version of this binary, the running
kernel, and the RDMA devices of this host with their firmware. Include its
output in bug reports.`),
		Args: cmdutil.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			r, err := newReport(cmd.Context(), env)
			if err != nil {
				return err
			}
			out := render.NewOutput(env.Out)
			if asJSON {
				render.WriteDocument(out, r)
			} else {
				err = printReport(out, r)
			}
			return errors.Join(err, out.Flush())
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func newReport(ctx context.Context, env *cmdutil.Env) (*devinfo.ReportVersion, error) {
	var u unix.Utsname
	if err := unix.Uname(&u); err != nil {
		return nil, fmt.Errorf("read kernel version: %w", err)
	}
	r := &devinfo.ReportVersion{
		Head:     report.NewHead(devinfo.VersionSchema, time.Now()),
		Version:  buildinfo.Version(),
		Go:       runtime.Version(),
		Platform: runtime.GOOS + "/" + runtime.GOARCH,
		Kernel:   unix.ByteSliceToString(u.Release[:]),
		Devices:  []devinfo.ReportFirmware{},
	}
	if c := buildinfo.Commit(); c != "" {
		r.Commit = &c
	}
	found, err := devinfo.Run(ctx, devinfo.Options{Sysfs: env.Sysfs(), Brief: true, SysfsOnly: true})
	if err != nil {
		return nil, err
	}
	r.Fail(found.Failures...)
	for _, d := range found.Devices {
		r.Devices = append(r.Devices, devinfo.ReportFirmware{Name: d.Name, Firmware: d.Firmware})
	}
	return r, nil
}

func printReport(out *render.Output, r *devinfo.ReportVersion) error {
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "ibkit\t%s\n", r.Version)
	fmt.Fprintf(t, "commit\t%s\n", render.Show(r.Commit))
	fmt.Fprintf(t, "go\t%s %s\n", r.Go, r.Platform)
	fmt.Fprintf(t, "kernel\t%s\n", r.Kernel)
	for _, d := range r.Devices {
		fmt.Fprintf(t, "device\t%s, firmware %s\n", d.Name, render.Show(d.Firmware))
	}
	return t.Flush()
}
