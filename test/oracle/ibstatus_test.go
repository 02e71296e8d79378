//go:build oracle

package oracle

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ibkit/ibkit/internal/testenv"
)

// TestIbstatus compares ibstatus with Debian's script, which is changed to read a test
// directory instead of /sys.
func TestIbstatus(t *testing.T) {
	t.Parallel()
	files := map[string]string{}
	for _, port := range []string{"mlx5_0/ports/1", "mlx5_1/ports/1", "mlx5_1/ports/2"} {
		for file, text := range map[string]string{
			"gids/0": "fe80:0000:0000:0000:b859:9f03:0001:e2d4", "lid": "0x1f", "sm_lid": "0x2", "state": "4: ACTIVE",
			"phys_state": "5: LinkUp", "rate": "100 Gb/sec (4X  EDR)",
		} {
			files["class/infiniband/"+port+"/"+file] = text
		}
	}
	files["class/infiniband/mlx5_1/ports/2/link_layer"] = "Ethernet"
	files["class/infiniband/mlx5_1/ports/2/rate"] = ""
	root := testenv.WriteTree(t, files)

	path, err := exec.LookPath("ibstatus")
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	script := filepath.Join(t.TempDir(), "ibstatus")
	if err := os.WriteFile(script, bytes.ReplaceAll(text, []byte("/sys/"), []byte(root+"/")), 0o755); err != nil {
		t.Fatal(err)
	}
	run := func(t *testing.T, name string, args []string) string {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), name, args...)
		cmd.Env = append(os.Environ(), "IBKIT_SYSFS="+root)
		out, err := cmd.Output()
		var exit *exec.ExitError
		if err != nil && !errors.As(err, &exit) {
			t.Fatal(err)
		}
		return fmt.Sprintf("%sexit code %d\n", strings.ReplaceAll(string(out), root, "/sys"), cmd.ProcessState.ExitCode())
	}
	for _, args := range [][]string{
		{}, {"mlx5_0"}, {"mlx5_1:2"}, {"mlx5_1", "mlx5_0:1"}, {"mlx5_0:"}, {":1"}, {":"}, {"mlx5_1:+"}, {"mlx5_0:7"}, {"mlx5_0:x:1"},
		{"nosuch", "mlx5_0"}, {""}, {"mlx5_0", "", "mlx5_1"}, {"-h"}, {"mlx5_0", "-h"}, {"mlx5_1 2"}, {"mlx5_1:2 1"}, {" "},
	} {
		t.Run(strings.Join(args, ","), func(t *testing.T) {
			want := run(t, script, args)
			got := run(t, filepath.Join(filepath.Dir(*binary), "ibkit"), append([]string{"ibstatus"}, args...))
			if d := cmp.Diff(want, got); d != "" {
				t.Errorf("(-Debian +ibkit):\n%s", d)
			}
		})
	}
}
