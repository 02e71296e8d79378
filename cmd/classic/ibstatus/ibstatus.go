// Package ibstatus is ibstatus of infiniband-diags.
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

// Run is the script Run of infiniband-diags. It shows files as they
// are, so it reads them itself.
func Run(_ context.Context, env *cmdutil.Env, args []string) error {
	out := render.NewOutput(env.Out)
	defer out.Flush()
	base := filepath.Join(env.Sysfs(), "class/infiniband")
	fatal := func(text string) error {
		fmt.Fprintf(out, "Fatal error:  %s\n", text)
		return &cmdutil.ExitError{Code: getopt.ExitFailure}
	}
	if len(args) > 0 && args[0] == "-h" {
		fmt.Fprint(out, `Usage:  ibstatus  [-h] [devname[:portnum]]
	-h:	this help screen
	Examples:
		ibstatus mthca1		# shows status of all ports of 'mthca1'
		ibstatus mthca0:2	# shows status port number 2 of 'mthca0'
		ibstatus		# default: shows status of all 'mthca0' ports
`)
		return &cmdutil.ExitError{Code: getopt.ExitFailure}
	}
	if len(args) == 0 || args[0] == "" {
		entries, err := os.ReadDir(base)
		if err != nil {
			return fatal("No devices")
		}
		args = []string{"*"} // what a shell makes of no match
		if len(entries) > 0 {
			args = args[:0]
		}
		for _, e := range entries {
			args = append(args, e.Name())
		}
	}
	for _, arg := range args {
		if arg == "" {
			break
		}
		device, port, one := strings.Cut(arg, ":")
		ports := filepath.Join(base, device, "ports")
		entries, err := os.ReadDir(ports)
		if err != nil {
			return fatal(fmt.Sprintf("device '%s': sys files not found (/sys/class/infiniband/%[1]s/ports)", device))
		}
		var names []string
		if one {
			names = []string{port[strings.LastIndex(port, ":")+1:]}
		} else {
			for _, e := range entries {
				names = append(names, e.Name())
			}
		}
		for _, name := range names {
			showPort(out, ports, device, name)
		}
	}
	return nil
}

// showPort prints the files of a port.
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
