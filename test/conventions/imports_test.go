// Package conventions tests rules about the source code that no linter knows: import
// directions, and who prints.
package conventions

import (
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/ibkit/ibkit"

// root is the module directory.
const root = "../.."

// A rule lists the packages in this module that packages in some directories may import:
// directories, with everything below them. An import from the directory's own package is
// always allowed. The first rule that has a package's directory applies to it.
type rule struct {
	dirs  []string // [match] patterns
	allow []string
}

// Directory groups, each with the directories that its packages may import.
var (
	leaves     = []string{"internal"} // without internal/tool
	management = []string{"ib", "mad", "umad"}
	data       = []string{"ib", "verbs", "rdmacm"}
	public     = []string{"ib", "mad", "umad", "verbs", "rdmacm", "fabric", "sim", "report"}
	tools      = []string{"devinfo", "linkinfo", "ping", "internal/tool"}
	parts      = slices.Concat([]string{"cmd/internal"}, tools, public, leaves)
)

var rules = []rule{
	// Only package cmd imports commands. Commands do not import each other.
	{[]string{"."}, []string{"cmd"}},
	{[]string{"cmd"}, slices.Concat([]string{"cmd"}, parts)},
	{[]string{"cmd/..."}, parts},
	// A tool may combine the results of others, as check does.
	{[]string{"internal/tool/..."}, slices.Concat(tools, public, leaves)},
	{[]string{"devinfo/...", "linkinfo/...", "ping/..."}, slices.Concat(public, leaves)},
	// Public packages import downwards.
	{[]string{"fabric"}, slices.Concat(management, []string{"report"}, leaves)},
	{[]string{"fabric/..."}, slices.Concat(management, []string{"fabric", "report", "sim"}, leaves)},
	{[]string{"sim/..."}, slices.Concat(management, []string{"sim", "report"}, leaves)},
	{[]string{"umad/..."}, slices.Concat(management, leaves)},
	{[]string{"verbs/...", "rdmacm/..."}, slices.Concat(data, leaves)},
	{[]string{"mad/..."}, []string{"ib", "mad"}},
	{[]string{"report"}, []string{"ib"}},
	{[]string{"ib/..."}, nil},
	{[]string{"internal/..."}, []string{"ib", "mad", "internal"}},
	{[]string{"ibkit-cuda"}, leaves},
	{[]string{"docs/...", "man/...", "packaging/...", "schema/...", "test/..."}, slices.Concat([]string{"test", "cmd"}, parts)},
}

// libraries are packages that few may import, with the directory patterns that may.
var libraries = map[string][]string{
	"github.com/spf13/cobra":            {"cmd/..."},
	"github.com/spf13/pflag":            {"cmd/..."},
	"github.com/olekukonko/tablewriter": {"cmd/internal/render"},
	"github.com/fatih/color":            {"cmd/internal/render"},
	"github.com/gdamore/tcell/v2":       {"cmd/top"},
	"go.yaml.in/yaml/v3":                {"internal/tool/check", "internal/webconfig", "internal/yamlfile"},
	"github.com/prometheus":             {"internal/tool/exporter"},
	"github.com/ebitengine/purego":      {"ibkit-cuda"},
	"testing":                           {"internal/testenv", "cmd/internal/cmdtest", "umad/umadtest", "internal/uverbs/uverbstest", "verbs/internal/ringtest", "test/..."},
	module + "/internal/testenv":        {"cmd/internal/cmdtest", "test/..."},
	module + "/cmd/internal/cmdtest":    {"test/..."},
}

// match reports whether a pattern has a directory: "a" is a alone, "a/..." is a
// with all below.
func match(pattern, dir string) bool {
	parent, all := strings.CutSuffix(pattern, "/...")
	return dir == parent || all && strings.HasPrefix(dir, parent+"/")
}

func matchAny(patterns []string, dir string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool { return match(p, dir) })
}

// below reports whether a directory is one of the parents or below one of them. Tools are
// below "internal/tool" only.
func below(parents []string, dir string) bool {
	return slices.ContainsFunc(parents, func(p string) bool {
		return match(p+"/...", dir) && (p != "internal" || !match("internal/tool/...", dir))
	})
}

// check returns the reason why the package in a directory may not import a path, or
// "".
func check(dir, imported string) string {
	for library, allowed := range libraries {
		if (imported == library || strings.HasPrefix(imported, library+"/")) && !matchAny(allowed, dir) {
			return fmt.Sprintf("%s imports %s; only %s may", dir, imported, strings.Join(allowed, ", "))
		}
	}
	to, ours := strings.CutPrefix(imported, module)
	if !ours {
		return ""
	}
	to = path.Join(".", strings.TrimPrefix(to, "/"))
	for _, r := range rules {
		if !matchAny(r.dirs, dir) {
			continue
		}
		if to != "." && below(r.allow, to) {
			return ""
		}
		return dir + " imports " + to
	}
	return dir + ": there is no rule for this directory"
}

func TestImports(t *testing.T) {
	for _, file := range sources(t) {
		for _, spec := range file.parsed.Imports {
			imported, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				t.Fatal(err)
			}
			if reason := check(file.dir, imported); reason != "" {
				t.Errorf("%s: %s", file.path, reason)
			}
		}
	}
}

func TestCheck(t *testing.T) {
	for _, c := range []struct {
		dir, imported string
		allowed       bool
	}{
		{".", module + "/cmd", true},
		{".", module + "/linkinfo", false},
		{"cmd", module + "/cmd/ping", true},
		{"cmd/ping", module + "/cmd/internal/render", true},
		{"cmd/ping", module + "/cmd/perf", false},
		{"cmd/ping", module + "/cmd", false},
		{"ping", module + "/umad", true},
		{"ping", module + "/internal/tool/perf", false},
		{"ping", "github.com/spf13/cobra", false},
		{"internal/tool/doctor", module + "/linkinfo", true},
		{"internal/tool/doctor", module + "/cmd/doctor", false},
		{"internal/sysfs", module + "/internal/tool/doctor", false},
		{"fabric", module + "/internal/tool/route", false},
		{"fabric", module + "/sim", false},
		{"fabric/fabricfile", module + "/sim", true}, // the reader of ibnetdiscover's output
		{"sim", module + "/fabric", false},
		{"verbs", module + "/mad", false},
		{"verbs/internal/rxe", module + "/verbs/provider", true},
		{"mad", module + "/internal/sysfs", false},
		{"ib", module + "/mad", false},
		{"internal/sysfs", module + "/umad", false},
		{"fabric", "testing", false},
		{"fabric", "fmt", true},
		{"new", module + "/ib", false},
		{"mad", module, false},
		{"ibkit-cuda", module + "/internal/dmabuf", true},
		{"ibkit-cuda", module + "/verbs", false},
		{"internal/dmabuf", "github.com/ebitengine/purego", false},
	} {
		t.Run(c.dir+" imports "+c.imported, func(t *testing.T) {
			if reason := check(c.dir, c.imported); (reason == "") != c.allowed {
				t.Errorf("got %q, want allowed: %v", reason, c.allowed)
			}
		})
	}
}
