//go:build packages

package packaging

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestCUDA runs the program for GPU memory from its package on a host without a GPU. ibkit
// remains static.
func TestCUDA(t *testing.T) {
	root := t.TempDir()
	command(t, "dpkg-deb", "--extract", one(t, "ibkit-cuda_*_amd64.deb"), root)
	page := filepath.Join(root, "usr/share/man/man1/ibkit-cuda.1.gz")
	if out, err := exec.Command("sh", "-c", "zcat "+page+" | mandoc -Tlint -W warning").CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("mandoc: %v\n%s", err, out)
	}
	out, err := exec.Command(filepath.Join(root, "usr/bin/ibkit-cuda"), "-listen", filepath.Join(root, "socket")).CombinedOutput()
	if err == nil || !strings.HasPrefix(string(out), "ibkit-cuda: load NVIDIA's driver library: libcuda.so.1: cannot open shared object file") {
		t.Errorf("got %v and %q, want a missing library", err, out)
	}
	body, err := os.ReadFile(one(t, "ibkit_linux_amd64_v1/ibkit"))
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(body), "ebitengine/purego") {
		t.Error("ibkit contains purego")
	}
}
