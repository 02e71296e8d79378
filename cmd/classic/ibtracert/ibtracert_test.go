package ibtracert

import (
	"testing"

	"github.com/ibkit/ibkit/cmd/internal/cmdtest"
)

var program = cmdtest.Classic(New)

// Package oracle compares more command lines with the C tool.
func TestIbtracert(t *testing.T) {
	program.RunOnTree(t,
		"ibtracert 1 8",
		"ibtracert -n 1 8",
		"ibtracert -m 0xc000 1 8",
		"ibtracert 1",
	)
}
