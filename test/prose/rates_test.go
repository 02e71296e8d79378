package main

import "testing"

// exceeded are rates that are still above the limit of their group, with the rate
// that must not be exceeded meanwhile, per 1,000 words.
var exceeded = map[kind]map[string]float64{
	comments:     {"what": 3.4, "tell, say, ask": 2.5, "none, nothing, nobody": 1.7, "figurative words": 1.3},
	testComments: {"what": 4.1, "tell, say, ask": 3.0, "none, nothing, nobody": 2.2, "figurative words": 0.4},
	documents:    {"what": 1.6, "tell, say, ask": 1.3, "figurative words": 0.5},
	printed:      {"what": 0.8, "tell, say, ask": 1.8, "none, nothing, nobody": 2.4, "figurative words": 1.7},
}

// TestRates compares the rates of the whole tree with the limits.
func TestRates(t *testing.T) {
	texts, err := readTexts("../..")
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rates(texts) {
		t.Run(string(r.kind)+"/"+r.group.name, func(t *testing.T) {
			limit := max(r.group.limit, exceeded[r.kind][r.group.name])
			if got := r.perThousand(); got > limit {
				t.Errorf("got %.2f uses per 1,000 words, want at most %.1f; go run ./test/prose -list prints them", got, limit)
			}
		})
	}
}
