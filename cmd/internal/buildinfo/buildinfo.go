// Package buildinfo returns the version and the commit of the binary.
package buildinfo

import (
	"runtime/debug"
)

// A release sets these: -ldflags "-X github.com/ibkit/ibkit/cmd/internal/buildinfo.release=…".
var release, releaseCommit string

// Version returns the version that the binary was built as: that of a release,
// else the commit that it was built from.
func Version() string {
	if release != "" {
		return release
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	return versionOf(info, Commit())
}

// versionOf returns the version of a module, or a name for a build of a commit.
func versionOf(info *debug.BuildInfo, commit string) string {
	if v := info.Main.Version; v != "" && v != "(devel)" {
		return v
	}
	if commit != "" {
		return "devel-" + commit[:min(12, len(commit))]
	}
	return "devel"
}

// Commit returns the commit that the binary was built from; "": not known.
func Commit() string {
	if releaseCommit != "" {
		return releaseCommit
	}
	if info, ok := debug.ReadBuildInfo(); ok {
		return commitOf(info)
	}
	return ""
}

// commitOf returns the commit of a build in a checkout.
func commitOf(info *debug.BuildInfo) string {
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			return s.Value
		}
	}
	return ""
}
