package conventions

import (
	"debug/elf"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestUnusedMethods checks that the linker omits methods without a caller. It keeps all
// exported methods of all types if a function in use looks up methods by a computed name,
// as templates do: then the program is larger by a seventh. go build -ldflags=-dumpdep
// shows the path to such a function.
func TestUnusedMethods(t *testing.T) {
	program := filepath.Join(t.TempDir(), "ibkit")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", program, module)
	build.Dir = root
	build.Env = append(build.Environ(), "GOOS=linux", "GOARCH=amd64", "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	file, err := elf.Open(program)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	symbols, err := file.Symbols()
	if err != nil {
		t.Fatal(err)
	}
	// Methods on types in the program: the last method is used.
	const unused, lookup, used = "time.Time.GobEncode", "text/template.(*state).evalField", "time.Time.Format"
	var got []string
	for _, s := range symbols {
		if slices.Contains([]string{unused, lookup, used}, s.Name) {
			got = append(got, s.Name)
		}
	}
	if !slices.Equal(got, []string{used}) {
		t.Errorf("got the methods %s, want only %s", strings.Join(got, ", "), used)
	}
}
