// Package ibidsverify implements the script ibidsverify of infiniband-diags.
package ibidsverify

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/cmd/internal/getopt"
	"github.com/ibkit/ibkit/cmd/internal/shared/links"
	"github.com/ibkit/ibkit/internal/fileout"
	"github.com/ibkit/ibkit/linkinfo"
	"github.com/ibkit/ibkit/topology"
)

// cacheDir is the directory with the topology files of the scripts.
var cacheDir = "/var/cache/infiniband-diags"

// command is one call of ibidsverify.
type command struct {
	*getopt.Diag
	again        bool // -R
	device, port string
}

// New returns ibidsverify.
func New(env *cmdutil.Env) *getopt.Tool {
	c := &command{Diag: getopt.NewDiag(env, "ibidsverify")}
	return &getopt.Tool{
		Name: "ibidsverify", Lenient: true,
		Family:  &getopt.Family{Usage: usage, UsageToOut: true, UsageCode: cmdutil.ExitUsage, FailureCode: getopt.ExitFailure},
		Options: getopt.SimOptions(&c.Settings),
		Run:     c.run,
	}
}

func usage(t *getopt.Tool) string {
	return "Usage: " + t.Name + ` [-Rh]
   Validate LIDs and GUIDs (check for zero and duplicates) in the local subnet
   -h This help message
   -R Recalculate ibnetdiscover information (Default is to reuse ibnetdiscover output)
   -C <ca_name> use selected Channel Adaptor name for queries
   -P <ca_port> use selected channel adaptor port for queries
`
}

// parse parses the arguments by the rules of Perl's Getopt::Std.
func (c *command) parse(args []string) error {
	var help, invalid bool
	for len(args) > 0 && len(args[0]) > 1 && args[0][0] == '-' {
		letters := args[0][1:]
		args = args[1:]
		if letters == "-" {
			break
		}
		for letters != "" {
			letter := letters[0]
			letters = letters[1:]
			switch letter {
			case 'h':
				help = true
			case 'R':
				c.again = true
			case 'C', 'P':
				value := letters
				if letters = ""; value == "" && len(args) > 0 {
					value, args = args[0], args[1:]
				}
				if letter == 'C' {
					c.device = value
				} else {
					c.port = value
				}
			default:
				fmt.Fprintf(c.Env.ErrOut, "Unknown option: %c\n", letter)
				invalid = true
			}
		}
	}
	if help || invalid {
		return getopt.ErrUsage
	}
	return nil
}

func (c *command) run(ctx context.Context, args []string) error {
	if err := c.parse(args); err != nil {
		return err
	}
	for _, o := range c.Options("DGKLs") {
		switch {
		case o.Short == 'C' && c.device != "":
			_ = o.Set(c.device) // any text is valid
		case o.Short == 'P' && c.port != "":
			_ = o.Set(c.port)
		}
	}
	if err := c.Complete(ctx, c.Env); err != nil {
		return err
	}
	text, err := c.topology(ctx)
	if err != nil {
		return err
	}
	valid, err := topology.VerifyIDs(c.Env.Out, bytes.NewReader(text))
	if err == nil && !valid {
		err = &cmdutil.ExitError{Code: cmdutil.ExitFailed}
	}
	return err
}

// topology returns the stored topology file, or that of a new scan. That of a
// simulated fabric is not stored.
func (c *command) topology(ctx context.Context) ([]byte, error) {
	if c.IsSimulated() {
		return c.scan(ctx)
	}
	path := filepath.Join(cacheDir, "ibnetdiscover-"+c.device+"-"+c.port+".topology")
	if !c.again {
		if text, err := os.ReadFile(path); !errors.Is(err, fs.ErrNotExist) {
			return text, err
		}
	}
	text, err := c.scan(ctx)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(cacheDir, 0o700); err != nil {
		return nil, fmt.Errorf("create cache directory: %w", err)
	}
	return text, fileout.Write(path, func(w io.Writer) error {
		_, err := w.Write(text)
		return err
	})
}

func (c *command) scan(ctx context.Context) ([]byte, error) {
	names, err := c.Names(c.Env)
	if err != nil {
		return nil, err
	}
	f, err := topology.Run(ctx, topology.Options{Open: c.Open, Client: c.Client(c.Env), NoExtendedPortInfo: c.NoExtendedPortInfo()})
	if err != nil {
		return nil, err
	}
	links.PrintWarnings(c.Env.ErrOut, &linkinfo.Result{Fabric: f}, false)
	var text bytes.Buffer
	err = (&topology.Text{Names: names, Time: time.Now(), Group: true}).WriteTopology(&text, f)
	return text.Bytes(), err
}
