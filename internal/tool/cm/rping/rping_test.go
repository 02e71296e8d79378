package rping

import "testing"

// The ping text matches rping -v.
func TestFill(t *testing.T) {
	b := make([]byte, 80)
	fill(b, 1, 'y')
	want := "rdma-ping-1: yzABCDEFGHIJKLMNOPQRSTUVWXYZ[\\]^_`abcdefghijklmnopqrstuvwxyzABCDEF"
	if got := string(cString(b)); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
