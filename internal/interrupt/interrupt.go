// Package interrupt ends blocking file operations and pauses when a signal interrupts the process.
// Opening a FIFO waits for the peer and reading a terminal waits for input, and neither
// takes a context.
package interrupt

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"
	"time"
)

// current is the context from [Notify]; nil: signals terminate the process.
var current atomic.Pointer[context.Context]

// Notify returns a context that the first SIGINT, SIGTERM or SIGHUP ends. A second SIGINT
// or SIGTERM terminates the process; a second SIGHUP does not, as a terminal that closes
// and the shell in it both send SIGHUP. If SIGHUP is ignored, as with nohup(1), it stays
// ignored. [Hangups] takes SIGHUP out. The context's cause names the signal. stop restores
// the signal behaviour.
func Notify() (ctx context.Context, stop func()) {
	ctx, cancel := context.WithCancelCause(context.Background())
	ends, hangups := make(chan os.Signal, 1), make(chan os.Signal, 1)
	signal.Notify(ends, os.Interrupt, syscall.SIGTERM)
	if !signal.Ignored(syscall.SIGHUP) {
		signal.Notify(hangups, syscall.SIGHUP)
	}
	go func() {
		defer signal.Stop(ends)
		for {
			select {
			case <-ctx.Done():
				return
			case s := <-ends:
				cancel(cause{s})
			case s := <-hangups:
				if reloaders.Load() == 0 {
					cancel(cause{s})
				}
			}
		}
	}()
	current.Store(&ctx)
	return ctx, func() {
		cancel(nil)
		signal.Stop(ends)
		signal.Stop(hangups)
	}
}

// cause is why the [Notify] context ended, such as "interrupt signal received".
type cause struct{ os.Signal }

func (c cause) Error() string { return c.String() + " signal received" }

func (cause) Unwrap() error { return context.Canceled }

// reloaders is the count of commands to which SIGHUP has another meaning.
var reloaders atomic.Int32

// Hangups returns a SIGHUP channel for a command that reads its files again and does not
// end. Signals that arrive at the same time may merge.
func Hangups() (hangups <-chan os.Signal, stop func()) {
	reloaders.Add(1)
	c := make(chan os.Signal, 1)
	signal.Notify(c, syscall.SIGHUP)
	return c, func() {
		signal.Stop(c)
		reloaders.Add(-1)
	}
}

// Sleep waits for a time, or until ctx ends: then it returns the error of ctx.
func Sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
	return ctx.Err()
}

// Open opens a file for reading. See [OpenFile].
func Open(path string) (*os.File, error) { return OpenFile(path, os.O_RDONLY, 0) }

// ReadFile reads a file of at most a number of bytes, which may be a device or a FIFO.
func ReadFile(path string, most int64) ([]byte, error) {
	file, err := Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, most+1))
	if err == nil && int64(len(data)) > most {
		err = fmt.Errorf("%s has more than %d bytes", path, most)
	}
	return data, err
}

// OpenFile opens a file like [os.OpenFile]. An interrupt ends the wait for the FIFO peer,
// and later FIFO reads and writes.
func OpenFile(path string, flag int, mode fs.FileMode) (*os.File, error) {
	ctx := current.Load()
	if info, err := os.Stat(path); ctx == nil || err != nil || info.Mode()&fs.ModeNamedPipe == 0 {
		return os.OpenFile(path, flag, mode)
	}
	return openFIFO(*ctx, path, flag)
}

// openFIFO leaves a blocked system call behind if it is interrupted. It ends with the
// process.
func openFIFO(ctx context.Context, path string, flag int) (*os.File, error) {
	type result struct {
		file *os.File
		err  error
	}
	opened := make(chan result, 1)
	go func() {
		file, err := os.OpenFile(path, flag, 0)
		opened <- result{file, err}
	}()
	select {
	case <-ctx.Done():
		return nil, fmt.Errorf("open %s: %w", path, ctx.Err())
	case r := <-opened:
		if r.err == nil {
			// Without a deadline on the FIFO, a second signal ends reads and writes.
			context.AfterFunc(ctx, func() { _ = r.file.SetDeadline(time.Unix(1, 0)) })
		}
		return r.file, r.err
	}
}

// Reader returns a reader with reads that an interrupt ends.
func Reader(in io.Reader) io.Reader {
	ctx := current.Load()
	if ctx == nil {
		return in
	}
	return &reader{ctx: *ctx, in: in}
}

type reader struct {
	ctx context.Context
	in  io.Reader
}

// Read leaves a blocked read behind if it is interrupted. The data from this read is lost.
func (r *reader) Read(p []byte) (int, error) {
	type result struct {
		n   int
		err error
	}
	done := make(chan result, 1)
	buffer := make([]byte, len(p)) // p belongs to the caller after an interrupt
	go func() {
		n, err := r.in.Read(buffer)
		done <- result{n, err}
	}()
	select {
	case <-r.ctx.Done():
		return 0, r.ctx.Err()
	case got := <-done:
		return copy(p, buffer[:got.n]), got.err
	}
}
