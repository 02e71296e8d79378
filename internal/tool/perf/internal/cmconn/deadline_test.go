package cmconn

import (
	"errors"
	"io"
	"os"
	"testing"
	"testing/synctest"
	"time"
)

// TestConn_Read receives messages without a queue pair.
func TestConn_Read(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &Conn{messages: make(chan []byte, receives), err: io.EOF}
		c.messages <- []byte("abc")
		c.messages <- []byte("defgh")
		b := make([]byte, 4)
		if n, err := c.Read(b); n != 3 || err != nil {
			t.Errorf("got %d bytes, %v, want 3", n, err)
		}
		if n, err := c.Read(b); n != 4 || !errors.Is(err, io.ErrShortBuffer) {
			t.Errorf("long message: got %d bytes, %v, want 4 and %v", n, err, io.ErrShortBuffer)
		}
		begun := time.Now()
		_ = c.SetReadDeadline(begun.Add(time.Second))
		if err := c.Await(); !errors.Is(err, os.ErrDeadlineExceeded) || time.Since(begun) != time.Second {
			t.Errorf("got %v after %v, want %v after 1s", err, time.Since(begun), os.ErrDeadlineExceeded)
		}
		// A later deadline prolongs a wait, an earlier deadline ends it.
		_ = c.SetDeadline(begun.Add(2 * time.Second))
		time.AfterFunc(500*time.Millisecond, func() { _ = c.SetDeadline(begun.Add(5 * time.Second)) })
		time.AfterFunc(2*time.Second, func() { c.messages <- []byte{} })
		if n, err := c.Read(b); n != 0 || err != nil {
			t.Errorf("empty message: got %d bytes, %v, want 0", n, err)
		}
		_ = c.SetDeadline(time.Time{})
		time.AfterFunc(time.Hour, func() { _ = c.SetReadDeadline(time.Unix(1, 0)) })
		if _, err := c.Read(b); !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("got %v, want %v", err, os.ErrDeadlineExceeded)
		}
		_ = c.SetDeadline(time.Time{})
		close(c.messages)
		if _, err := c.Read(b); !errors.Is(err, io.EOF) {
			t.Errorf("got %v, want %v", err, io.EOF)
		}
	})
	if _, err := new(Conn).Write(make([]byte, MaxMessage+1)); err == nil {
		t.Error("long message: got no error")
	}
}
