//go:build oracle

// Package oracle compares ibkit with the C tools of Debian: on the same simulated
// fabric they must print the same.
package oracle

import (
	"flag"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// binary is the program under test by the name of the classic tool.
var binary = flag.String("bin", "", "`file` to compare, named as the C tool; default: ibkit, built from this tree")

func TestMain(m *testing.M) {
	flag.Parse()
	os.Exit(run(m))
}

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "oracle-")
	if err != nil {
		log.Print(err)
		return 1
	}
	defer os.RemoveAll(dir)
	if *binary == "" {
		if *binary, err = build(dir); err != nil {
			log.Print(err)
			return 1
		}
	}
	return m.Run()
}

// build builds ibkit as a release does and returns the path of its iblinkinfo.
func build(dir string) (string, error) {
	cmd := exec.Command("go", "build", "-o", filepath.Join(dir, "ibkit"), "github.com/ibkit/ibkit")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	cmd.Stderr = os.Stderr
	if err := cmd.Run(); err != nil {
		return "", err
	}
	link := filepath.Join(dir, "iblinkinfo")
	return link, os.Symlink("ibkit", link)
}
