//go:build oracle

package oracle

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ibkit/ibkit/test/ibsimtest"
)

// TestLFTBalance compares check_lft_balance on tables that were edited at random.
func TestLFTBalance(t *testing.T) {
	t.Parallel()
	for i, fabric := range []struct {
		name, description string
		options           []string
	}{
		{"tree", "fat-tree:radix=28,pods=3,spines=7", nil},
		{"several LIDs", "fat-tree:radix=28,pods=2,spines=7", []string{"lmc 4"}},
	} {
		t.Run(fabric.name, func(t *testing.T) {
			dir := t.TempDir()
			net, tables, cache := filepath.Join(dir, "net"), filepath.Join(dir, "tables"), filepath.Join(dir, "cache")
			exportNet(t, fabric.description, net)
			s := ibsimtest.New(t, net)
			s.NewSM(t, "", fabric.options...)
			s.MustRunC(t, "", "ibnetdiscover", "--cache", cache)
			dump := s.MustRunC(t, "", "dump_lfts").Stdout
			for _, seed := range ibsimtest.Share(seeds, i, 5) {
				if err := os.WriteFile(tables, []byte(editTables(dump, rand.New(rand.NewPCG(seed, 1)), int(seed))), 0o644); err != nil {
					t.Fatal(err)
				}
				t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
					for _, options := range ibsimtest.Share([]string{"-v", "-e", "-ve"}, int(seed), 3) {
						args := []string{options, "-l", tables, "-i", cache}
						compareResults(t, s.MustRunC(t, "", "check_lft_balance", args...), s.MustRun(t, "", ibkit(), append([]string{"check_lft_balance"}, args...)...))
					}
				})
			}
		})
	}
}

// seeds are the edit seeds, and the number of edited lines in 40.
var seeds = []uint64{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}

// editTables edits the dump_lfts output: in count of 40 lines the port or the name
// changes, or the line is removed.
func editTables(dump string, r *rand.Rand, count int) string {
	names := []string{"12 hosts", "info", "nan1", "Unicast", "path", "a: 'b", "(x) : (y portguid z: 'w')", "-1", "1e1", ".5x", ""}
	var edited strings.Builder
	for line := range strings.Lines(dump) {
		if !strings.HasPrefix(line, "0x") || r.IntN(40) >= count {
			edited.WriteString(line)
			continue
		}
		switch r.IntN(4) {
		case 0: // removed
		case 1:
			edited.WriteString(fmt.Sprintf("%s %03d%s", line[:6], r.IntN(30), line[10:]))
		case 2:
			edited.WriteString(fmt.Sprintf("%s %03d%s", line[:6], r.IntN(3), line[10:]))
		default:
			if before, _, ok := strings.Cut(line, ": '"); ok {
				line = before + ": '" + names[r.IntN(len(names))] + "')\n"
			}
			edited.WriteString(line)
		}
	}
	return edited.String()
}
