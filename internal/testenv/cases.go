package testenv

import (
	"os"
	"slices"
)

// AllCasesVariable is the environment variable of [AllCases].
const AllCasesVariable = "ALL_CASES"

// CasesSetting returns the setting of [AllCases] as NAME=VALUE, for a test binary in a guest.
func CasesSetting() string { return AllCasesVariable + "=" + os.Getenv(AllCasesVariable) }

// AllCases reports whether tests with long lists of similar or random cases run all of them,
// for which ALL_CASES is set in the environment. By default they run some of each kind.
func AllCases() bool { return os.Getenv(AllCasesVariable) != "" }

// Cases returns the cases of a test: by default the representatives, which have one of each
// kind, with [AllCases] the others too.
func Cases[T any](representatives []T, others ...T) []T {
	if AllCases() {
		return slices.Concat(representatives, others)
	}
	return representatives
}

// Rounds returns the number of repetitions in a test: few by default, many with [AllCases].
func Rounds(few, many int) int {
	if AllCases() {
		return many
	}
	return few
}
