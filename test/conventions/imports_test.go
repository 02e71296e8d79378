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
	leaves     = []string{"internal", "textfile"}
	wire       = []string{"ib", "mad"}
	management = slices.Concat(wire, []string{"umad"})
	data       = []string{"ib", "verbs"}
	public     = slices.Concat(management, data, []string{"fabric", "ibdiagnet", "rdmacm", "sim", "resolve", "textfile"})
	tools      = []string{"cc", "check", "cm", "counters", "devinfo", "linkinfo", "ping", "perf", "doctor", "exporter", "portctl", "query", "route", "sa", "sm", "softdev", "sweep", "sysstat", "top", "topology", "trap", "watch"}
	parts      = slices.Concat([]string{"cmd/internal"}, tools, public, leaves)
)

var rules = []rule{
	// Only package cmd imports commands. Commands do not import each other.
	{[]string{"."}, []string{"cmd"}},
	{[]string{"cmd"}, slices.Concat([]string{"cmd"}, parts)},
	{[]string{"cmd/..."}, parts},
	// Tools do not import each other, but doctor reads the results of three, portctl
	// checks links as linkinfo does, cc and sm have the outcomes from portctl, and softdev
	// lists the users of a device as devinfo does.
	{[]string{"doctor/..."}, slices.Concat([]string{"counters", "devinfo", "linkinfo"}, public, leaves)},
	{[]string{"softdev/..."}, slices.Concat([]string{"devinfo"}, public, leaves)},
	// check runs other tools' checks.
	{[]string{"check/..."}, slices.Concat([]string{"counters", "devinfo", "doctor", "linkinfo", "route", "sm", "topology"}, public, leaves)},
	// exporter exports results from three tools.
	{[]string{"exporter/..."}, slices.Concat([]string{"counters", "devinfo", "linkinfo"}, public, leaves)},
	{[]string{"cc/...", "sm/..."}, slices.Concat([]string{"portctl"}, public, leaves)},
	// Programs that run for long repeat sweeps by sweep, which reads counters.
	{[]string{"sweep/..."}, slices.Concat([]string{"counters"}, public, leaves)},
	{[]string{"top/..."}, slices.Concat([]string{"counters", "linkinfo", "route", "sweep"}, public, leaves)},
	{[]string{"watch/..."}, slices.Concat([]string{"counters", "devinfo", "linkinfo", "sweep", "trap"}, public, leaves)},
	{[]string{"portctl/..."}, slices.Concat([]string{"linkinfo"}, public, leaves)},
	{[]string{"cm/..."}, slices.Concat([]string{"cm/internal", "cm/exchange"}, public, leaves)},
	{[]string{"counters/...", "devinfo/...", "linkinfo/...", "ping/...", "query/...", "route/...", "sa/...", "sysstat/...", "topology/...", "trap/..."}, slices.Concat(public, leaves)},
	{[]string{"perf/..."}, slices.Concat([]string{"perf"}, public, leaves)},
	// Public packages import downwards.
	{[]string{"resolve/..."}, slices.Concat(management, []string{"fabric"}, leaves)},
	{[]string{"ibdiagnet/..."}, slices.Concat(management, []string{"fabric"}, leaves)},
	{[]string{"fabric/..."}, slices.Concat(management, leaves)},
	{[]string{"sim/..."}, slices.Concat(management, []string{"sim"}, leaves)},
	{[]string{"umad/..."}, slices.Concat(management, leaves)},
	{[]string{"verbs/..."}, slices.Concat(data, leaves)},
	{[]string{"rdmacm/..."}, slices.Concat(data, leaves)},
	{[]string{"mad/..."}, wire},
	{[]string{"ib/..."}, nil},
	{[]string{"textfile/..."}, nil},
	{[]string{"internal/..."}, []string{"ib", "internal", "textfile"}},
	{[]string{"test/..."}, slices.Concat([]string{"test", "cmd"}, parts)},
	{[]string{"docs/...", "man/...", "packaging/...", "schema/..."}, slices.Concat([]string{"cmd"}, parts)},
}

// libraries are packages that few may import, with the directory patterns that may.
var libraries = map[string][]string{
	"github.com/spf13/cobra":            {"cmd/..."},
	"github.com/spf13/pflag":            {"cmd/..."},
	"github.com/olekukonko/tablewriter": {"cmd/internal/render"},
	"github.com/fatih/color":            {"cmd/internal/render"},
	"github.com/gdamore/tcell/v2":       {"cmd/top"},
	"go.yaml.in/yaml/v3":                {"check", "internal/webconfig", "internal/yamlfile"},
	"github.com/prometheus":             {"exporter"},
	"testing":                           {"internal/testenv", "cmd/internal/cmdtest", "umad/umadtest", "internal/uverbs/uverbstest", "test/..."},
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

// below reports whether a directory is one of the parents or below one of them.
func below(parents []string, dir string) bool {
	return slices.ContainsFunc(parents, func(p string) bool { return match(p+"/...", dir) })
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
		{"ping", module + "/perf", false},
		{"ping", "github.com/spf13/cobra", false},
		{"doctor", module + "/linkinfo", true},
		{"sim", module + "/fabric", false},
		{"verbs", module + "/mad", false},
		{"verbs/rxe", module + "/verbs/provider", true},
		{"mad", module + "/internal/sysfs", false},
		{"ib", module + "/mad", false},
		{"internal/sysfs", module + "/umad", false},
		{"fabric", "testing", false},
		{"fabric", "fmt", true},
		{"new", module + "/ib", false},
		{"mad", module, false},
	} {
		t.Run(c.dir+" imports "+c.imported, func(t *testing.T) {
			if reason := check(c.dir, c.imported); (reason == "") != c.allowed {
				t.Errorf("got %q, want allowed: %v", reason, c.allowed)
			}
		})
	}
}
