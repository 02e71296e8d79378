package buildinfo

import (
	"runtime/debug"
	"testing"
)

func TestVersionOf(t *testing.T) {
	const commit = "0123456789abcdef0123456789abcdef01234567"
	build := func(version string, settings ...debug.BuildSetting) *debug.BuildInfo {
		return &debug.BuildInfo{Main: debug.Module{Version: version}, Settings: settings}
	}
	revision := debug.BuildSetting{Key: "vcs.revision", Value: commit}
	for _, test := range []struct {
		name            string
		info            *debug.BuildInfo
		version, commit string
	}{
		{"checkout", build("v0.0.0-20260102030405-0123456789ab", debug.BuildSetting{Key: "vcs", Value: "git"}, revision), "v0.0.0-20260102030405-0123456789ab", commit},
		{"checkout without a version", build("(devel)", revision), "devel-0123456789ab", commit},
		{"short commit", build("", debug.BuildSetting{Key: "vcs.revision", Value: "0123"}), "devel-0123", "0123"},
		{"module", build("v1.2.3"), "v1.2.3", ""},
		{"without information", build("(devel)", debug.BuildSetting{Key: "-trimpath", Value: "true"}), "devel", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := commitOf(test.info); got != test.commit {
				t.Errorf("got commit %q, want %q", got, test.commit)
			}
			if got := versionOf(test.info, commitOf(test.info)); got != test.version {
				t.Errorf("got version %q, want %q", got, test.version)
			}
		})
	}
}
