package cmdutil

import (
	"fmt"
	"io"

	"github.com/ibkit/ibkit/fabric/resolve"
	"github.com/ibkit/ibkit/internal/interrupt"
)

// ParseTargets parses the targets of a command line, and those of a file if there is one
// ("-": in). areGUIDs and areRoutes fix the kind of the targets on the command line.
func ParseTargets(in io.Reader, args []string, areGUIDs, areRoutes bool, file string) ([]resolve.Address, error) {
	prefix := ""
	switch {
	case areGUIDs:
		prefix = resolve.GUID.String() + ":"
	case areRoutes:
		prefix = resolve.Route.String() + ":"
	}
	var targets []resolve.Address
	for _, arg := range args {
		a, err := resolve.Parse(prefix + arg)
		if err != nil {
			return nil, &UsageError{err}
		}
		a.Text = arg
		targets = append(targets, a)
	}
	if file == "" {
		return targets, nil
	}
	more, err := readTargets(in, file)
	if err != nil {
		return nil, &UsageError{err}
	}
	if targets = append(targets, more...); len(targets) == 0 {
		return nil, UsageErrorf("read targets: no targets in %s", nameOf(file))
	}
	return targets, nil
}

// nameOf returns the name of a list of targets in messages.
func nameOf(path string) string {
	if path == "-" {
		return "standard input"
	}
	return path
}

// readTargets reads a list of targets.
func readTargets(in io.Reader, path string) ([]resolve.Address, error) {
	if path == "-" {
		return resolve.ReadList(interrupt.Reader(in), nameOf(path))
	}
	file, err := interrupt.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read targets: %w", err)
	}
	defer file.Close()
	return resolve.ReadList(file, path)
}
