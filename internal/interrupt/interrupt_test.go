package interrupt

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

func fifo(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "fifo")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// send sends a signal to this process.
func send(t *testing.T, s syscall.Signal) {
	t.Helper()
	if err := syscall.Kill(os.Getpid(), s); err != nil {
		t.Fatal(err)
	}
}

// A SIGHUP ends a command once: further signals do not terminate the process.
func TestNotify_Hangup(t *testing.T) {
	ctx, stop := Notify()
	defer stop()
	send(t, syscall.SIGHUP)
	<-ctx.Done()
	if err := context.Cause(ctx); err.Error() != "hangup signal received" || !errors.Is(err, context.Canceled) {
		t.Errorf("got cause %v, want the signal", err)
	}
	send(t, syscall.SIGHUP)
	send(t, syscall.SIGHUP)
}

// A SIGHUP does not end a command that reads its files again.
func TestHangups(t *testing.T) {
	ctx, stop := Notify()
	defer stop()
	hangups, release := Hangups()
	defer release()
	for range 3 {
		send(t, syscall.SIGHUP)
		<-hangups
	}
	if ctx.Err() != nil {
		t.Error("got an ended context, want none before SIGTERM")
	}
	send(t, syscall.SIGTERM)
	<-ctx.Done()
}

func TestOpenFIFO_Interrupted(t *testing.T) {
	for name, flag := range map[string]int{"read": os.O_RDONLY, "write": os.O_WRONLY} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			if _, err := openFIFO(ctx, fifo(t), flag); !errors.Is(err, context.Canceled) {
				t.Errorf("got error %v, want %v", err, context.Canceled)
			}
		})
	}
}

// An interrupt ends the read from a FIFO if the writer does not write.
func TestOpenFIFO_Read(t *testing.T) {
	path := fifo(t)
	writer, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer writer.Close()
	ctx, cancel := context.WithCancel(t.Context())
	reader, err := openFIFO(ctx, path, os.O_RDONLY)
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	if _, err := writer.WriteString("x"); err != nil {
		t.Fatal(err)
	}
	b := make([]byte, 1)
	if _, err := reader.Read(b); err != nil || b[0] != 'x' {
		t.Errorf("got %q, error %v, want x", b, err)
	}
	cancel()
	if _, err := reader.Read(b); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("got error %v, want %v", err, os.ErrDeadlineExceeded)
	}
}

func TestReader(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	if b, err := io.ReadAll(&reader{ctx, strings.NewReader("text")}); err != nil || string(b) != "text" {
		t.Errorf("got %q, error %v, want text", b, err)
	}
	blocked, _ := io.Pipe()
	cancel()
	if _, err := (&reader{ctx, blocked}).Read(make([]byte, 1)); !errors.Is(err, context.Canceled) {
		t.Errorf("got error %v, want %v", err, context.Canceled)
	}
}

func TestSleep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		began := time.Now()
		if err, took := Sleep(ctx, time.Second), time.Since(began); err != nil || took != time.Second {
			t.Errorf("got %v after %v, want no error after 1 s", err, took)
		}
		if err, took := Sleep(ctx, time.Hour), time.Since(began); !errors.Is(err, context.DeadlineExceeded) || took != time.Minute {
			t.Errorf("got %v after %v, want the end of the context after a minute", err, took)
		}
	})
}
