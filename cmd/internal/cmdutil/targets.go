package cmdutil

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/fabric/lookup"
	"github.com/ibkit/ibkit/internal/interrupt"
	"github.com/ibkit/ibkit/mad"
)

// ParseTargets parses the targets of a command line, and those of a file if there is one
// ("-": standard input). It prints a note if a target seems to be meant as the port of the
// target before. areGUIDs and areRoutes fix the kind of the targets on the command line.
func ParseTargets(env *Env, args []string, areGUIDs, areRoutes bool, file string) ([]lookup.Address, error) {
	prefix := ""
	switch {
	case areGUIDs:
		prefix = lookup.GUID.String() + ":"
	case areRoutes:
		prefix = lookup.Route.String() + ":"
	}
	var targets []lookup.Address
	for _, arg := range args {
		a, err := lookup.Parse(prefix + arg)
		if err != nil {
			return nil, &UsageError{err}
		}
		a.Text = arg
		targets = append(targets, a)
	}
	noteLIDs(env, targets)
	if file == "" {
		return targets, nil
	}
	more, err := readTargets(env.In, file)
	if err != nil {
		return nil, WithFileHint(&UsageError{err}, TargetsHint)
	}
	if targets = append(targets, more...); len(targets) == 0 {
		return nil, UsageErrorf("read targets: no targets in %s", nameOf(file))
	}
	return targets, nil
}

// CheckPorts returns a usage error for a LID that may be meant as the port of the target before, as
// perfquery and smpquery take it.
func CheckPorts(args []string) error {
	for i := 1; i < len(args); i++ {
		node, number := args[i-1], args[i]
		if n, err := strconv.ParseUint(number, 10, 8); err != nil || n == mad.AllPorts {
			continue
		}
		a, err := lookup.Parse(node)
		_, _, hasPort := fabric.CutPort(a.Name)
		port := fmt.Sprintf("'%s[%s]'", Visible(node), number)
		switch {
		case err == nil && a.Kind == lookup.Name && !hasPort:
		case err == nil && a.Kind == lookup.LID && len(args) == 2 && strings.Trim(node, "0123456789") == "":
			port = node + " --ports " + number
		default:
			continue
		}
		return WithHint(UsageErrorf("targets %s %s: got a LID %s behind a target, which may be meant as its port", Visible(node), number, number),
			fmt.Sprintf("the port: %s; the LID: lid:%s", port, number))
	}
	return nil
}

// noteLIDs prints a note for the first LID behind a node's name that may be a port's number.
func noteLIDs(env *Env, targets []lookup.Address) {
	for i := 1; i < len(targets); i++ {
		node, a := targets[i-1], targets[i]
		_, _, hasPort := fabric.CutPort(node.Name)
		if node.Kind != lookup.Name || hasPort || a.Kind != lookup.LID || a.First >= mad.AllPorts || strings.Trim(a.Text, "0123456789") != "" {
			continue
		}
		fmt.Fprintf(env.ErrOut, "note: %s is a LID, not port %s of %s ('%s[%s]')\n", a.Text, a.Text, Visible(node.Text), Visible(node.Name), a.Text)
		return
	}
}

// nameOf returns the name of a list of targets in messages.
func nameOf(path string) string {
	if path == "-" {
		return "standard input"
	}
	return path
}

// readTargets reads a list of targets.
func readTargets(in io.Reader, path string) ([]lookup.Address, error) {
	if path == "-" {
		return lookup.ReadList(interrupt.Reader(in), nameOf(path))
	}
	file, err := interrupt.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read targets: %w", err)
	}
	defer file.Close()
	return lookup.ReadList(file, path)
}
