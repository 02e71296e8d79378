//go:build oracle

package oracle

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/ibkit/ibkit/internal/tool/top"
	"github.com/ibkit/ibkit/test/ibsimtest"
	"github.com/ibkit/ibkit/test/termsvg"
)

// A terminal is Debian's tmux with a single program.
type terminal struct {
	t   *testing.T
	dir string
}

// newTerminal starts ibkit top in tmux with 80 columns and 24 rows.
func newTerminal(t *testing.T, env []string, args ...string) *terminal {
	t.Helper()
	m := &terminal{t, t.TempDir()}
	// A server in the foreground ends with the test, also without sessions.
	log := startServer(t, "tmux", "-D", "-S", m.socket(), "-f", writeText(t, "set -s exit-empty off\n"))
	await(t, "tmux", log, func() bool {
		_, err := m.run("-N", "list-sessions")
		return err == nil
	})
	line := fmt.Sprintf("cd %s; env %s %s top %s; echo exit code $?; read end", m.dir, strings.Join(env, " "), ibkit(), strings.Join(args, " "))
	m.tmux("new-session", "-d", "-s", "top", "-x", "80", "-y", "24", line)
	return m
}

func (m *terminal) socket() string { return filepath.Join(m.dir, "socket") }

// run runs a tmux command with the terminal's server.
func (m *terminal) run(args ...string) (string, error) {
	cmd := ibsimtest.Command(m.t, "tmux", append([]string{"-S", m.socket()}, args...)...)
	cmd.Env = append(os.Environ(), "LC_ALL=C.UTF-8")
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// tmux runs a tmux command, which must succeed.
func (m *terminal) tmux(args ...string) string {
	m.t.Helper()
	out, err := m.run(args...)
	if err != nil {
		m.t.Fatalf("tmux %q: %v: %s", args, err, out)
	}
	return out
}

func (m *terminal) keys(keys ...string) {
	m.t.Helper()
	m.tmux(append([]string{"send-keys", "-t", "top"}, keys...)...)
}

// await waits until the screen has all texts, and returns it.
func (m *terminal) await(texts ...string) (screen string) {
	m.t.Helper()
	within(m.t, 2*time.Minute, strings.Join(texts, ", "), func() bool {
		screen = m.tmux("capture-pane", "-p", "-t", "top")
		for _, text := range texts {
			if !strings.Contains(screen, text) {
				return false
			}
		}
		return true
	})
	return screen
}

// size resizes the window and checks that the screen has no longer lines.
func (m *terminal) size(width, height int, texts ...string) {
	m.t.Helper()
	m.tmux("resize-window", "-t", "top", "-x", fmt.Sprint(width), "-y", fmt.Sprint(height))
	lines := strings.Split(strings.TrimSuffix(m.await(texts...), "\n"), "\n")
	if len(lines) != height {
		m.t.Errorf("%d x %d: got %d lines", width, height, len(lines))
	}
}

var pictures = flag.Bool("pictures", false, "write docs/pictures/top.svg and page.png")

// draw writes the screen as a picture for the documentation, in which values differ between
// runs.
func (m *terminal) draw(path, title string) {
	m.t.Helper()
	screen := m.tmux("capture-pane", "-e", "-p", "-t", "top")
	picture, err := termsvg.Draw(title, strings.TrimRight(screen, "\n"))
	if err == nil {
		err = os.WriteFile(path, picture, 0o644)
	}
	if err != nil {
		m.t.Fatal(err)
	}
}

// coloured matches the escape sequences for foreground colours.
var coloured = regexp.MustCompile(`\x1b\[[0-9;]*(3[1-8]|9[0-7])`)

// TestTop_Tmux uses all screens in tmux, with and without colour.
func TestTop_Tmux(t *testing.T) {
	for name, env := range map[string][]string{"colour": nil, "NO_COLOR": {"NO_COLOR=1"}, "screen": {"TERM=screen"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := newTerminal(t, env, "--sim", "demo", "--interval", "500ms")
			m.await("ibkit top  22 nodes, 24 links", "24 links by severity", "LINK", "OUT%", "2X NDR", "q quit ? keys")
			if escapes := m.tmux("capture-pane", "-e", "-p", "-t", "top"); coloured.MatchString(escapes) == (name == "NO_COLOR") {
				t.Errorf("got another use of colour:\n%q", escapes)
			}
			if *pictures && name == "colour" {
				m.await("SymbolError +")
				m.draw("../../docs/pictures/top.svg", "ibkit top --sim demo")
			}
			m.keys("s", "s", "s")
			m.await("24 links by wait")
			m.keys("s", "s", "s", "Enter")
			m.await("leaf1[1] - spine1[1]  2X NDR  Active", "samples from", "received max")
			m.keys("e")
			m.await("wrote ibkit-top-port-")
			m.keys("Escape", "n")
			m.await("leaf1  Switch 0x0002c90000800200  LID 3  6 of 16 ports up")
			m.keys("Escape", "p", "node01 node16", "Enter")
			m.await("node01 to node16, LID 22", "leaf1[1] - spine1[1]", "node16 to node01, LID 4")
			m.keys("Escape", "Left", "Left")
			m.await(" ago", "sample ")
			m.size(50, 12, "ibkit top  22 nodes", "leaf1[1] - spine1[1]")
			m.size(132, 40, "slow: HDR, but both ends have NDR enabled")
			m.size(80, 24, "q quit ? keys")
			m.keys("?")
			m.await("earlier and later samples", "any key returns")
			m.keys("x", "q")
			m.await("exit code 0")
			files, err := filepath.Glob(filepath.Join(m.dir, "ibkit-top-port-*.json"))
			if err != nil || len(files) != 1 {
				t.Fatalf("got files %q, %v", files, err)
			}
			document, err := os.ReadFile(files[0])
			if err != nil {
				t.Fatal(err)
			}
			var r top.Report
			if err := json.Unmarshal(document, &r); err != nil || r.Schema != top.Schema || r.Port == nil || len(r.Port.Ends) != 2 {
				t.Errorf("got %s, %v", document, err)
			}
		})
	}
}

// TestTop_Suspend suspends the job by Ctrl-Z, twice, and continues it.
func TestTop_Suspend(t *testing.T) {
	t.Parallel()
	m := newTerminal(t, nil)
	m.tmux("respawn-pane", "-k", "-t", "top", "bash --norc")
	m.keys(native()+" top --sim demo --interval 500ms", "Enter")
	m.await("24 links by severity")
	for range 2 {
		m.keys("C-z")
		m.await("Stopped")
		m.keys("clear; fg", "Enter")
		m.await("24 links by severity", "window ")
	}
	m.keys("q")
}

// TestTop_Ibsim checks that counters and links that change on the console of Debian's
// ibsim appear, and that the screen has the same links as Debian's iblinkinfo.
func TestTop_Ibsim(t *testing.T) {
	t.Parallel()
	s := ibsimtest.New(t, "../nets/multi-port-hosts.net")
	s.OpenSM(t, "gateway")
	m := newTerminal(t, append(s.Env(), "SIM_HOST=both-on-one"), "--sim", "ibsim", "--interval", "300ms")
	screen := m.await("6 nodes, 8 links", "8 links by severity")
	theirs := 0
	for line := range strings.Lines(s.MustRunC(t, "both-on-one", "iblinkinfo", "-l").Stdout) {
		if strings.Contains(line, "Active") && strings.Contains(line, `"rail-`) {
			theirs++
		}
	}
	if ours := strings.Count(screen, "rail-"); ours == 0 || theirs == 0 {
		t.Errorf("got %d names of switches, iblinkinfo has %d links of switches", ours, theirs)
	}
	s.MustCommand(t, `PerformanceSet "rail-1"[5] PortCounters.SymbolErrorCounter=40`)
	m.await("rail-1[5] - gateway[1]", "SymbolError +")
	s.MustCommand(t, `Unlink "one-unplugged"[2]`)
	m.await("5 nodes, 7 links")
	s.MustCommand(t, `Link "one-unplugged"[2] "rail-2"[4]`)
	m.await("6 nodes, 8 links")
	m.keys("q")
	m.await("exit code 0")
}

// TestTop_Large uses 10,400 hosts with 31,200 links: a key changes the screen, also while
// counters are read.
func TestTop_Large(t *testing.T) {
	t.Parallel()
	m := newTerminal(t, nil, "--sim", "fat-tree:levels=3,radix=40,pods=26", "--interval", "1s")
	m.await("11840 nodes, 31200 links", "31200 links by severity", "pod01-leaf001[1] - host00001[1]", "window")
	m.keys("End")
	m.await("pod26-leaf020")
	m.keys("/", "host10400", "Enter")
	m.await("1 link by severity", "host10400[1]")
	m.keys("p", "host00001 host10400", "Enter")
	m.await("host00001 to host10400, LID", "host10400 to host00001, LID")
	m.keys("q")
	m.await("exit code 0")
}
