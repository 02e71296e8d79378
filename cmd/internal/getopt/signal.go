package getopt

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"syscall"

	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
)

// UntilSignal returns a context that SIGINT and SIGTERM end, for servers with an original
// program that such a signal ends. ended must be called with the server's error: it
// returns the tool's error, with the exit code that shells show for the signal, if one
// arrived.
func UntilSignal(ctx context.Context) (_ context.Context, ended func(error) error) {
	ctx, cancel := context.WithCancelCause(ctx)
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	stop := context.AfterFunc(ctx, func() { signal.Stop(signals) }) // a second signal ends the process
	go func() {
		select {
		case s := <-signals:
			cancel(signalled{s})
		case <-ctx.Done():
		}
	}()
	return ctx, func(err error) error {
		stop()
		signal.Stop(signals)
		var by signalled
		if errors.As(context.Cause(ctx), &by) {
			err = &cmdutil.ExitError{Code: signalCode + int(by.Signal.(syscall.Signal)), Err: err}
		}
		cancel(nil)
		return err
	}
}

// signalCode plus a signal's number is the exit code that shells show for it.
const signalCode = 128

// signalled is a signal as the cause of an end.
type signalled struct{ os.Signal }

func (s signalled) Error() string { return s.String() }
