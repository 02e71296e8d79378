package rping

import "testing"

// The text of a ping is that of rping -v.
func TestFill(t *testing.T) {
	b := make([]byte, 80)
	fill(b, 1, 'y')
	want := "rdma-ping-1: yzABCDEFGHIJKLMNOPQRSTUVWXYZ[\\]^_`abcdefghijklmnopqrstuvwxyzABCDEF"
	if got := string(cString(b)); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
