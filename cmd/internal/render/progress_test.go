package render

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ibkit/ibkit/fabric"
)

// A scan on a terminal says how far it is once it has taken a second, then now
// and again, and takes the line back.
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

// Nothing of it goes to a pipe or a file.
func TestProgressElsewhere(t *testing.T) {
	var b strings.Builder
	p := NewProgress(&b)
	p.next = time.Time{}
	p.Update(fabric.Progress{})
	p.Close()
	if b.String() != "" {
		t.Errorf("got %q", b.String())
	}
}
