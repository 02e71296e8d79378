package main

import "testing"

// TestRates compares the rates of the whole tree with the limits.
func TestRates(t *testing.T) {
	texts, err := readTexts("../..")
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rates(texts) {
		t.Run(string(r.kind)+"/"+r.group.name, func(t *testing.T) {
			if got := r.perThousand(); got > r.group.limit {
				t.Errorf("got %.2f uses per 1,000 words, want at most %.1f; go run ./test/prose -list prints them", got, r.group.limit)
			}
		})
	}
}
