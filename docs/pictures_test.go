package docs

import (
	"bytes"
	"encoding/xml"
	"errors"
	"flag"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/ibkit/ibkit/internal/testenv"
	"github.com/ibkit/ibkit/test/termsvg"
)

var updatePictures = flag.Bool("update-pictures", false, "draw the pictures of runs in pictures/")

// recordings are the pictures of runs: what is typed, on the host mlx5-ib.
var recordings = map[string][]string{
	"run.svg": {
		"ibkit linkinfo --sim demo --problems",
		"ibkit addr --sim demo node07 leaf2",
		"ibkit devinfo --check",
	},
}

// TestPictures runs commands on a terminal and holds what it shows against the
// pictures: make pictures draws them.
func TestPictures(t *testing.T) {
	bin := binDir(t)
	sysfs := testenv.Host(t, "mlx5-ib")
	for name, lines := range recordings {
		var screen string
		for _, line := range lines {
			run := exec.Command("sh", "-c", line)
			run.Env = []string{"PATH=" + bin + ":" + os.Getenv("PATH"), "TERM=xterm", "IBKIT_SYSFS=" + sysfs}
			printed, err := termsvg.Run(run, 150)
			if err != nil {
				t.Fatal(err)
			}
			screen += "\x1b[32m$\x1b[0m \x1b[1m" + line + "\x1b[0m\n" + printed
		}
		picture, err := termsvg.Draw(lines[0], screen)
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join("pictures", name)
		if *updatePictures {
			if err := os.WriteFile(path, picture, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if is, err := os.ReadFile(path); err != nil || !bytes.Equal(is, picture) {
			t.Errorf("docs/%s is stale: run make pictures", path)
		}
	}
}

// TestPicturesAreXML reads all pictures, those drawn by hand too.
func TestPicturesAreXML(t *testing.T) {
	found, err := filepath.Glob("pictures/*.svg")
	if err != nil || len(found) == 0 {
		t.Fatalf("found no pictures: %v", err)
	}
	for _, path := range found {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		d := xml.NewDecoder(bytes.NewReader(text))
		for err == nil {
			_, err = d.Token()
		}
		if !errors.Is(err, io.EOF) {
			t.Errorf("%s: %v", path, err)
		}
	}
}
