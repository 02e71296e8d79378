package nonblock

import (
	"context"
	"errors"
	"testing"

	"github.com/ibkit/ibkit/internal/testenv"
)

// When a context ends, a single read ends; a later read waits again.
func TestUntilDone(t *testing.T) {
	local, peer := testenv.SocketPair(t)
	b := make([]byte, 64)
	n := 0
	read := func() (err error) {
		n, err = local.Read(b)
		return err
	}
	for range 2 {
		ctx, cancel := context.WithCancel(t.Context())
		go cancel()
		if err := UntilDone(ctx, local, read); !errors.Is(err, context.Canceled) {
			t.Fatalf("got error %v, want %v", err, context.Canceled)
		}
	}
	go peer.Write([]byte("late"))
	if err := UntilDone(t.Context(), local, read); err != nil || string(b[:n]) != "late" {
		t.Errorf("got %q, error %v, want late", b[:n], err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	failed := errors.New("read failed")
	if err := UntilDone(ended, local, func() error { return failed }); !errors.Is(err, failed) {
		t.Errorf("got error %v, want %v", err, failed)
	}
}
