// Package version implements the command version.
package version

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"github.com/ibkit/ibkit/cmd/internal/buildinfo"
	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/cmd/internal/render"
	"github.com/ibkit/ibkit/devinfo"
)

// report is the JSON document of the command.
type report struct {
	Schema   string   `json:"schema"`
	Version  string   `json:"version"`
	Commit   *string  `json:"commit"`
	Go       string   `json:"go"`
	Platform string   `json:"platform"`
	Kernel   string   `json:"kernel"`
	Devices  []device `json:"devices"`
}

type device struct {
	Name     string  `json:"name"`
	Firmware *string `json:"firmware"`
}

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
		DisableFlagsInUseLine: true,
		Args:                  cmdutil.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			r, err := newReport(cmd.Context(), env)
			if err != nil {
				return err
			}
			out := render.NewOutput(env.Out)
			if asJSON {
				e := json.NewEncoder(out)
				e.SetIndent("", "  ")
				err = e.Encode(r)
			} else {
				err = r.print(out)
			}
			if err == nil {
				err = out.Flush()
			}
			if err != nil {
				return fmt.Errorf("write output: %w", err)
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func newReport(ctx context.Context, env *cmdutil.Env) (*report, error) {
	var u unix.Utsname
	if err := unix.Uname(&u); err != nil {
		return nil, fmt.Errorf("read kernel version: %w", err)
	}
	r := &report{
		Schema:   "ibkit/version/1",
		Version:  buildinfo.Version(),
		Go:       runtime.Version(),
		Platform: runtime.GOOS + "/" + runtime.GOARCH,
		Kernel:   unix.ByteSliceToString(u.Release[:]),
		Devices:  []device{},
	}
	if c := buildinfo.Commit(); c != "" {
		r.Commit = &c
	}
	found, err := devinfo.Run(ctx, devinfo.Options{Sysfs: env.Sysfs(), Brief: true, SysfsOnly: true})
	if err != nil {
		return nil, err
	}
	for _, d := range found.Devices {
		r.Devices = append(r.Devices, device{Name: d.Name, Firmware: d.Firmware})
	}
	return r, nil
}

func (r *report) print(out *render.Output) error {
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
