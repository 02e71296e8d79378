// Package ibnodes implements the scripts ibhosts, ibswitches, ibrouters and ibnodes from
// infiniband-diags.
package ibnodes

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/cmd/internal/getopt"
	"github.com/ibkit/ibkit/cmd/internal/shared/links"
	"github.com/ibkit/ibkit/internal/tool/topology"
	"github.com/ibkit/ibkit/linkinfo"
	"github.com/ibkit/ibkit/mad"
)

// types are the node types that the scripts list. ibnodes runs ibhosts and ibswitches.
var types = map[string][]mad.NodeType{
	"ibhosts":    {mad.NodeTypeCA},
	"ibswitches": {mad.NodeTypeSwitch},
	"ibrouters":  {mad.NodeTypeRouter},
	"ibnodes":    {mad.NodeTypeCA, mad.NodeTypeSwitch},
}

var scripts = map[mad.NodeType]string{mad.NodeTypeCA: "ibhosts", mad.NodeTypeSwitch: "ibswitches", mad.NodeTypeRouter: "ibrouters"}

// command is a script call.
type command struct {
	*getopt.Diag
	types []mad.NodeType
}

// New returns the tool with a given name.
func New(name string) func(*cmdutil.Env) *getopt.Tool {
	return func(env *cmdutil.Env) *getopt.Tool {
		c := &command{Diag: getopt.NewDiag(env, "ibnetdiscover"), types: types[name]}
		return &getopt.Tool{
			Name: name, Lenient: true,
			Family:  &getopt.Family{Usage: usage, UsageToOut: true, UsageCode: getopt.ExitFailure, FailureCode: getopt.ExitFailure},
			Options: getopt.SimOptions(&c.Settings),
			Run:     c.run,
		}
	}
}

func usage(t *getopt.Tool) string {
	var b strings.Builder
	for _, kind := range types[t.Name] {
		fmt.Fprintf(&b, "Usage: %s [-h] [<topology-file> | -y mkey -C ca_name -P ca_port -t timeout_ms]\n", scripts[kind])
	}
	return b.String()
}

func (c *command) run(ctx context.Context, args []string) error {
	file, err := c.parse(args)
	switch {
	case err != nil:
		return err
	case file == "":
		return c.scan(ctx)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return &cmdutil.ExitError{Code: cmdutil.ExitFailed, Err: err} // cat's exit code
	}
	return c.print(bytes.NewReader(text))
}

// parse parses the arguments as the scripts do: options are not abbreviated, and an
// empty argument is the last argument.
func (c *command) parse(args []string) (file string, err error) {
	options := c.Options("DGKLs")
	for len(args) > 0 && args[0] != "" {
		arg := args[0]
		args = args[1:]
		i := slices.IndexFunc(options, func(o getopt.Option) bool {
			return strings.IndexByte("yPCt", o.Short) >= 0 && (arg == "-"+string(o.Short) || arg == "--"+o.Long)
		})
		switch {
		case i >= 0 && (len(args) == 0 || args[0] == "" || args[0][0] == '-'):
			return "", getopt.ErrUsage
		case i >= 0:
			if err := options[i].Set(args[0]); err != nil {
				return "", err
			}
			args = args[1:]
		case arg[0] == '-' || file != "":
			return "", getopt.ErrUsage
		default:
			file = arg
		}
	}
	return file, nil
}

// scan scans the fabric once for all lists.
func (c *command) scan(ctx context.Context) error {
	if err := c.Complete(ctx, c.Env); err != nil {
		return err
	}
	names, err := c.Names(c.Env)
	if err != nil {
		return err
	}
	f, err := topology.Run(ctx, topology.Options{Source: c.Source()})
	if f == nil {
		return c.Iberror("main", err, "discover failed\n")
	}
	links.PrintWarnings(c.Env, &linkinfo.Result{Fabric: f}, nil, false)
	if err != nil {
		cmdutil.PrintError(c.Env, "error", err)
	}
	var text bytes.Buffer
	if err := (&topology.Text{Names: names}).WriteHeaders(&text, f); err != nil {
		return err
	}
	if err := c.print(bytes.NewReader(text.Bytes())); err != nil {
		return err
	}
	if f.Aborted != nil {
		return &cmdutil.ExitError{Code: getopt.ExitFailure}
	}
	return nil
}

func (c *command) print(text io.ReadSeeker) error {
	for _, kind := range c.types {
		if _, err := text.Seek(0, io.SeekStart); err != nil {
			return err
		}
		if err := topology.ListNodes(c.Env.Out, text, kind); err != nil {
			return err
		}
	}
	return nil
}
