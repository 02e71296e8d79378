//go:build packages

package packaging

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/creack/pty"

	"github.com/ibkit/ibkit/internal/testenv"
)

// completionCases are command lines before the tabulator key, with part of the
// expected completion.
var completionCases = []struct{ typed, want string }{
	{"ibkit linkin", "linkinfo"},
	{"ibkit linkinfo -C ml", "mlx5_"},
	{"ibkit linkinfo -C mlx5_0 -P ", "-P 1"},
	{"ibkit linkinfo --node-name-map names --node sp", "spine_one"},
	{"ibkit ping --sim demo spi", "spine"},
	{"ibkit doctor --only nodes,meml", "memlock"},
	{"ibkit linkinfo --sim drag", "dragonfly"},
	{"ibkit linkinfo --sim fat-tree:le", "levels="},
	{"ibkit linkinfo --finding slow,na", "narrow"},
	{"ibkit sim export --format top", "topology"},
	{"ibkit devinfo ml", "mlx5_"},
}

// completionHome creates a shell environment: ibkit in the PATH, the scripts in the package
// directories, a host with an adapter, and a node name map.
func completionHome(t *testing.T) (dir string, env []string) {
	t.Helper()
	dir = t.TempDir()
	binary, err := filepath.Abs(one(t, "ibkit_linux_amd64_v1/ibkit"))
	if err != nil {
		t.Fatal(err)
	}
	for _, folder := range []string{"bin", "bash/completions", "zsh", "fish"} {
		if err := os.MkdirAll(filepath.Join(dir, folder), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(binary, filepath.Join(dir, "bin/ibkit")); err != nil {
		t.Fatal(err)
	}
	files := map[string]string{
		"names": "0x1 \"spine_one\"\n0x2 \"leaf_two\"\n",
		".bashrc": `PS1='ready> '
. /usr/share/bash-completion/bash_completion
`,
		".zshrc": `fpath=(~/zsh $fpath); PS1='ready> '
autoload -Uz compinit; compinit -u -d ~/zcompdump
`,
	}
	for script, path := range map[string]string{
		"bash": "bash/completions/ibkit", "zsh": "zsh/_ibkit", "fish": "fish/ibkit.fish",
	} {
		files[path] = command(t, binary, "completion", script)
	}
	for path, text := range files {
		if err := os.WriteFile(filepath.Join(dir, path), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	sysfs := testenv.Host(t, "mlx5-ib")
	return dir, []string{
		"HOME=" + dir, "ZDOTDIR=" + dir, "XDG_CONFIG_HOME=" + dir, "XDG_DATA_HOME=" + dir,
		"BASH_COMPLETION_USER_DIR=" + dir + "/bash", "PATH=" + dir + "/bin:" + os.Getenv("PATH"),
		"IBKIT_SYSFS=" + sysfs, "TERM=dumb", "LC_ALL=C.UTF-8", "INPUTRC=/dev/null",
	}
}

// TestInteractiveCompletion types into bash and zsh.
func TestInteractiveCompletion(t *testing.T) {
	dir, env := completionHome(t)
	for _, shell := range []string{"bash", "zsh"} {
		for _, test := range completionCases {
			run := exec.Command(shell, "-i")
			run.Dir, run.Env = dir, env
			if shown := typeInto(t, run, test.typed+"\t\t", test.want); shown != "" {
				t.Errorf("%s: %s and the tabulator key brought %q, want %q", shell, test.typed, shown, test.want)
			}
		}
	}
}

// typeInto types keys into a shell on a terminal, once it is ready, and waits
// until the output contains want. It returns the output.
func typeInto(t *testing.T, shell *exec.Cmd, keys, want string) string {
	t.Helper()
	terminal, err := pty.StartWithSize(shell, &pty.Winsize{Rows: 50, Cols: 120})
	if err != nil {
		t.Fatal(err)
	}
	end := time.AfterFunc(2*time.Minute, func() { shell.Process.Kill() })
	defer func() {
		end.Stop()
		shell.Process.Kill()
		shell.Wait()
		terminal.Close()
	}()
	var shown []byte
	buffer := make([]byte, 4096)
	for _, next := range []string{"ready> ", want} {
		for !bytes.Contains(shown, []byte(next)) {
			n, err := terminal.Read(buffer)
			shown = append(shown, bytes.ReplaceAll(buffer[:n], []byte("\a"), nil)...)
			if err != nil {
				return string(shown)
			}
		}
		if next != want {
			shown = nil
			if _, err := io.WriteString(terminal, keys); err != nil {
				t.Fatal(err)
			}
		}
	}
	return ""
}

// TestFishCompletion has fish complete the same lines; fish shows the last words.
func TestFishCompletion(t *testing.T) {
	dir, env := completionHome(t)
	for _, test := range completionCases {
		run := exec.Command("fish", "--no-config", "-c", "set fish_complete_path ~/fish; complete -C $argv[1]", test.typed)
		run.Dir, run.Env = dir, env
		out, err := run.CombinedOutput()
		want := test.want[strings.LastIndexByte(test.want, ' ')+1:]
		if err != nil || !regexp.MustCompile(`(?m)^\S*`+regexp.QuoteMeta(want)).Match(out) {
			t.Errorf("fish: %s is completed to %q (%v), want %q", test.typed, out, err, want)
		}
	}
}
