// Package ibidsverify implements the script ibidsverify from infiniband-diags.
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
	"strconv"
	"time"

	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/cmd/internal/getopt"
	"github.com/ibkit/ibkit/cmd/internal/shared/links"
	"github.com/ibkit/ibkit/internal/fileout"
	"github.com/ibkit/ibkit/internal/tool/topology"
	"github.com/ibkit/ibkit/linkinfo"
)

// cacheDir is the directory with the scripts' topology files.
var cacheDir = "/var/cache/infiniband-diags"

// command is an ibidsverify call.
type command struct {
	*getopt.Diag
	again bool // -R
}

// New returns ibidsverify.
func New(env *cmdutil.Env) *getopt.Tool {
	c := &command{Diag: getopt.NewDiag(env, "ibidsverify")}
	return &getopt.Tool{
		Name: "ibidsverify", Std: true,
		Family: &getopt.Family{Usage: usage, UsageToOut: true, UsageCode: cmdutil.ExitUsage, FailureCode: getopt.ExitFailure},
		Options: append([]getopt.Option{
			{Short: 'R', Help: "scan the fabric again", Set: getopt.True(&c.again)},
		}, c.StdOptions()...),
		Run: c.run,
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

func (c *command) run(ctx context.Context, _ []string) error {
	stored := c.path()
	if err := c.Complete(ctx, c.Env); err != nil {
		return err
	}
	text, err := c.topology(ctx, stored)
	if err != nil {
		return err
	}
	valid, err := topology.VerifyIDs(c.Env.Out, bytes.NewReader(text))
	if err == nil && !valid {
		err = &cmdutil.ExitError{Code: cmdutil.ExitFailed}
	}
	return err
}

// path returns the stored topology file's path.
func (c *command) path() string {
	port := ""
	if c.PortGiven {
		port = strconv.Itoa(int(c.Port))
	}
	return filepath.Join(cacheDir, "ibnetdiscover-"+c.Device+"-"+port+".topology")
}

// topology returns the stored topology file, or the file from a new scan. A simulated
// fabric's file is not stored.
func (c *command) topology(ctx context.Context, path string) ([]byte, error) {
	if c.IsSimulated() {
		return c.scan(ctx)
	}
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
	f, err := topology.Run(ctx, topology.Options{Source: c.Source()})
	if err != nil {
		return nil, err
	}
	links.PrintWarnings(c.Env, &linkinfo.Result{Fabric: f}, nil, false)
	var text bytes.Buffer
	err = (&topology.Text{Names: names, Time: time.Now(), Group: true}).WriteTopology(&text, f)
	return text.Bytes(), err
}
