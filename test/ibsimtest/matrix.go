package ibsimtest

import "github.com/ibkit/ibkit/internal/testenv"

// Share returns the cases that a test variant runs, for example on one of several fabrics:
// every n-th case from number i on. With [testenv.AllCases], and in the forms [Recorded]
// and [Renew], these are all cases. So n consecutive variants run each case once. i and n
// are at least 0 and 1.
func Share[T any](cases []T, i, n int) []T {
	if testenv.AllCases() || form == Recorded || form == Renew {
		return cases
	}
	return Every(cases, i, n)
}

// Every returns every n-th case from number i on, in each run.
func Every[T any](cases []T, i, n int) (share []T) {
	for i %= n; i < len(cases); i += n {
		share = append(share, cases[i])
	}
	return share
}
