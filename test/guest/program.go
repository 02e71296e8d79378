package guest

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"sync"
)

// module is this package's module path.
const module = "github.com/ibkit/ibkit"

// Program is a Go program. It is built without cgo and added to a guest's /usr/bin.
type Program struct {
	Package string // import path
	Name    string // file name in the guest; default: the last element of Package
	PIE     bool   // runs at other addresses each time, as C programs do
	Test    bool   // build the package's tests, with the tag inguest; the name ends in .test
}

// Ibkit is ibkit, built from this tree.
var Ibkit = Program{Package: module}

// name returns the file name in the guest.
func (p Program) name() string {
	name := p.Name
	if name == "" {
		name = path.Base(p.Package)
	}
	if p.Test {
		name += ".test"
	}
	return name
}

// built caches this process's programs: linking takes longer than most tests with them.
var built struct {
	sync.Mutex
	bodies map[Program][]byte
}

// buildProgram returns a program's executable.
func buildProgram(ctx context.Context, p Program) ([]byte, error) {
	built.Lock()
	defer built.Unlock()
	if body, ok := built.bodies[p]; ok {
		return body, nil
	}
	dir, err := os.MkdirTemp("", "guest-build-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	to := filepath.Join(dir, "program")
	args := []string{"build", "-trimpath", "-buildvcs=false", "-o", to, p.Package}
	if p.PIE {
		args = slices.Insert(args, 1, "-buildmode=pie")
	}
	if p.Test {
		args = []string{"test", "-c", "-trimpath", "-buildvcs=false", "-tags", "inguest", "-o", to, p.Package}
	}
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux", "GOARCH=amd64")
	if out, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("build %s: %w: %s", p.Package, err, out)
	}
	body, err := os.ReadFile(to)
	if err != nil {
		return nil, fmt.Errorf("build %s: %w", p.Package, err)
	}
	if built.bodies == nil {
		built.bodies = map[Program][]byte{}
	}
	built.bodies[p] = body
	return body, nil
}
