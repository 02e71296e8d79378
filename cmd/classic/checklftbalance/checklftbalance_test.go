package checklftbalance

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ibkit/ibkit/cmd/internal/cmdtest"
	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/sim"
	"github.com/ibkit/ibkit/umad"
)

var program = cmdtest.Classic(New)

// tables is dump_fts output on writeCache's fabric.
const tables = "../../../internal/tool/route/dump/testdata/dump_fts.txt"

// writeCache writes the ibnetdiscover cache for the fabric of the tables.
func writeCache(t *testing.T) string {
	t.Helper()
	f, err := sim.Build("fat-tree:radix=4,pods=2,spines=2")
	if err != nil {
		t.Fatal(err)
	}
	port, err := f.Open("")
	if err != nil {
		t.Fatal(err)
	}
	defer port.Close()
	found, err := fabric.Discover(context.Background(), umad.NewClient(port, umad.ClientOptions{}), fabric.DiscoverOptions{})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "cache")
	if err := found.WriteCacheFile(path); err != nil {
		t.Fatal(err)
	}
	return path
}

// Package oracle compares more tables with the script.
func TestCheckLFTBalance(t *testing.T) {
	cache := writeCache(t)
	var all strings.Builder
	for _, options := range []string{"", "-v -l TABLES -i CACHE", "-veiCACHE -lTABLES", "-l TABLES", "-l /nonexistent -i CACHE", "-l TABLES -i /nonexistent", "-h"} {
		args := strings.Fields(strings.NewReplacer("TABLES", tables, "CACHE", cache).Replace(options))
		code, out, err := program.Run(t, nil, append([]string{"check_lft_balance"}, args...)...)
		fmt.Fprintf(&all, "$ check_lft_balance %s\n%s%s(exit code %d)\n", options, err, out, code)
	}
	cmdtest.Golden(t, "output.golden", all.String())
}

// Perl 5.36 returns the same numbers.
func TestNumber(t *testing.T) {
	for text, want := range map[string]float64{"": 0, "host1": 0, "12 hosts": 12, " 12e2x": 1200, "1_000": 1, "+3": 3, "-1": -1, ".5a": 0.5, "0x12": 0} {
		t.Run(text, func(t *testing.T) {
			if got := number([]byte(text)); got != want {
				t.Errorf("got %v, want %v", got, want)
			}
		})
	}
}
