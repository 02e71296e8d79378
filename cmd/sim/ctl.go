package sim

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/internal/ibsimproto"
	"github.com/ibkit/ibkit/internal/textfile"
	"github.com/ibkit/ibkit/sim"
	"github.com/ibkit/ibkit/sim/serve"
)

// ctlCommand is one call of sim ctl.
type ctlCommand struct {
	env    *cmdutil.Env
	name   string
	socket string
}

func newCtl(env *cmdutil.Env) *cobra.Command {
	s := &ctlCommand{env: env}
	cmd := &cobra.Command{
		Use:   "ctl [flags] [COMMAND...]",
		Short: "Change a simulated fabric that is being served",
		Long: strings.TrimSpace(`
ctl sends a command to a running ibkit sim serve of the same user. Without
arguments it sends each line of its input, up to the first invalid command.

The lines of files for --events have the same commands after a time (1.5s) or
after @ and a number of packets (@1000):

` + strings.TrimRight(sim.CommandHelp(), "\n") + `
  clients                        print the attached clients
  stats                          print counters of packets

NODE is an ID or a description, in quotation marks if it contains blanks or
brackets; PORT is NODE[NUMBER]. The parameters of the clock model are
` + modelNames() + "."),
		Example: strings.Trim(`
  ibkit sim ctl unlink 'leaf1[3]'
  ibkit sim ctl model loss=0.01 jitter=5us
  ibkit sim ctl < commands`, "\n"),
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error { return s.run(cmd, args) },
	}
	// Arguments of a command, for example -5, are not flags of ctl.
	cmd.Flags().SetInterspersed(false)
	cmd.Flags().StringVar(&s.name, "name", "", "`NAME` of the server (default: IBSIM_SOCKNAME, or sim)")
	cmd.Flags().StringVar(&s.socket, "console", "", "`PATH` of the server's console (default: as for sim serve)")
	return cmd
}

// consolePath returns the path of the console of a server.
func consolePath(env *cmdutil.Env, path, name string) string {
	return cmp.Or(path, serve.ConsolePath(cmp.Or(name, env.Getenv("IBSIM_SOCKNAME"), ibsimproto.DefaultSockName), env.Getenv))
}

// modelNames returns the parameters of the clock model in two lines.
func modelNames() string {
	names := sim.ModelParameters()
	half := (len(names) + 1) / 2
	return strings.Join(names[:half], ", ") + ",\n" + strings.Join(names[half:], ", ")
}

func (s *ctlCommand) run(cmd *cobra.Command, args []string) error {
	c, err := serve.DialConsole(cmd.Context(), consolePath(s.env, s.socket, s.name))
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ECONNREFUSED) {
		return cmdutil.WithHint(err, "start the server: ibkit sim serve FABRIC; --name or --console select another server")
	}
	if err != nil {
		return err
	}
	defer c.Close()
	if len(args) > 0 {
		return s.command(c, strings.Join(args, " "))
	}
	prompt := term.IsTerminal(int(os.Stdin.Fd()))
	lines := textfile.NewReader(os.Stdin, "standard input")
	for {
		if prompt {
			fmt.Fprint(s.env.ErrOut, "sim> ")
		}
		if !lines.Next() {
			return lines.Err()
		}
		switch err := s.command(c, lines.Text()); {
		case err != nil && prompt:
			fmt.Fprintln(s.env.ErrOut, err)
		case err != nil:
			return err
		}
	}
}

func (s *ctlCommand) command(c *serve.Console, text string) error {
	out, err := c.Run(text)
	if _, err := fmt.Fprint(s.env.Out, out); err != nil {
		return err
	}
	var invalid *serve.CommandError
	if errors.As(err, &invalid) {
		return &cmdutil.UsageError{Err: err}
	}
	return err
}
