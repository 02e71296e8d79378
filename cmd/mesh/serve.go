package mesh

import (
	"context"
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/internal/hostlist"
	"github.com/ibkit/ibkit/internal/tool/mesh/crew"
	"github.com/ibkit/ibkit/internal/tool/mesh/rendezvous"
)

// serve is one call of mesh serve.
type serve struct {
	coordinator
	listen, expect string
}

// newServe returns the command mesh serve.
func newServe(env *cmdutil.Env) *cobra.Command {
	c := &serve{coordinator: coordinator{env: env, from: "ibkit mesh serve", source: source{env: env}}}
	cmd := &cobra.Command{
		Use:   "serve --expect FILE|N [flags]",
		Short: "Coordinate a cluster test of workers that join",
		Long: strings.TrimSpace(`
mesh serve waits for the workers that pdsh, clush, Ansible or mpirun start with
ibkit mesh run --join, runs the rounds of a schedule with them, and prints the
verdict of mesh analyze. See ibkit mesh run --help.

--expect is a number of workers, or a file with their names or with lists such
as node[01-16]. Only these names may join, and the missing are named.

Workers prove the token in IBKIT_MESH_TOKEN. Without it, mesh serve prints a
random token.`),
		Example: strings.Trim(`
  # on the head node
  export IBKIT_MESH_TOKEN=$(openssl rand -hex 16)
  ibkit mesh serve --expect hosts.txt

  # the workers, all at the same time
  echo $IBKIT_MESH_TOKEN | clush -f 64 -w @all ibkit mesh run --join head:18600`, "\n"),
		Args: cmdutil.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return c.execute(cmd.Context(), cmd.Flags())
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&c.expect, "expect", "", "`FILE` with the names of the workers, or their number")
	flags.StringVar(&c.listen, "bind", ":18600", "`ADDRESS` and port for workers")
	c.define(cmd)
	return cmd
}

func (c *serve) execute(ctx context.Context, flags *pflag.FlagSet) error {
	if err := c.complete(flags); err != nil {
		return err
	}
	if c.expect == "" {
		return cmdutil.Missing("--expect")
	}
	names, count, err := parseExpect(c.expect)
	if err != nil {
		return cmdutil.WithFileHint(&cmdutil.UsageError{Err: err}, "the file has a host on each line; or give the number of workers")
	}
	if err := c.completeSource(ctx, flags); err != nil {
		return err
	}
	token, defined := c.env.Getenv(rendezvous.TokenVariable), ""
	if token == "" {
		token = crew.NewToken()
		defined = fmt.Sprintf("%s=%s\n", rendezvous.TokenVariable, token)
	}
	o := c.options(token)
	o.Expect, o.Count = names, count
	l, err := net.Listen("tcp", c.listen)
	if err != nil {
		return cmdutil.WithHint(fmt.Errorf("listen for workers: %w", err), bindHint)
	}
	fmt.Fprintf(c.env.ErrOut, "%swaiting for %d workers at %v\n", defined, size(o), l.Addr())
	return c.run(ctx, l, o)
}

// parseExpect returns the names in a file, or a number.
func parseExpect(text string) (names []string, count int, err error) {
	if n, err := strconv.ParseUint(text, 10, 31); err == nil {
		if n < 1 || n > hostlist.Most {
			return nil, 0, fmt.Errorf("invalid --expect %s: want 1 to %d workers, or a file", text, hostlist.Most)
		}
		return nil, int(n), nil
	}
	list, err := os.ReadFile(text)
	if err != nil {
		return nil, 0, fmt.Errorf("invalid --expect: %w", err)
	}
	if names, err = hostlist.Expand(string(list)); err != nil {
		return nil, 0, fmt.Errorf("invalid --expect %s: %w", text, err)
	}
	seen := map[string]bool{}
	for _, name := range names {
		if seen[name] {
			return nil, 0, fmt.Errorf("invalid --expect %s: %s is there twice", text, name)
		}
		seen[name] = true
	}
	if len(names) == 0 {
		return nil, 0, fmt.Errorf("invalid --expect %s: the file has no names", text)
	}
	return names, len(names), nil
}
