package ibidsverify

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ibkit/ibkit/cmd/internal/cmdtest"
)

var program = cmdtest.Classic(New)

func TestIbidsverify(t *testing.T) {
	cacheDir = t.TempDir()
	stored := "caguid=0x1\nCa\t1 \"H-0000000000000001\"\t\t# \"a\"\n[1](1) \t\"S-2\"[1]\t\t# lid 0 lmc 0 \"s\" lid 1 4xSDR\n" +
		"caguid=0x3\nCa\t1 \"H-0000000000000003\"\t\t# \"b\"\n[1](1) \t\"S-2\"[2]\t\t# lid 7 lmc 0 \"s\" lid 1 4xSDR\n"
	if err := os.WriteFile(filepath.Join(cacheDir, "ibnetdiscover-mlx5_0-2.topology"), []byte(stored), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		args, out string
		code      int
	}{
		{"--sim demo", "", 0},
		{"-C mlx5_0 -P 2", "LID 0 found for ca NodeGUID 0x1\nPortGUID 0x1 already defined for LID 0\n", 1},
		{"-R -C mlx5_0 -P 2", "", 255},
		{"-h", "Usage: ibidsverify [-Rh]", 2},
		{"-x", "Usage: ibidsverify [-Rh]", 2},
	} {
		t.Run(test.args, func(t *testing.T) {
			code, out, err := program.Run(t, nil, append([]string{"ibidsverify"}, strings.Fields(test.args)...)...)
			if code != test.code || !strings.HasPrefix(out, test.out) || test.out == "" && out != "" {
				t.Errorf("got exit code %d, output\n%s\nerror output %q, want %d, output\n%s", code, out, err, test.code, test.out)
			}
		})
	}
}
