package cmd

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"github.com/ibkit/ibkit/devinfo"
)

// What a release is built with: -ldflags "-X github.com/ibkit/ibkit/cmd.release=…".
var release, releaseCommit string

// version returns the version that the binary was built as: that of a release,
// else the commit that it was built from.
func version() string {
	if release != "" {
		return release
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	if v := info.Main.Version; v != "" && v != "(devel)" {
		return v
	}
	if c := commit(); c != "" {
		return "devel-" + c[:min(12, len(c))]
	}
	return "devel"
}

// commit returns the commit that the binary was built from; "": not known.
func commit() string {
	if releaseCommit != "" {
		return releaseCommit
	}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" {
				return s.Value
			}
		}
	}
	return ""
}

// versionReport is what is asked for first when something does not work.
type versionReport struct {
	Schema   string          `json:"schema"`
	Version  string          `json:"version"`
	Commit   *string         `json:"commit"`
	Go       string          `json:"go"`
	Platform string          `json:"platform"`
	Kernel   string          `json:"kernel"`
	Devices  []versionDevice `json:"devices"`
}

type versionDevice struct {
	Name     string  `json:"name"`
	Firmware *string `json:"firmware"`
}

func newVersion(env *environment, _ dialect) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "version [flags]",
		Short: "Show the version of ibkit, of the kernel and of the devices' firmware",
		Long: strings.TrimSpace(`
version shows what a report of a problem should begin with: what this binary was
built from and with, the kernel that it runs on, and the RDMA devices of this
host.`),
		DisableFlagsInUseLine: true,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usageErrorf("unexpected argument %q", args[0])
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			r, err := reportVersion(cmd.Context(), env)
			if err != nil {
				return err
			}
			out := bufferedOut(env)
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

func reportVersion(ctx context.Context, env *environment) (*versionReport, error) {
	var u unix.Utsname
	if err := unix.Uname(&u); err != nil {
		return nil, fmt.Errorf("ask for kernel version: %w", err)
	}
	r := &versionReport{
		Schema:   "ibkit-version-1",
		Version:  version(),
		Go:       runtime.Version(),
		Platform: runtime.GOOS + "/" + runtime.GOARCH,
		Kernel:   unix.ByteSliceToString(u.Release[:]),
		Devices:  []versionDevice{},
	}
	if c := commit(); c != "" {
		r.Commit = &c
	}
	found, err := devinfo.Run(ctx, devinfo.Options{Sysfs: string(sysfsRoot(env)), Brief: true, SysfsOnly: true})
	if err != nil {
		return nil, err
	}
	for _, d := range found.Devices {
		r.Devices = append(r.Devices, versionDevice{Name: d.Name, Firmware: d.Firmware})
	}
	return r, nil
}

func (r *versionReport) print(out *output) error {
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "ibkit\t%s\n", r.Version)
	fmt.Fprintf(t, "commit\t%s\n", orDash(r.Commit))
	fmt.Fprintf(t, "go\t%s %s\n", r.Go, r.Platform)
	fmt.Fprintf(t, "kernel\t%s\n", r.Kernel)
	for _, d := range r.Devices {
		fmt.Fprintf(t, "device\t%s, firmware %s\n", d.Name, orDash(d.Firmware))
	}
	return t.Flush()
}

// orDash shows what is not known as tables do.
func orDash(s *string) string {
	if s == nil {
		return "-"
	}
	return *s
}
