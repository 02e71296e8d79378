//go:build guest

package infiniband_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/ibkit/ibkit/test/guest"
	"github.com/ibkit/ibkit/test/guest/ibports"
)

// TestDoctor checks for a subnet manager: before one runs, after the printed command has
// started one, as an unprivileged user, and after the subnet manager has died.
func TestDoctor(t *testing.T) {
	t.Parallel()
	spec := ibports.Spec(t, "opensm")
	g := guest.New(t, spec)
	ibports.PlugIn(t, g, "demo", "node02", "node07", "-sm", "off")
	doctor := []string{"ibkit", "doctor", "--reply-timeout", "2s", "--only", "ports,sm"}
	run := func(name string, code int, user bool, want ...string) string {
		t.Helper()
		r, err := g.Run(t.Context(), guest.Command{Args: doctor, User: user})
		if err != nil {
			t.Fatal(err)
		}
		for _, w := range want {
			if !strings.Contains(r.Stdout, w) {
				t.Errorf("%s: output does not contain %q", name, w)
			}
		}
		if r.Code != code || t.Failed() {
			t.Errorf("%s: got exit code %d, want %d\n%s%s", name, r.Code, code, r.Stdout, r.Stderr)
		}
		return r.Stdout
	}
	out := run("before", 3, false,
		"error: ports ibtest0/1 ibtest1/1: Initialize/LinkUp\n",
		"error: sm ibtest0/1 ibtest1/1: no subnet manager has configured the port\n")
	_, fix, _ := strings.Cut(out, "  fix:     ")
	fix, _, _ = strings.Cut(fix, "\n")

	g.Must(t, "mkdir", "-p", "/var/cache/opensm", "/var/log")
	g.Must(t, "sh", "-c", fix)
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	if err := g.Await(ctx, doctor...); err != nil {
		t.Fatal(err)
	}
	run("after "+fix, 0, false, "Active/LinkUp, ", "Master with priority ", "\nno problems found\n")
	links := g.MustRun(t, "ibkit", "doctor", "--reply-timeout", "2s", "--only", "links,pkeys")
	for _, want := range []string{
		"pkeys  ibtest0/1 ibtest1/1  full member of 0xffff\n", "links  ibtest0/1            4X NDR\n",
		"warning: links ibtest1/1: HDR, but both ends have NDR enabled (to leaf2[5])\n",
	} {
		if links.Code != 3 || !strings.Contains(links.Stdout, want) {
			t.Errorf("links: got exit code %d, want 3 and %q in\n%s", links.Code, want, links.Stdout)
		}
	}
	run("as an unprivileged user", 4, true, "unknown: sm ibtest0/1: open /dev/infiniband/umad", "permission denied", "chgrp rdma")

	g.Must(t, "sh", "-c", "kill -KILL $(pidof opensm)")
	run("after its end", 3, false, "error: sm ibtest0/1 ibtest1/1: the subnet manager at LID ", " is gone: ")
}
