package testenv

import (
	"os"
	"slices"
)

// AllCasesVariable is the environment variable for [AllCases].
const AllCasesVariable = "ALL_CASES"

// CasesSetting returns the [AllCases] setting as NAME=VALUE, for a test binary in a guest.
func CasesSetting() string { return AllCasesVariable + "=" + os.Getenv(AllCasesVariable) }

// AllCases reports whether tests with long similar or random case lists run all cases,
// for which ALL_CASES is set in the environment. By default they run some cases for each kind.
func AllCases() bool { return os.Getenv(AllCasesVariable) != "" }

// Cases returns the test cases: by default the representatives, which include each kind,
// with [AllCases] the others too.
func Cases[T any](representatives []T, others ...T) []T {
	if AllCases() {
		return slices.Concat(representatives, others)
	}
	return representatives
}

// Rounds returns the repetition count in a test: few by default, many with [AllCases].
func Rounds(few, many int) int {
	if AllCases() {
		return many
	}
	return few
}
