package dumpfts

import (
	"testing"

	"github.com/ibkit/ibkit/cmd/internal/cmdtest"
)

var program = cmdtest.Classic(New)

// Package oracle compares more command lines with the C tool.
func TestDumpfts(t *testing.T) {
	program.RunOnTree(t,
		"dump_fts -n 2 4",
		"dump_fts -a 0 1",
		"dump_fts -M -n",
	)
}
