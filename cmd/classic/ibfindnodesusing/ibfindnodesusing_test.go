package ibfindnodesusing

import (
	"strings"
	"testing"

	"github.com/ibkit/ibkit/cmd/internal/cmdtest"
)

var program = cmdtest.Classic(New)

// Package oracle compares more command lines with the script.
func TestIbfindnodesusing(t *testing.T) {
	program.RunOnTree(t,
		"ibfindnodesusing 0x0002c90000800200 3",
		"ibfindnodesusing -R spine001 1",
		"ibfindnodesusing 2C90000800200 9",
		"ibfindnodesusing leaf009 1",
		"ibfindnodesusing leaf001",
	)
}

// The script returns the same results.
func TestCompress(t *testing.T) {
	for names, want := range map[string]string{
		"":                        "",
		",a1,a2,a3,b7":            " a1-3 b7",
		"a2,a3,a5":                "a2-3 a5",
		"node003,node001,node002": "node001-003",
		"a,a1":                    "a-1",
		"x1,x1":                   "x1 x1",
	} {
		t.Run(names, func(t *testing.T) {
			if got := compress(strings.Split(names, ",")); got != want {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
}
