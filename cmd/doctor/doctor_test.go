package doctor

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ibkit/ibkit/cmd/internal/cmdtest"
	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/internal/testenv"
	"github.com/ibkit/ibkit/internal/tool/doctor"
)

var program = cmdtest.Native(New)

// TestDoctor_Hosts compares all views of hosts with golden files.
func TestDoctor_Hosts(t *testing.T) {
	archives, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(archives) == 0 {
		t.Fatal(archives, err)
	}
	for _, archive := range archives {
		name := strings.TrimSuffix(filepath.Base(archive), ".txtar")
		t.Run(name, func(t *testing.T) {
			root := testenv.UnpackTree(t, archive)
			// The owner of the files depends on the user who runs the test.
			nodes, err := filepath.Glob(filepath.Join(root, "dev/infiniband/*"))
			if err != nil {
				t.Fatal(err)
			}
			for _, node := range nodes {
				if err := os.Chmod(node, 0o666); err != nil {
					t.Fatal(err)
				}
			}
			var all strings.Builder
			for _, line := range []string{"doctor", "doctor --quiet", "doctor --only clock,nodes --skip nodes"} {
				code, out, err := program.Run(t, nil, append(strings.Fields(line), "--root", root)...)
				all.WriteString("$ ibkit " + line + "\n" + strings.ReplaceAll(out+err, root, ""))
				if code != 0 {
					all.WriteString("exit code " + string(rune('0'+code)) + "\n")
				}
			}
			cmdtest.Golden(t, name+".golden", all.String())

			_, out, _ := program.Run(t, nil, "doctor", "--json", "--root", root)
			var r doctor.Result
			cmdtest.CheckDocument(t, "../../schema/doctor.json", out, &r)
		})
	}
}

// TestDoctor_ThisHost checks the host that runs the test.
func TestDoctor_ThisHost(t *testing.T) {
	code, out, err := program.Run(t, nil, "doctor", "--reply-timeout", "1ms")
	if code != cmdutil.ExitOK && code != cmdutil.ExitFindings && code != cmdutil.ExitPartial || out == "" || err != "" {
		t.Errorf("got exit code %d, output %q, error output %q, want a result", code, out, err)
	}
}

func TestDoctor_Usage(t *testing.T) {
	for _, test := range []struct{ line, want string }{
		{"word", `unexpected argument "word"`},
		{"--only nosuch", `invalid --only "nosuch": want one of modules, `},
		{"--skip nosuch", `invalid --skip "nosuch"`},
		{"--json --quiet", "are mutually exclusive"},
		{"--list --only nodes", "are mutually exclusive"},
		{"--reply-timeout 0s", "invalid --reply-timeout"},
		{"--root /nonexistent", "no such file"},
		{"--root doctor_test.go", "is not a directory"},
	} {
		t.Run(test.line, func(t *testing.T) {
			code, out, err := program.Run(t, nil, append([]string{"doctor"}, strings.Fields(test.line)...)...)
			if code != cmdutil.ExitUsage || out != "" || !strings.Contains(err, test.want) {
				t.Errorf("got exit code %d, output %q, error output %q, want exit code %d and error %q", code, out, err, cmdutil.ExitUsage, test.want)
			}
		})
	}
	code, out, err := program.Run(t, nil, "doctor", "--list")
	if code != cmdutil.ExitOK || !strings.Contains(out, "\nmemlock ") || err != "" {
		t.Errorf("--list: got exit code %d, output %q, error output %q, want the checks", code, out, err)
	}
}

// Checks that are skipped for one reason take one line.
func TestDoctor_NoDevice(t *testing.T) {
	root := testenv.WriteTree(t, map[string]string{"sys/class/net/lo/type": "772", "sys/module/ib_core/refcnt": "0"})
	_, out, _ := program.Run(t, nil, "doctor", "--root", root)
	const want = "skipped: netns nodes ports links sm pkeys names gids routes mtu lossless traffic pcie gpus iommu numa: no RDMA device\n"
	if !strings.Contains(out, want) || strings.Count(out, "no RDMA device") != 2 || !strings.Contains(out, "\nerror: devices: no RDMA device\n") {
		t.Errorf("got\n%s\nwant %s and the error", out, want)
	}
}

// doctor checks the host, and reports that a simulated fabric is not checked.
func TestDoctor_Simulated(t *testing.T) {
	_, _, err := program.Run(t, map[string]string{"IBKIT_SIM": "demo"}, "doctor", "--only", "modules", "--root", t.TempDir())
	if want := "warning: IBKIT_SIM has no effect: doctor checks this host"; !strings.Contains(err, want) {
		t.Errorf("got error output %q, want %q", err, want)
	}
}

// The files of another kernel are no subject for the checks of the running one.
func TestDoctor_OtherKernel(t *testing.T) {
	code, out, err := program.Run(t, map[string]string{"IBKIT_SYSFS": t.TempDir()}, "doctor")
	const want = "ibkit doctor: doctor checks the running kernel, but IBKIT_SYSFS has another kernel's files\nhint: select the root directory of another host: --root DIR\n"
	if code != cmdutil.ExitFailed || out != "" || err != want {
		t.Errorf("got exit code %d, %q and error output %q, want %q", code, out, err, want)
	}
}
