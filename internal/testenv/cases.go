package testenv

import "flag"

var allCases = flag.Bool("all-cases", false, "run all cases of tests with many random or similar ones")

// AllCases reports whether a test with many random or similar cases runs all of them: by
// default it runs some of each kind. The flag is -all-cases.
func AllCases() bool { return *allCases }
