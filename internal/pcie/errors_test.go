package pcie

import (
	"testing"

	"github.com/ibkit/ibkit/internal/sysfs"
	"github.com/ibkit/ibkit/internal/testenv"
)

func TestReadAER(t *testing.T) {
	root := testenv.WriteTree(t, map[string]string{
		"all/aer_dev_correctable":   "RxErr 1\nBadTLP 2\nTOTAL_ERR_COR 7",
		"all/aer_dev_nonfatal":      "Undefined 0\nTOTAL_ERR_NONFATAL 8",
		"all/aer_dev_fatal":         "Undefined 0\nTOTAL_ERR_FATAL 9",
		"empty/aer_dev_correctable": "TOTAL_ERR_COR",
	})
	var problems []error
	read := func(dir string) *AER { return ReadAER(sysfs.FS(root).Dir(&problems, dir)) }
	if got, want := read("all"), (AER{7, 8, 9}); got == nil || *got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	for _, dir := range []string{"empty", "missing"} {
		t.Run(dir, func(t *testing.T) {
			if got := read(dir); got != nil || len(problems) > 0 {
				t.Errorf("got %+v, problems %v, want neither", got, problems)
			}
		})
	}
	if got, want := (AER{7, 8, 9}).Since(AER{1, 8, 0}).String(), "6 correctable, 0 non-fatal, 9 fatal"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestLargestBAR(t *testing.T) {
	for _, test := range []struct {
		name, text string
		want       uint64
	}{
		{"GPU", "0x00000000f0000000 0x00000000f0ffffff 0x0000000000040200\n0x0000380000000000 0x0000381fffffffff 0x000000000014220c\n" +
			"0x0000000000000000 0x0000000000000000 0x0000000000000000\n0x000000000000e000 0x000000000000e07f 0x0000000000040101", 128 << 30},
		{"I/O ports only", "0x000000000000e000 0x000000000000e07f 0x0000000000040101", 0},
		{"bridge windows", "0x0 0x0 0x0\n0x0 0x0 0x0\n0x0 0x0 0x0\n0x0 0x0 0x0\n0x0 0x0 0x0\n0x0 0x0 0x0\n0x0 0x0 0x0\n0xf0000000 0xf0ffffff 0x200", 0},
		{"damaged", "x\n0x10", 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := largestBAR(&test.text); got != test.want {
				t.Errorf("got %d, want %d", got, test.want)
			}
		})
	}
}
