package perftest

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/ibkit/ibkit/verbs"
)

// TestFitDatagrams checks that sends of datagrams are reduced to a limit, but no other sizes.
func TestFitDatagrams(t *testing.T) {
	for _, test := range []struct {
		kind  verbs.QPType
		verb  Verb
		all   bool
		sizes []int
		want  []int // nil: as they are
	}{
		{verbs.QPTypeUD, Send, false, []int{4096}, []int{1000}},
		{verbs.QPTypeSRD, Send, false, []int{4096}, []int{1000}},
		{verbs.QPTypeSRD, Send, false, []int{1000}, nil},
		{verbs.QPTypeSRD, Send, true, AllSizes(4096), []int{2, 4, 8, 16, 32, 64, 128, 256, 512}},
		{verbs.QPTypeSRD, Write, false, []int{4096}, nil},
		{verbs.QPTypeRC, Send, false, []int{4096}, nil},
	} {
		t.Run(fmt.Sprintf("%v %v of %v", test.kind, test.verb, test.sizes), func(t *testing.T) {
			want := test.want
			if want == nil {
				want = test.sizes
			}
			one := Test{Order: Order{Verb: test.verb, Sizes: test.sizes, All: test.all}, Type: test.kind}
			if changed := one.fitDatagrams(1000); changed != (test.want != nil) || !slices.Equal(one.Sizes, want) {
				t.Errorf("got %v, changed: %t, want %v", one.Sizes, changed, want)
			}
		})
	}
	for limit, want := range map[int]int{1024: 1024, 8928: 8192, math.MaxInt: 1 << 23} {
		if all := AllSizes(limit); all[0] != 2 || all[len(all)-1] != want {
			t.Errorf("all sizes up to %d: got %v, want 2 to %d", limit, all, want)
		}
	}
	if n := (&Test{Type: verbs.QPTypeSRD, Moderation: 100, Order: Order{Bandwidth: true}, TxDepth: 128, Iterations: 1000}).Moderate(64); n != 1 {
		t.Errorf("messages per completion over SRD: got %d, want 1", n)
	}
}
