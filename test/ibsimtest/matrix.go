package ibsimtest

import "testing"

// Share returns the cases that one variant of a test runs, for example one of several
// fabrics: with -short every n-th case from number i on, else all cases, as in the form
// [Recorded]. So n consecutive variants run each case once. i and n are at least 0 and 1.
func Share[T any](cases []T, i, n int) []T {
	if !testing.Short() || form == Recorded {
		return cases
	}
	return Every(cases, i, n)
}

// Every returns every n-th case from number i on, as [Share] does with -short, in each run.
func Every[T any](cases []T, i, n int) (share []T) {
	for i %= n; i < len(cases); i += n {
		share = append(share, cases[i])
	}
	return share
}
