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

// TestDoctor looks for the subnet manager: before there is one, when the command
// that doctor prints has started one, as an ordinary user, when it has died.
func TestDoctor(t *testing.T) {
	g := guest.New(t, ibports.Spec(t, "opensm"))
	ibports.PlugIn(t, g, "demo", "node02", "node07", "--sm", "off")
	doctor := []string{"ibkit", "doctor", "--only", "ports,sm", "--timeout", "2s"}
	look := func(what string, code int, user bool, want ...string) string {
		t.Helper()
		r, err := g.Run(t.Context(), guest.Command{Args: doctor, User: user})
		if err != nil {
			t.Fatal(err)
		}
		for _, w := range want {
			if !strings.Contains(r.Stdout, w) {
				t.Errorf("%s: no %q", what, w)
			}
		}
		if r.Code != code || t.Failed() {
			t.Errorf("%s: exit code %d\n%s%s", what, r.Code, r.Stdout, r.Stderr)
		}
		return r.Stdout
	}
	out := look("before", 3, false,
		"error: ports ibtest0/1 ibtest1/1: Initialize/LinkUp\n",
		"error: sm ibtest0/1 ibtest1/1: no subnet manager has configured the port\n")
	_, mend, _ := strings.Cut(out, "  mend: ")
	mend, _, _ = strings.Cut(mend, "\n")

	g.Must(t, "mkdir", "-p", "/var/cache/opensm", "/var/log")
	g.Must(t, "sh", "-c", mend)
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	if err := g.Await(ctx, doctor...); err != nil {
		t.Fatal(err)
	}
	look("with "+mend, 0, false, "Active/LinkUp, ", "Master with priority ", "All is well.")
	look("as an ordinary user", 4, true, "unknown: sm ibtest0/1: open /dev/infiniband/umad", "permission denied", "chgrp rdma")

	g.Must(t, "sh", "-c", "kill -KILL $(pidof opensm)")
	look("without it", 3, false, "error: sm ibtest0/1 ibtest1/1: there is no subnet manager any more at LID ")
}
