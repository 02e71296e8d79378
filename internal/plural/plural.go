// Package plural writes numbers with nouns.
package plural

import "strconv"

// Count returns a number followed by the noun in singular or plural.
func Count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.Itoa(n) + " " + many
}
