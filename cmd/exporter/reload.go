package exporter

import (
	"context"
	"fmt"
	"os"

	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/internal/tool/exporter"
)

// reloadOn reads the files again at each signal until ctx ends.
func (c *command) reloadOn(ctx context.Context, hangups <-chan os.Signal) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-hangups:
		}
		if err := c.reload(ctx); err != nil {
			cmdutil.PrintError(c.env, "ibkit exporter", fmt.Errorf("reload files: %w; the former ones apply", err))
			continue
		}
		fmt.Fprintln(c.env.ErrOut, "reloaded all files: they apply to the next sweep")
	}
}

// reload reads all files again. After an error, all options stay. The server reads the web
// configuration itself, at each request.
func (c *command) reload(ctx context.Context) error {
	if err := exporter.CheckWebConfig(c.webConfig); err != nil || c.local {
		return err
	}
	settings, err := c.fabric.Reload(ctx, c.env)
	if err != nil {
		return err
	}
	o := c.options
	if err := c.readFiles(settings, &o); err != nil {
		return err
	}
	c.exporter.Reload(o)
	return nil
}
