package testenv

import (
	"flag"
	"strconv"
)

// SetParallel sets how many tests in a package run at the same time, unless -parallel does.
// It is for tests with processes that wait more than they compute. TestMain calls it.
func SetParallel(n int) {
	if f := flag.Lookup("test.parallel"); f != nil {
		_ = f.Value.Set(strconv.Itoa(n)) // a number is valid
	}
}
