// Package ibstatus implements ibstatus of infiniband-diags.
package ibstatus

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/cmd/internal/getopt"
	"github.com/ibkit/ibkit/cmd/internal/render"
)

const usage = `Usage:  ibstatus  [-h] [devname[:portnum]]
	-h:	this help screen
	Examples:
		ibstatus mthca1		# shows status of all ports of 'mthca1'
		ibstatus mthca0:2	# shows status port number 2 of 'mthca0'
		ibstatus		# default: shows status of all 'mthca0' ports
`

// allPorts stands for all ports of a device. The script accepts it from users, too.
const allPorts = "+"

// Run runs ibstatus. It prints files of sysfs verbatim, so it reads them itself
// instead of using package devinfo.
func Run(_ context.Context, env *cmdutil.Env, args []string) error {
	out := render.NewOutput(env.Out)
	defer out.Flush()
	base := filepath.Join(env.Sysfs(), "class/infiniband")
	if len(args) > 0 && args[0] == "-h" {
		fmt.Fprint(out, usage)
		return &cmdutil.ExitError{Code: getopt.ExitFailure}
	}
	if len(args) == 0 || args[0] == "" {
		entries, err := os.ReadDir(base)
		if err != nil {
			return fatal(out, "No devices")
		}
		devices := []string{"*"} // the shell does not expand a pattern without a match
		if len(entries) > 0 {
			devices = nil
		}
		for _, e := range entries {
			devices = append(devices, e.Name())
		}
		for _, device := range devices {
			if err := showDevice(out, base, device, allPorts); err != nil {
				return err
			}
		}
		return nil
	}
	for _, arg := range args {
		if arg == "" {
			break
		}
		if err := showDevice(out, base, splitTarget(arg)...); err != nil {
			return err
		}
	}
	return nil
}

// splitTarget splits DEVICE[:PORT] into words like the script: unquoted, so that an
// empty DEVICE or PORT is not a word.
func splitTarget(arg string) []string {
	device, _, _ := strings.Cut(arg, ":")
	port := arg[strings.LastIndex(arg, ":")+1:]
	if port == device {
		port = allPorts
	}
	return append(strings.Fields(device), strings.Fields(port)...)
}

// showDevice prints one port or all ports of a device. The words are the device and the
// port; either may be missing.
func showDevice(out *render.Output, base string, words ...string) error {
	words = append(words, "", "")
	device, port := words[0], words[1]
	dir := filepath.Join(base, device, "ports")
	entries, err := os.ReadDir(dir)
	if err != nil {
		return fatal(out, fmt.Sprintf("device '%s': sys files not found (/sys/class/infiniband/%[1]s/ports)", device))
	}
	switch port {
	case "":
	case allPorts:
		for _, e := range entries {
			showPort(out, dir, device, e.Name())
		}
	default:
		showPort(out, dir, device, port)
	}
	return nil
}

func fatal(out *render.Output, text string) error {
	fmt.Fprintf(out, "Fatal error:  %s\n", text)
	return &cmdutil.ExitError{Code: getopt.ExitFailure}
}

func showPort(out *render.Output, dir, device, port string) {
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
		if b, err := os.ReadFile(filepath.Join(dir, port, line.file)); err == nil {
			text = string(b)
		}
		fmt.Fprintln(out, strings.Join(append([]string{"\t" + line.label}, strings.Fields(text)...), " "))
	}
	fmt.Fprintln(out)
}
