package devinfo

import (
	"context"
	"errors"
	"fmt"

	"github.com/ibkit/ibkit/cmd/internal/render"
	"github.com/ibkit/ibkit/devinfo"
	"github.com/ibkit/ibkit/ib"
)

// runWatch prints changes until the context ends.
func (c *command) runWatch(ctx context.Context, o devinfo.Options) error {
	err := devinfo.Watch(ctx, o, func(e devinfo.Change) {
		fmt.Fprintf(c.env.Out, "%s %s\n", e.Time.Format(render.TimeFormat), changeText(e))
	})
	if errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

func changeText(e devinfo.Change) string {
	where := e.Device
	if e.Port != 0 {
		where = fmt.Sprintf("%s/%d", e.Device, e.Port)
	}
	switch e.Kind {
	case devinfo.Added:
		return where + " was added"
	case devinfo.Removed:
		return where + " was removed"
	case devinfo.Initial:
		if e.State == ib.PortActive {
			return where + " is active"
		}
		return where + " is " + e.State.String()
	case devinfo.Up:
		return where + " is active again"
	case devinfo.Down:
		return where + " went down"
	case devinfo.Failed:
		return fmt.Sprintf("%s: events cannot be read: %v", where, e.Err)
	}
	return where + ": " + e.Event
}
