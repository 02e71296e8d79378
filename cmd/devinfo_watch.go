package cmd

import (
	"context"
	"errors"
	"fmt"

	"github.com/ibkit/ibkit/devinfo"
)

// watchTime is how a time stamp is written, in local time.
const watchTime = "2006-01-02T15:04:05.000000-07:00"

// runWatch prints changes until the context ends, which is no error.
func (c *devinfoCommand) runWatch(ctx context.Context, o devinfo.Options) error {
	err := devinfo.Watch(ctx, o, func(e devinfo.Change) {
		fmt.Fprintf(c.env.out, "%s %s\n", e.Time.Format(watchTime), changeText(e))
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
		if e.State == 4 {
			return where + " is active"
		}
		return where + " is " + ibstatStates[min(int(e.State), 4)]
	case devinfo.Up:
		return where + " is active again"
	case devinfo.Down:
		return where + " went down"
	case devinfo.Failed:
		return fmt.Sprintf("%s: events cannot be seen: %v", where, e.Err)
	}
	return where + ": " + e.Event
}
