//go:build inguest

package verbs_test

import (
	"context"
	"errors"
	"io/fs"
	"os/exec"
	"slices"
	"testing"
	"time"

	"github.com/ibkit/ibkit/verbs"
)

func TestGuestEvents(t *testing.T) {
	c := open(t)
	events, err := c.Events()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	netdev := "dummy0"
	seen := make(chan verbs.Event, 64)
	go func() {
		defer close(seen)
		for {
			e, err := events.Next(ctx)
			if err != nil {
				t.Logf("no more events: %v", err)
				return
			}
			seen <- e
		}
	}()
	set := func(state string, want verbs.EventType) {
		if out, err := exec.Command("ip", "link", "set", netdev, state).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		for e := range seen {
			t.Log(e)
			if e == (verbs.Event{Type: want, Element: 1}) {
				return
			}
		}
		t.Fatalf("%s: got no %v", state, want)
	}
	set("down", verbs.EventPortErr)
	set("up", verbs.EventPortActive)
	cancel()
	for range seen {
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	if _, err := events.Next(t.Context()); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("after Close: got error %v, want %v", err, fs.ErrClosed)
	}
}

// Soft-RoCE cannot disconnect a context, so the removal waits until the context is
// closed.
func TestGuestRemoved(t *testing.T) {
	c := open(t)
	e := newEndpoint(t, c, verbs.QPTypeRC, false)
	e.connect(e)
	if err := c.CheckPresent(); err != nil {
		t.Error(err)
	}
	remove := exec.Command("rdma", "link", "delete", device)
	if err := remove.Start(); err != nil {
		t.Fatal(err)
	}
	for {
		another, err := verbs.Open(device, node)
		if err == nil {
			another.Close()
			continue
		}
		if !errors.Is(err, verbs.ErrDeviceRemoved) && !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("open of a removed device: got error %v, want %v or %v", err, verbs.ErrDeviceRemoved, fs.ErrNotExist)
		}
		t.Log(err)
		break
	}
	// Transfers still work, and only CheckPresent reports the removal.
	e.send(verbs.SendWR{ID: 1, Opcode: verbs.OpWrite})
	e.ok(1, verbs.CompletedWrite)
	for end := time.Now().Add(timeout); ; {
		err := c.CheckPresent()
		if errors.Is(err, verbs.ErrDeviceRemoved) {
			break
		}
		if err != nil || time.Now().After(end) {
			t.Fatalf("device being removed: got error %v, want %v", err, verbs.ErrDeviceRemoved)
		}
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	if err := remove.Wait(); err != nil {
		t.Error(err)
	}
	if _, err := verbs.Open(device, node); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("open without a node: got error %v, want %v", err, fs.ErrNotExist)
	}
	restore(t)
}

// restore creates the device again, as guests have it.
func restore(t *testing.T) {
	t.Helper()
	if out, err := exec.Command("rdma", "link", "add", device, "type", "rxe", "netdev", "dummy0").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for end := time.Now().Add(timeout); ; {
		c, err := verbs.Open(device, node)
		if err == nil {
			table, err := c.GIDTable()
			c.Close()
			if err == nil && slices.ContainsFunc(table, func(e verbs.GIDEntry) bool { return e.GID.Is4In6() }) {
				return
			}
		}
		if time.Now().After(end) {
			t.Fatalf("got no device with a GID over IPv4: %v", err)
		}
	}
}
