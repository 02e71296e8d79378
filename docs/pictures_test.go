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

	"github.com/ibkit/ibkit/test/termsvg"
)

var update = flag.Bool("update", false, "write the pictures of terminal sessions to pictures/")

// recordings contains the command lines for each terminal session. Readers can repeat
// them on a host without devices.
var recordings = map[string][]string{
	"run.svg": {
		"ibkit linkinfo --sim demo --problems",
		"ibkit addr --sim demo node07 leaf2",
		"ibkit route --sim demo node02 node07",
	},
	"phy.svg": {
		"ibkit phy --sim demo --node leaf1",
		"ibkit check fabric --sim demo --only cables,temperature,power,ber",
	},
}

// TestPictures runs commands in a terminal and compares the screen with the pictures,
// which make pictures writes.
func TestPictures(t *testing.T) {
	bin := binDir(t)
	for name, lines := range recordings {
		var screen string
		for _, line := range lines {
			run := exec.Command("sh", "-c", line)
			run.Env = []string{"PATH=" + bin + ":" + os.Getenv("PATH"), "TERM=xterm"}
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
		if *update {
			if err := os.WriteFile(path, picture, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if is, err := os.ReadFile(path); err != nil || !bytes.Equal(is, picture) {
			t.Errorf("docs/%s is stale: run make pictures", path)
		}
	}
}

// TestPictures_XML parses all pictures, including hand-drawn pictures.
func TestPictures_XML(t *testing.T) {
	found, err := filepath.Glob("pictures/*.svg")
	if err != nil || len(found) == 0 {
		t.Fatalf("got no pictures, error %v", err)
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
