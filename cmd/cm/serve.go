package cm

import (
	"context"
	"errors"
	"fmt"

	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/cmd/internal/render"
	"github.com/ibkit/ibkit/internal/tool/cm"
	"github.com/ibkit/ibkit/rdmacm"
)

// runServer accepts connections until ctx ends, and prints the counts.
func (c *command) runServer(ctx context.Context, address string) error {
	counts, err := cm.Serve(ctx, cm.ServeOptions{
		Address: address, Max: c.max,
		Listening: func(a rdmacm.Addr) {
			fmt.Fprintf(c.env.ErrOut, "accepting connections at %v\n", a)
			if err := cmdutil.NotifyReady(c.env.Getenv); err != nil {
				cmdutil.PrintError(c.env, "ibkit cm", err)
			}
		},
		Failed: func(peer rdmacm.Addr, err error) {
			if peer != nil {
				err = fmt.Errorf("accept connection of %v: %w", peer, err)
			}
			cmdutil.PrintError(c.env, "ibkit cm", err)
		},
	})
	if err != nil {
		return err
	}
	out := render.NewOutput(c.env.Out)
	if c.json {
		render.WriteDocument(out, counts)
	} else {
		fmt.Fprintf(out, "%d accepted, %d failed, %d rejected\n", counts.Accepted, counts.Failed, counts.Rejected)
	}
	return errors.Join(out.Flush(), cmdutil.HeadError(&counts.Head))
}
