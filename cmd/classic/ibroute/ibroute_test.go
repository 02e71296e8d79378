package ibroute

import (
	"testing"

	"github.com/ibkit/ibkit/cmd/internal/cmdtest"
)

var program = cmdtest.Classic(New)

// Package oracle compares more command lines with the C tool.
func TestIbroute(t *testing.T) {
	program.RunOnTree(t,
		"ibroute -D 0,1",
		"ibroute -n -D 0,1 2 3",
		"ibroute -D 0",
		"ibroute",
	)
}
