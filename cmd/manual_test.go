package cmd

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/spf13/cobra"

	"github.com/ibkit/ibkit/cmd/internal/cmdtest"
	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
)

// TestManual compares the pages in man/ with the commands. make man writes them.
func TestManual(t *testing.T) {
	pages := manual(t)
	dir := "../man"
	if *cmdtest.Update {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for name, page := range pages {
		path := filepath.Join(dir, name)
		if *cmdtest.Update {
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
		if !*cmdtest.Update {
			t.Errorf("man/%s does not belong to a command: run make man", filepath.Base(path))
		} else if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
}

// groff rejects characters outside ASCII on some output devices.
func TestManual_ASCII(t *testing.T) {
	for name, page := range manual(t) {
		for i, c := range page {
			if c > unicode.MaxASCII {
				t.Errorf("%s: got byte %#x at offset %d, want ASCII", name, c, i)
				break
			}
		}
	}
}

// Each hand-written part must belong to a command.
func TestManualTexts(t *testing.T) {
	pages := manual(t)
	for _, pattern := range textPatterns {
		paths, err := filepath.Glob(fmt.Sprintf(pattern, "*"))
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range paths {
			name := strings.TrimSuffix(filepath.Base(path), ".man")
			if pages[name+".1"] == nil && !slices.Contains([]string{"exit", "files", "environment"}, name) {
				t.Errorf("%s does not belong to a command", path)
			}
		}
	}
}

// TestManualTexts_Flags checks that flags in the hand-written parts of native commands
// exist under these names.
func TestManualTexts_Flags(t *testing.T) {
	known := map[string]bool{"now": true} // of systemctl
	var pages []string
	var add func(cmd *cobra.Command)
	add = func(cmd *cobra.Command) {
		if cmd.Hidden {
			return // a classic tool
		}
		for _, g := range cmdutil.FlagGroups(cmd) {
			for _, f := range g.Flags {
				known[f.Name] = true
			}
		}
		pages = append(pages, strings.ReplaceAll(cmd.CommandPath(), " ", "-"))
		for _, c := range cmd.Commands() {
			add(c)
		}
	}
	add(newRoot(&cmdutil.Env{Getenv: func(string) string { return "" }}, nil))
	longFlag := regexp.MustCompile(`\\-\\-([A-Za-z](?:\\-|[A-Za-z0-9_])*)`)
	for _, name := range pages {
		for _, pattern := range textPatterns {
			paths, err := filepath.Glob(fmt.Sprintf(pattern, name))
			if err != nil {
				t.Fatal(err)
			}
			for _, path := range paths {
				text, err := os.ReadFile(path)
				if err != nil {
					t.Fatal(err)
				}
				for _, m := range longFlag.FindAllStringSubmatch(string(text), -1) {
					if flag := strings.ReplaceAll(m[1], `\-`, "-"); !known[flag] {
						t.Errorf("%s: got --%s, want a flag of a command", path, flag)
					}
				}
			}
		}
	}
}

// written has the pages by file name, once a test has asked for them.
var written map[string][]byte

// manual returns all pages by file name.
func manual(t *testing.T) map[string][]byte {
	t.Helper()
	if written != nil {
		return written
	}
	env := &cmdutil.Env{Out: new(bytes.Buffer), ErrOut: new(bytes.Buffer), Getenv: func(string) string { return "" }}
	root := newRoot(env, nil)
	pages := map[string][]byte{}
	var add func(cmd *cobra.Command)
	add = func(cmd *cobra.Command) {
		if cmd.Hidden {
			return // a classic tool
		}
		m := manualPage{name: strings.ReplaceAll(cmd.CommandPath(), " ", "-"), cmd: cmd}
		pages[m.name+".1"] = m.write(t)
		for _, c := range cmd.Commands() {
			add(c)
		}
	}
	add(root)
	for name, e := range registry {
		if e.tool != nil {
			m := manualPage{name: "ibkit-" + name, tool: e.tool(env), native: e.native}
			pages[m.name+".1"] = m.write(t)
		}
	}
	written = pages
	return pages
}
