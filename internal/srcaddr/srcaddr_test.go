package srcaddr_test

import (
	"net/netip"
	"testing"

	"github.com/ibkit/ibkit/internal/srcaddr"
)

func TestFor(t *testing.T) {
	loopback := netip.MustParseAddr("127.0.0.1")
	for _, to := range []string{"127.0.0.1", "127.8.8.8", "::ffff:127.0.0.1"} {
		t.Run(to, func(t *testing.T) {
			got, err := srcaddr.For(netip.MustParseAddr(to))
			if err != nil {
				t.Fatal(err)
			}
			if got != loopback && got.String() != "127.8.8.8" {
				t.Errorf("got %v, want %v", got, loopback)
			}
		})
	}
	if got, err := srcaddr.For(netip.Addr{}); err == nil && got.IsValid() && !got.IsLoopback() {
		t.Errorf("invalid address: got %v", got)
	}
}
