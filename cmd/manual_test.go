package cmd

import (
	"bytes"
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

var updateManual = flag.Bool("update-manual", false, "write the manual pages in man/")

// TestManual holds the pages in man/ against the commands: make man writes them.
func TestManual(t *testing.T) {
	pages := manual(t)
	dir := "../man"
	if *updateManual {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for name, page := range pages {
		path := filepath.Join(dir, name)
		if *updateManual {
			if err := os.WriteFile(path, page, 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if is, err := os.ReadFile(path); err != nil || !bytes.Equal(is, page) {
			t.Errorf("man/%s is stale: run make man", name)
		}
	}
	old, err := filepath.Glob(filepath.Join(dir, "*.[1-9]"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range old {
		if pages[filepath.Base(path)] != nil {
			continue
		}
		if !*updateManual {
			t.Errorf("man/%s is of no command: run make man", filepath.Base(path))
		} else if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
}

// Each text written by hand belongs to a command.
func TestManualTexts(t *testing.T) {
	pages := manual(t)
	err := fs.WalkDir(os.DirFS("manual"), ".", func(path string, d fs.DirEntry, err error) error {
		name, isText := strings.CutSuffix(path, ".man")
		if isText && pages[name+".1"] == nil && !slices.Contains([]string{"exit", "files", "environment"}, name) {
			t.Errorf("manual/%s is of no command", path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// manual makes all pages, by the names of their files.
func manual(t *testing.T) map[string][]byte {
	t.Helper()
	env := &environment{out: new(bytes.Buffer), err: new(bytes.Buffer), getenv: func(string) string { return "" }}
	root := newRoot(env, nil)
	pages := map[string][]byte{}
	var add func(cmd *cobra.Command)
	add = func(cmd *cobra.Command) {
		m := manualPage{name: strings.ReplaceAll(cmd.CommandPath(), " ", "-"), cmd: cmd}
		pages[m.name+".1"] = m.write(t)
		for _, c := range cmd.Commands() {
			add(c)
		}
	}
	add(root)
	for name := range classicTools {
		_, out, err := runCommand(t, map[string]string{"IBKIT_SYSFS": t.TempDir()}, name, "-h")
		m := manualPage{name: "ibkit-" + name, tool: name, usage: out + err}
		pages[m.name+".1"] = m.write(t)
	}
	return pages
}
