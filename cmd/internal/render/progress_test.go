package render

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ibkit/ibkit/fabric"
)

// The line appears after a second, is updated now and then, and disappears at the end.
func TestProgress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var b strings.Builder
		p := NewProgress(&b)
		p.w = &b
		for i := range 10 {
			p.Update(fabric.Progress{Nodes: i})
			time.Sleep(150 * time.Millisecond)
		}
		p.Close()
		const want = "\r\x1b[Kscanning: 7 nodes, 0 ports, 0 requests done, 0 to go" +
			"\r\x1b[Kscanning: 9 nodes, 0 ports, 0 requests done, 0 to go\r\x1b[K"
		if b.String() != want {
			t.Errorf("got %q", b.String())
		}
	})
}

// The reason for a wait appears at once, and after the progress of a scan.
func TestProgress_Wait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var b strings.Builder
		p := NewProgress(&b)
		p.w = &b
		p.Wait("reading twice, 1s apart")
		time.Sleep(progressAfter)
		p.Update(fabric.Progress{Nodes: 2})
		p.Close()
		p.Close()
		const want = "\r\x1b[Kreading twice, 1s apart" +
			"\r\x1b[Kscanning: 2 nodes, 0 ports, 0 requests done, 0 to go; reading twice, 1s apart\r\x1b[K"
		if b.String() != want {
			t.Errorf("got %q, want %q", b.String(), want)
		}
	})
}

// Pipes and files get no progress line.
func TestProgressElsewhere(t *testing.T) {
	var b strings.Builder
	p := NewProgress(&b)
	p.next = time.Time{}
	p.Update(fabric.Progress{})
	p.Wait("reading twice, 1s apart")
	p.Close()
	if b.String() != "" {
		t.Errorf("got %q", b.String())
	}
}
