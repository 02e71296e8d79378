// Package similar finds known names that resemble a misspelt word.
package similar

import (
	"slices"
	"strconv"
	"strings"
)

// Max is the maximum number of names that [To] returns.
const Max = 3

// To returns the names that resemble a word, regardless of case, best first: names at a
// small edit distance and names that begin with the word. Without any, it returns names that
// contain the word, or with which it begins, if the shorter has at least 3 letters.
// Names of the same rank keep their order.
func To(word string, names []string) []string {
	word = strings.ToLower(word)
	if len(word) < 2 {
		return nil
	}
	type ranked struct {
		name string
		rank int
	}
	var found []ranked
	for _, name := range names {
		if rank, ok := rankOf(word, strings.ToLower(name)); ok {
			found = append(found, ranked{name, rank})
		}
	}
	slices.SortStableFunc(found, func(a, b ranked) int { return a.rank - b.rank })
	var best []string
	for _, f := range found {
		if f.rank == rankContains && found[0].rank != rankContains {
			break
		}
		if len(best) < Max && !slices.Contains(best, f.name) {
			best = append(best, f.name)
		}
	}
	return best
}

// Hint returns the advice for a word that resembles names, "" without any.
func Hint(names []string) string {
	if len(names) == 0 {
		return ""
	}
	quoted := make([]string, len(names))
	for i, n := range names {
		quoted[i] = strconv.Quote(n)
	}
	return "similar names: " + strings.Join(quoted, ", ")
}

// The ranks of names, best first. A distance has rank distance × rankDistance.
const (
	rankDistance = 2
	rankBegins   = 3 // after a single edit
	rankContains = 11
)

func rankOf(word, name string) (rank int, ok bool) {
	limit := 2
	if len(word) < 4 {
		limit = 1
	}
	if d := distance(word, name, limit); d <= limit && d < len(name) {
		return d * rankDistance, true
	}
	switch {
	case strings.HasPrefix(name, word):
		return rankBegins, true
	case len(word) > 2 && strings.Contains(name, word), len(name) > 2 && strings.HasPrefix(word, name):
		return rankContains, true
	}
	return 0, false
}

// distance returns the number of inserted, deleted, replaced and swapped bytes between two
// texts, or more than limit if it is larger.
func distance(a, b string, limit int) int {
	if max(len(a), len(b))-min(len(a), len(b)) > limit {
		return limit + 1
	}
	before, above, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range above {
		above[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(above[j]+1, row[j-1]+1, above[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, above, row = above, row, before
	}
	return above[len(b)]
}
