package rendezvous

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// launched runs a launch and returns the lines and failures, sorted.
func launched(t *testing.T, o LaunchOptions) (lines, failures []string) {
	t.Helper()
	var lock sync.Mutex
	o.Output = func(host, line string) {
		lock.Lock()
		defer lock.Unlock()
		lines = append(lines, host+": "+line)
	}
	o.Failed = func(host string, err error) {
		lock.Lock()
		defer lock.Unlock()
		failures = append(failures, host+": "+err.Error())
	}
	Start(context.Background(), o).Stop(time.Minute)
	slices.Sort(lines)
	slices.Sort(failures)
	return lines, failures
}

// TestStart runs programs by a shell in place of ssh: it receives the host first, then
// quoted arguments, as the remote shell does.
func TestStart(t *testing.T) {
	lines, failures := launched(t, LaunchOptions{
		Hosts: []string{"h1", "root@h2"}, Shell: []string{"sh", "-c", `shift 0; to=$0; read -r token; eval "set -- $*"; printf '%s|' "$to" "$token" "$@"; echo`},
		Remote: []string{"ibkit", "mesh", "--name", "%h", "it's $HOME", ""}, Input: "secret\n",
	})
	want := []string{"h1: h1|secret|ibkit|mesh|--name|h1|it's $HOME||", "h2: root@h2|secret|ibkit|mesh|--name|h2|it's $HOME||"}
	if !slices.Equal(lines, want) || len(failures) > 0 {
		t.Errorf("got %q and failures %q, want %q", lines, failures, want)
	}
}

func TestStart_failed(t *testing.T) {
	lines, failures := launched(t, LaunchOptions{Hosts: []string{"h1"}, Shell: []string{"sh", "-c", "echo Permission denied >&2; exit 255"}})
	if !slices.Equal(lines, []string{"h1: Permission denied"}) || !slices.Equal(failures, []string{"h1: sh h1: exit status 255"}) {
		t.Errorf("got %q and failures %q, want the line of the program, and its exit status", lines, failures)
	}
	_, failures = launched(t, LaunchOptions{Hosts: []string{"h1"}, Shell: []string{"/no/such/ssh"}})
	if len(failures) != 1 || !strings.HasPrefix(failures[0], "h1: /no/such/ssh h1: ") {
		t.Errorf("got %q, want an error about the program", failures)
	}
}

// TestLaunch_Stop checks that programs which do not end are ended.
func TestLaunch_Stop(t *testing.T) {
	started := make(chan struct{})
	l := Start(t.Context(), LaunchOptions{
		Hosts: []string{"h1"}, Shell: []string{"sh", "-c", "echo started; exec sleep 1000"},
		Output: func(string, string) { close(started) }, Failed: func(_ string, err error) { t.Errorf("got %v, want no failure of an ended program", err) },
	})
	<-started
	l.Stop(0)
}
