// Package oracle compares ibkit with Debian's C tools: on the same simulated fabric they
// must print the same.
//
// With the build tag oracle the C tools run, on ibsim and on fabrics that ibkit serves.
// Without it, their results on served fabrics come from recordings in testdata/recorded.
package oracle

import (
	"errors"
	"flag"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"testing"

	"github.com/ibkit/ibkit/cmd"
	"github.com/ibkit/ibkit/internal/testenv"
	"github.com/ibkit/ibkit/test/ibsimtest"
)

var (
	// binary is the program under test, by the classic tool's name.
	binary = flag.String("bin", "", "`file` to compare, named as the C tool; default: ibkit of this tree")
	update = flag.Bool("update", false, "write recordings (with the build tag oracle)")
)

// names are the names under which tests run this program as ibkit.
var names = []string{"ibkit", "iblinkinfo"}

func TestMain(m *testing.M) {
	for _, name := range names {
		if filepath.Base(os.Args[0]) == name {
			os.Exit(cmd.Main())
		}
	}
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
		if *binary, err = link(dir); err != nil {
			log.Print(err)
			return 1
		}
	}
	f, err := form()
	if err != nil {
		log.Print(err)
		return 1
	}
	if f == ibsimtest.Recorded {
		etc, err := filepath.Abs("testdata/etc")
		if err != nil {
			log.Print(err)
			return 1
		}
		testenv.SetEtc(etc) // as on the recorded host
	}
	ibsimtest.Use(f, cmd.Run)
	code := m.Run()
	if code == 0 {
		code = checkRecordings()
	}
	return code
}

// link makes links to this program and returns the iblinkinfo link.
func link(dir string) (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", err
	}
	for _, name := range names {
		if err := os.Symlink(self, filepath.Join(dir, name)); err != nil {
			return "", err
		}
	}
	return filepath.Join(dir, "iblinkinfo"), nil
}

// form returns the form of tests on served fabrics. A test may run a share of its cases,
// with results that depend on the cases before them: only [testenv.AllCases] compares them
// with the recordings.
func form() (ibsimtest.Form, error) {
	switch {
	case *update && !live:
		return 0, errors.New("write recordings: the build tag oracle is not set")
	case !live:
		return ibsimtest.Recorded, nil
	case *update:
		return ibsimtest.Renew, nil
	case testenv.AllCases():
		return ibsimtest.Live, nil
	}
	return ibsimtest.Alone, nil
}

// checkRecordings returns 1 if a recording belongs to no test, else 0.
func checkRecordings() int {
	unused, err := ibsimtest.UnusedRecordings()
	if err != nil {
		log.Print(err)
		return 1
	}
	for _, path := range unused {
		fmt.Printf("%s: no test uses this recording\n", path)
	}
	return min(len(unused), 1)
}

// ibkit is the binary by its own name.
func ibkit() string { return filepath.Join(filepath.Dir(*binary), "ibkit") }

func native() string { return ibkit() }
