//go:build packages

package packaging

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ibkit/ibkit/internal/testenv"
)

// dist has the archives and packages for all architectures. again has the amd64 files,
// built a second time from the same commit.
const (
	dist  = "../build/dist"
	again = "../build/dist-again"
)

// one returns the only file that matches a pattern.
func one(t *testing.T, pattern string) string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(dist, pattern))
	if err != nil || len(found) != 1 {
		t.Fatalf("found %q for %s: %v", found, pattern, err)
	}
	return found[0]
}

// command runs a program and returns its output.
func command(t *testing.T, name string, args ...string) string {
	t.Helper()
	out, err := exec.Command(name, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s %q: %v\n%s", name, args, err, out)
	}
	return string(out)
}

// TestReproducible compares two builds from the same commit.
func TestReproducible(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(again, `ibkit[_\-]*.*`))
	if err != nil || len(files) != 8 {
		t.Fatalf("got files %q, %v; want two archives, debs, rpms and bills of materials", files, err)
	}
	for _, file := range append(files, filepath.Join(again, "ibkit_linux_amd64_v1/ibkit"), filepath.Join(again, "ibkit-cuda_linux_amd64_v1/ibkit-cuda")) {
		second, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		name, err := filepath.Rel(again, file)
		if err != nil {
			t.Fatal(err)
		}
		first, err := os.ReadFile(filepath.Join(dist, name))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(first, second) {
			t.Errorf("the second build of %s differs", name)
		}
	}
}

// TestChecksums has sha256sum, as a user would, check the files.
func TestChecksums(t *testing.T) {
	check := exec.Command("sha256sum", "--quiet", "--check", "SHA256SUMS")
	check.Dir = dist
	if out, err := check.CombinedOutput(); err != nil {
		t.Errorf("sha256sum: %v\n%s", err, out)
	}
	sums, err := os.ReadFile(filepath.Join(dist, "SHA256SUMS"))
	if err != nil {
		t.Fatal(err)
	}
	// An archive, a deb, an rpm and a bill of materials for each build.
	if got, want := bytes.Count(sums, []byte("\n")), builds()*4; got != want {
		t.Errorf("got %d checksums, want %d:\n%s", got, want, sums)
	}
}

// builds returns the number of builds with packages: five architectures of ibkit and two of
// ibkit-cuda, or one of each.
func builds() int {
	if testenv.AllCases() {
		return 7
	}
	return 2
}

// TestContents looks into both packages for each manual page and each classic
// name.
func TestContents(t *testing.T) {
	pages, err := filepath.Glob("../man/*.1")
	if err != nil || len(pages) == 0 {
		t.Fatalf("found no pages: %v", err)
	}
	for kind, list := range map[string]string{
		"deb": command(t, "dpkg-deb", "--fsys-tarfile", one(t, "ibkit_*_amd64.deb")),
		"rpm": command(t, "rpm", "-qlp", one(t, "ibkit-[0-9]*.x86_64.rpm")),
	} {
		t.Run(kind, func(t *testing.T) {
			for _, file := range []string{"systemd/system/ibkit-ping.service", "systemd/system/ibkit-ping-mesh.service", "systemd/system/ibkit-exporter.service"} {
				if !strings.Contains(list, "/usr/lib/"+file) {
					t.Errorf("%s is not in the %s", file, kind)
				}
			}
			for _, file := range []string{"ibkit-alerts.yml", "ibkit-dashboard.json"} {
				if !strings.Contains(list, "/usr/share/ibkit/monitoring/"+file) {
					t.Errorf("%s is not in the %s", file, kind)
				}
			}
			for _, page := range pages {
				name := filepath.Base(page)
				if !strings.Contains(list, "/usr/share/man/man1/"+name+".gz") {
					t.Errorf("%s is not in the %s", name, kind)
				}
				text, err := os.ReadFile(page)
				if err != nil {
					t.Fatal(err)
				}
				_, classic, isClassic := strings.Cut(strings.TrimSuffix(name, ".1"), "-")
				if isClassic && bytes.Contains(text, []byte("in the place of")) && !strings.Contains(list, "/usr/lib/ibkit/bin/"+classic) {
					t.Errorf("the classic name %s is not in the %s", classic, kind)
				}
			}
		})
	}
}
