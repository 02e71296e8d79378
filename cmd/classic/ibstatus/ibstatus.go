// Package ibstatus implements ibstatus from infiniband-diags.
package ibstatus

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/cmd/internal/fabricflag"
	"github.com/ibkit/ibkit/cmd/internal/getopt"
	"github.com/ibkit/ibkit/cmd/internal/render"
	"github.com/ibkit/ibkit/cmd/internal/shared/simhost"
)

// New returns ibstatus. It prints sysfs files verbatim, so it reads them itself instead
// of using package devinfo.
func New(env *cmdutil.Env) *getopt.Tool {
	var settings fabricflag.Settings
	return &getopt.Tool{
		Name: "ibstatus", Lenient: true,
		Family:  &getopt.Family{Usage: usage, UsageToOut: true, UsageCode: getopt.ExitFailure, FailureCode: getopt.ExitFailure},
		Options: getopt.SimOptions(&settings),
		Run: func(ctx context.Context, operands []string) error {
			if len(operands) > 0 && operands[0] == "-h" {
				return getopt.ErrUsage
			}
			root, remove, err := simhost.Sysfs(ctx, env, &settings)
			if err != nil {
				return err
			}
			defer remove()
			out := render.NewOutput(env.Out)
			return errors.Join(run(out, filepath.Join(root, "class/infiniband"), operands), out.Flush())
		},
	}
}

func usage(t *getopt.Tool) string {
	return strings.ReplaceAll(`Usage:  ibstatus  [-h] [devname[:portnum]]
	-h:	this help screen
	Examples:
		ibstatus mthca1		# shows status of all ports of 'mthca1'
		ibstatus mthca0:2	# shows status port number 2 of 'mthca0'
		ibstatus		# default: shows status of all 'mthca0' ports
`, "ibstatus", t.Name)
}

func run(out *render.Output, base string, args []string) error {
	if len(args) > 0 && args[0] != "" {
		for _, arg := range args {
			if arg == "" {
				break
			}
			device, port := splitTarget(arg)
			if err := showDevice(out, base, device, port); err != nil {
				return err
			}
		}
		return nil
	}
	entries, err := os.ReadDir(base)
	if err != nil {
		return fatal(out, "No devices")
	}
	if len(entries) == 0 {
		return showDevice(out, base, "*", allPorts) // the shell does not expand a pattern without a match
	}
	for _, e := range entries {
		if err := showDevice(out, base, e.Name(), allPorts); err != nil {
			return err
		}
	}
	return nil
}

// allPorts stands for all ports on a device. The script accepts it from users, too.
const allPorts = "+"

// splitTarget splits DEVICE[:PORT] into words like the script: unquoted, so that an
// empty device moves the port to its place.
func splitTarget(arg string) (device, port string) {
	device, _, _ = strings.Cut(arg, ":")
	if port = arg[strings.LastIndex(arg, ":")+1:]; port == device {
		port = allPorts
	}
	list := append(strings.Fields(device+" "+port), "", "")
	return list[0], list[1]
}

func fatal(out *render.Output, text string) error {
	fmt.Fprintf(out, "Fatal error:  %s\n", text)
	return &cmdutil.ExitError{Code: getopt.ExitFailure}
}

// showDevice prints a device's port, or all its ports; none if port is empty.
func showDevice(out *render.Output, base, device, port string) error {
	ports := filepath.Join(base, device, "ports")
	entries, err := os.ReadDir(ports)
	if err != nil {
		return fatal(out, fmt.Sprintf("device '%s': sys files not found (/sys/class/infiniband/%[1]s/ports)", device))
	}
	switch port {
	case "":
	case allPorts:
		for _, e := range entries {
			showPort(out, ports, device, e.Name())
		}
	default:
		showPort(out, ports, device, port)
	}
	return nil
}

// showPort prints a port's files.
func showPort(out *render.Output, ports, device, port string) {
	fmt.Fprintf(out, "Infiniband device '%s' port %s status:\n", device, port)
	for _, line := range []struct{ label, file, absent string }{
		{"default gid:\t", "gids/0", "unknown"},
		{"base lid:\t", "lid", "unknown"},
		{"sm lid:\t\t", "sm_lid", "unknown"},
		{"state:\t\t", "state", "unknown"},
		{"phys state:\t", "phys_state", "unknown"},
		{"rate:\t\t", "rate", "unknown"},
		{"link_layer:\t", "link_layer", "IB"},
	} {
		text := line.absent
		if b, err := os.ReadFile(filepath.Join(ports, port, line.file)); err == nil {
			text = string(b)
		}
		fmt.Fprintln(out, strings.Join(append([]string{"\t" + line.label}, strings.Fields(text)...), " "))
	}
	fmt.Fprintln(out)
}
