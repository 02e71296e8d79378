package main

import (
	"bytes"
	"testing"
)

func TestSee(t *testing.T) {
	var shown bytes.Buffer
	tests := tests{output: map[key]string{}, failed: map[string]bool{}, w: &shown}
	for _, e := range []event{
		{"output", "a", "TestOne", "noise\n"},
		{"pass", "a", "TestOne", ""},
		{"skip", "a", "TestTwo", ""},
		{"output", "a", "TestThree", "three is wrong\n"},
		{"fail", "a", "TestThree", ""},
		{"output", "a", "", "FAIL\n"},
		{"fail", "a", "", ""},
		{"output", "b", "", "b is broken\n"},
		{"fail", "b", "", ""},
		{"pass", "c", "", ""},
	} {
		tests.see(e)
	}
	if want := (count{passed: 1, failed: 2, skipped: 1}); tests.count != want {
		t.Errorf("counted %v, want %v", tests.count, want)
	}
	if got, want := shown.String(), "three is wrong\nFAIL\nb is broken\n"; got != want {
		t.Errorf("showed %q, want %q", got, want)
	}
}
