package testenv

import (
	"embed"
	"io/fs"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"
)

// hosts are sysfs archives from hosts with various adapters.
//
//go:embed hosts/*.txtar
var hosts embed.FS

// Host unpacks a host's sysfs below a new directory and returns the directory.
func Host(tb testing.TB, name string) string {
	tb.Helper()
	text, err := hosts.ReadFile("hosts/" + name + ".txtar")
	if err != nil {
		tb.Fatal(err)
	}
	return unpack(tb, txtar.Parse(text))
}

// Hosts returns all host names.
func Hosts(tb testing.TB) []string {
	tb.Helper()
	paths, err := fs.Glob(hosts, "hosts/*.txtar")
	if err != nil || len(paths) == 0 {
		tb.Fatalf("found no hosts: %v", err)
	}
	var names []string
	for _, path := range paths {
		names = append(names, strings.TrimSuffix(strings.TrimPrefix(path, "hosts/"), ".txtar"))
	}
	return names
}
