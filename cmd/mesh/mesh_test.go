package mesh

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/ibkit/ibkit/cmd/internal/cmdtest"
	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/internal/tool/mesh"
)

var program = cmdtest.Native(New)

// small is 16 hosts on 4 leaves, with 4 spines.
const small = "--sim fat-tree:radix=8,pods=4"

// run runs a command line, and returns the exit code and both outputs.
func run(t *testing.T, line string, args ...string) (code int, out, err string) {
	t.Helper()
	return program.Run(t, nil, append(append([]string{"mesh"}, strings.Fields(line)...), args...)...)
}

// results simulates a measurement and returns its file.
func results(t *testing.T, line string) string {
	t.Helper()
	code, out, err := run(t, line)
	if code != cmdutil.ExitOK {
		t.Fatalf("got exit code %d: %s", code, err)
	}
	return cmdtest.WriteFile(t, out)
}

func TestMesh_Views(t *testing.T) {
	names := cmdtest.WriteFile(t, "src,dst,bandwidth_gbps\nhost001,host002,200\nhost002,host001,200\nhost001,login1,200\n")
	slow := results(t, small+" --fault leaf001[5]=60% --fault host00009=40% --fault host00014=hang")
	for name, args := range map[string]string{
		"table": "analyze " + small + " " + slow,
		"map":   "analyze --format map " + small + " " + slow,
		"names": "analyze --sim single-switch:hosts=3 " + names,
		"plan":  "plan " + small + " --schedule random:4",
		"torus": "plan --sim torus --schedule aware",
		"csv":   "plan --sim single-switch:hosts=3 --csv",
		"flows": "--sim single-switch:hosts=3 --fault host002=50% --seed 7",
	} {
		t.Run(name, func(t *testing.T) {
			_, out, err := run(t, args)
			if err != "" {
				t.Errorf("got error output %q", err)
			}
			cmdtest.Golden(t, name+".golden", out)
		})
	}
}

func TestMesh_JSON(t *testing.T) {
	for _, test := range []struct {
		schema, args string
		into         any
	}{
		{"mesh-results", small + " --json --plant 3 --schedule quick:4", new(mesh.ResultsDocument)},
		{"mesh-plan", "plan --json --sim torus --schedule incast", new(mesh.Plan)},
		{"mesh-plan", "plan --json --sim single-switch --schedule alltoall", new(mesh.Plan)},
		{"mesh-analyze", "analyze --json " + small + " " + results(t, small+" --plant 4 --fault host00014=hang --fault host00016=missing"), new(mesh.Result)},
		{"mesh-analyze", "analyze --json " + small + " " + results(t, small+" --schedule loopback --fault host00014=hang"), new(mesh.Result)},
		{"mesh-results", small + " --json --schedule congest", new(mesh.ResultsDocument)},
		{"mesh-analyze", "analyze --json " + small + " " + results(t, small+" --schedule congest --json"), new(mesh.Result)},
		{"mesh-analyze", "analyze --json --sim single-switch:hosts=3 " + results(t, "--sim single-switch:hosts=4"), new(mesh.Result)},
		{"mesh-analyze", "analyze --json " + small + " --baseline " + results(t, small+" --seed 2") + " " + results(t, small), new(mesh.Result)},
	} {
		t.Run(test.args, func(t *testing.T) {
			_, out, _ := run(t, test.args)
			cmdtest.CheckDocument(t, "../../schema/"+test.schema+".json", out, test.into)
		})
	}
}

// All forms of a simulation have the same verdict, and so has a stored fabric
// with tables.
func TestMesh_Forms(t *testing.T) {
	const faults = " --fault leaf001[5]=60% --fault host00009=40%"
	csv := results(t, small+faults)
	_, want, _ := run(t, "analyze "+small+" "+csv)
	for _, format := range []string{"json", "json-lines"} {
		_, got, _ := run(t, "analyze "+small+" "+results(t, small+faults+" --format "+format))
		if cut := func(text string) string { _, rest, _ := strings.Cut(text, ","); return rest }; cut(got) != cut(want) {
			t.Errorf("%s: got\n%s\nwant\n%s", format, got, want)
		}
	}
	if code, out, err := run(t, "analyze --from testdata/small.tables "+csv); out != want || code != cmdutil.ExitFindings {
		t.Errorf("stored tables: got exit code %d, %s\n%s\nwant\n%s", code, err, out, want)
	}
}

// A fabric without tables judges hosts, not the links between switches.
func TestMesh_WithoutTables(t *testing.T) {
	code, out, _ := run(t, "analyze --from testdata/small.topo "+results(t, small+" --fault host00009=40%"))
	if code != cmdutil.ExitFindings || !strings.Contains(out, "error: slow-node host00009:") || !strings.Contains(out, "without forwarding tables") {
		t.Errorf("got exit code %d and\n%s", code, out)
	}
}

// Without a fabric, the results of a run are judged by their names.
func TestMesh_HostsOnly(t *testing.T) {
	file := results(t, small+" --alone --fault host00009=40%")
	code, out, err := run(t, "analyze --hosts-only "+file)
	if code != cmdutil.ExitFindings || strings.Count(out, "error: ") != 1 || !strings.Contains(out, "error: slow-node host00009:") || strings.Contains(out, "cable") || err != "" {
		t.Errorf("got exit code %d, %s\n%s", code, err, out)
	}
	if code, _, err := run(t, "analyze --hosts-only --sim demo "+file); code != cmdutil.ExitUsage || !strings.Contains(err, "mutually exclusive") {
		t.Errorf("got exit code %d and %q, want a usage error", code, err)
	}
}

// The files have all hosts, and a failure to drain leaves the exit code of the verdict.
func TestMesh_Hosts(t *testing.T) {
	file := results(t, small+" --fault host00009=40% --fault host00010=30% --fault leaf001[5]=60%")
	dir := t.TempDir()
	exclude, good := filepath.Join(dir, "exclude"), filepath.Join(dir, "good")
	code, out, err := run(t, "analyze "+small+" --exclude-file "+exclude+" --good-hosts "+good+" --apply slurm "+file)
	withheld := "wrote " + exclude + ": 2 hosts\nwrote " + good + ": 14 hosts\nibkit mesh analyze: drain 2 hosts: want at most 1\n"
	if code != cmdutil.ExitFindings || !strings.HasPrefix(err, withheld) || strings.Count(out, "\ndrain: scontrol update NodeName=host000") != 2 {
		t.Errorf("got exit code %d, %s\n%s\nwant %s and 2 commands", code, err, out, withheld)
	}
	others := strings.Fields("01 02 03 04 05 06 07 08 11 12 13 14 15 16")
	for path, want := range map[string]string{exclude: "host[00009-00010]\n", good: "host000" + strings.Join(others, "\nhost000") + "\n"} {
		if got, err := os.ReadFile(path); err != nil || string(got) != want {
			t.Errorf("%s: got %q, %v, want %q", path, got, err, want)
		}
	}
	t.Setenv("PATH", dir)
	code, out, err = run(t, "analyze "+small+" --json --apply slurm --max-drain 2 "+file)
	if code != cmdutil.ExitFindings || strings.Count(err, "ibkit mesh analyze: drain host000") != 2 || strings.Count(err, "\nhint: run the printed command as a Slurm operator") != 1 || strings.Count(out, `"action":"failed"`) != 2 {
		t.Errorf("without scontrol: got exit code %d, %s\n%s", code, err, out)
	}
}

// Several rails are separate without a fabric: a slow adapter is not its host.
func TestMesh_HostsOnlyRails(t *testing.T) {
	const rails = "--sim rails:hosts=8,rails=4 --schedule rail"
	before := results(t, rails+" --seed 2")
	for fault, want := range map[string][]string{
		"host003/mlx5_1=60%": {"error: slow-cable host003 mlx5_1:", "warning: below-baseline host003 mlx5_1: 60 % of the bandwidth"},
		"host003=60%":        {"error: slow-node host003:", "warning: below-baseline host003 mlx5_3:"},
	} {
		t.Run(fault, func(t *testing.T) {
			code, out, _ := run(t, "analyze --hosts-only --baseline "+before+" "+results(t, rails+" --fault "+fault))
			if code != cmdutil.ExitFindings || strings.Count(out, "error: ") != 1 || !strings.Contains(out, "links and switches are not") {
				t.Errorf("got exit code %d and\n%s", code, out)
			}
			for _, text := range want {
				if !strings.Contains(out, text) {
					t.Errorf("got\n%s\nwant %q", out, text)
				}
			}
		})
	}
}

// Results of other programs with the same figures have the same verdict.
func TestMesh_Imports(t *testing.T) {
	for _, test := range []struct{ file, want string }{
		{"mpigraph.out", "error: slow-link leaf001[5]:"},
		{"superbench.jsonl", "error: slow-link leaf001[5]:"},
		{"clusterkit.json", "error: slow-link leaf001[5]:"},
	} {
		t.Run(test.file, func(t *testing.T) {
			code, out, err := run(t, "analyze "+small+" "+filepath.Join("testdata", test.file))
			if code != cmdutil.ExitFindings || strings.Count(out, "error: ") != 1 || !strings.Contains(out, test.want) || err != "" {
				t.Errorf("got exit code %d, %s\n%s\nwant %s", code, err, out, test.want)
			}
		})
	}
}

func TestMesh_ExitCodes(t *testing.T) {
	good := results(t, small)
	damaged := cmdtest.WriteFile(t, "src,dst,bandwidth_gbps\nhost00001,host00002,200\nhost00001,host00003,x\n")
	for _, test := range []struct {
		args string
		code int
		err  string
	}{
		{"", cmdutil.ExitUsage, "the fabric is not simulated"},
		{small, cmdutil.ExitOK, ""},
		{"--sim demo", cmdutil.ExitOK, "without figures: the link of leaf3[4] to node10[1] is not active (Initialize)\n"},
		{"--sim demo --plant 1", cmdutil.ExitOK, "planted: "},
		{"--sim demo --plant -1", cmdutil.ExitUsage, "want at least 0"},
		{"--sim demo --noise 51", cmdutil.ExitUsage, "want 0 to 50"},
		{"--sim demo --fault x", cmdutil.ExitUsage, `got "x", want SUBJECT=60%`},
		{"--sim demo --fault nosuch=60%", cmdutil.ExitUsage, "find name nosuch: no node has this name"},
		{"--sim demo --fault node01=0%", cmdutil.ExitUsage, "want a speed above 0%"},
		{"--sim demo --fault leaf1=hang", cmdutil.ExitUsage, "want a host"},
		{"--sim demo --schedule x", cmdutil.ExitUsage, `unknown schedule "x"`},
		{"--sim demo --schedule sift", cmdutil.ExitUsage, "hint: similar: shift\n"},
		{"plan --sim demo --schedule lopback", cmdutil.ExitUsage, "hint: similar: loopback\n"},
		{"--sim demo --schedule shift:3", cmdutil.ExitUsage, "has no number"},
		{"--sim demo --schedule random:0", cmdutil.ExitUsage, "want 1 to 65536"},
		{"--sim demo --json --format csv", cmdutil.ExitUsage, "mutually exclusive"},
		{"--sim demo --sm-port 1", cmdutil.ExitUsage, "has no effect"},
		{"plan --sim demo --sm-port 1", cmdutil.ExitUsage, "requires --from sa"},
		{"plan --sim demo --node nosuch*", cmdutil.ExitFailed, `find host "nosuch*": no host has a name or GUID like it`},
		{"analyze --sim demo --node [ " + good, cmdutil.ExitUsage, "invalid pattern"},
		{"nosuch", cmdutil.ExitUsage, `unknown command "nosuch"`},
		{"analyze " + small, cmdutil.ExitUsage, "no FILE given"},
		{"analyze " + small + " a b", cmdutil.ExitUsage, `unexpected argument "b"`},
		{"analyze " + small + " nosuch", cmdutil.ExitUsage, "ibkit mesh --sim demo > FILE"},
		{"analyze " + small + " -", cmdutil.ExitUsage, "standard input: got an empty file"},
		{"analyze " + small + " " + good, cmdutil.ExitOK, ""},
		{"analyze " + small + " --limit -1 " + good, cmdutil.ExitUsage, "want at least 0"},
		{"analyze " + small + " --from sa --node host* " + good, cmdutil.ExitOK, ""},
		{"analyze " + small + " " + damaged, cmdutil.ExitPartial, damaged + `:3: bandwidth_gbps: got "x", want a number`},
		{"analyze " + small + " --baseline " + good + " " + good, cmdutil.ExitOK, ""},
		{"analyze " + small + " --baseline nosuch " + good, cmdutil.ExitUsage, "invalid --baseline: read results: open nosuch"},
		{"analyze --from nosuch " + good, cmdutil.ExitUsage, "no such file"},
		{"analyze --from " + damaged + " " + good, cmdutil.ExitUsage, "want a saved routing"},
		{"analyze " + small + " --max-drain 2 " + good, cmdutil.ExitUsage, "--max-drain has no effect without --apply"},
		{"analyze " + small + " --apply slurm --max-drain 101% " + good, cmdutil.ExitUsage, `invalid --max-drain "101%": want a number of hosts, or 0% to 100%`},
		{"analyze " + small + " --apply slurm --max-drain 1.5 " + good, cmdutil.ExitUsage, `invalid --max-drain "1.5"`},
		{"analyze " + small + " --exclude-file /none/x " + good, cmdutil.ExitUsage, "/none/x"},
		{"plan --sim demo --schedule aware", cmdutil.ExitOK, ""},
		{"plan --sim demo --json --csv", cmdutil.ExitUsage, "mutually exclusive"},
		{"plan --sim demo --duration 2h", cmdutil.ExitUsage, "invalid --duration 2h0m0s"},
		{"plan --sim demo x", cmdutil.ExitUsage, `unexpected argument "x"`},
	} {
		t.Run(test.args, func(t *testing.T) {
			code, _, err := run(t, test.args)
			if code != test.code || !strings.Contains(err, test.err) || (err != "") != (test.err != "") {
				t.Errorf("got exit code %d, error output %q; want %d, %q", code, err, test.code, test.err)
			}
		})
	}
}

// Results of another fabric are no verdict on the hosts of either.
func TestMesh_OtherFabric(t *testing.T) {
	file := results(t, "--sim demo")
	const want = "ibkit mesh analyze: find the hosts of the results in the fabric: got node01, node02, node03 and 13 more, want hosts such as host00001, host00002, host00003 and 13 more\nhint: "
	for _, form := range []string{"", " --json", " --format map"} {
		t.Run(form, func(t *testing.T) {
			if code, out, err := run(t, "analyze "+small+form+" "+file); code != cmdutil.ExitFailed || out != "" || !strings.HasPrefix(err, want) {
				t.Errorf("got exit code %d, %q and error output %q, want %q", code, out, err, want)
			}
		})
	}
}

// Standard input has the results as a file has them.
func TestMesh_StandardInput(t *testing.T) {
	file := results(t, small+" --fault host00009=40%")
	_, want, _ := run(t, "analyze "+small+" "+file)
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var out, errOut strings.Builder
	env := &cmdutil.Env{In: bytes.NewReader(text), Out: &out, ErrOut: &errOut, Getenv: func(string) string { return "" }}
	args := append(strings.Fields("mesh analyze "+small), "-")
	if code := program(t.Context(), env, args); code != cmdutil.ExitFindings || out.String() != want || errOut.String() != "" {
		t.Errorf("got exit code %d, %s\n%s\nwant\n%s", code, errOut.String(), out.String(), want)
	}
}

// Pictures need no other file, and name the leaves and findings.
func TestMesh_Pictures(t *testing.T) {
	file := results(t, small+" --fault host00009=40% --fault leaf001[5]=50%")
	for format, begin := range map[string]string{"svg": "<svg ", "html": "<!DOCTYPE html>"} {
		t.Run(format, func(t *testing.T) {
			code, out, _ := run(t, "analyze --format "+format+" "+small+" "+file)
			if code != cmdutil.ExitFindings || !strings.HasPrefix(out, begin) || !strings.Contains(out, "leaf004</text>") || !strings.Contains(out, "slow-node host00009") {
				t.Errorf("got exit code %d and %.200s", code, out)
			}
			for _, outside := range []string{"src=", "<script", "<link", `href="http`} {
				if strings.Contains(out, outside) {
					t.Errorf("got %q, want no reference to other files", outside)
				}
			}
		})
	}
}

// TestPlan_Duration adds the times of a round: connecting 0.05 s, 0.01 s of latency, a warm-up of
// 0.2 s with the measured time, and 26 µs for each of 16 hosts.
func TestPlan_Duration(t *testing.T) {
	for args, want := range map[string]string{
		"--schedule shift":                                     "6.16s", // 15 × (0.05 + 0.01 + 0.05 + 0.2 + 0.1)
		"--schedule shift --metric latency":                    "906ms", // 15 × 0.06
		"--schedule shift --metric bandwidth --duration 1s":    "18.8s", // 15 × 1.25
		"--schedule congest --metric bandwidth --duration 1s":  "7.00s", // 4 × 1.25 and 2 × 1 with congestors
		"--schedule loopback --metric bandwidth --duration 1s": "1.25s",
	} {
		t.Run(args, func(t *testing.T) {
			if code, out, _ := run(t, "plan "+small+" "+args); code != cmdutil.ExitOK || !strings.Contains(out, "duration  about "+want+"\n") {
				t.Errorf("got exit code %d and\n%s\nwant about %s", code, out, want)
			}
		})
	}
}

// A plan is a schedule for the next run, with the same rounds.
func TestPlan_File(t *testing.T) {
	_, csv, _ := run(t, "plan --csv --schedule quick:3 "+small)
	file := cmdtest.WriteFile(t, csv)
	if _, got, _ := run(t, "plan --csv --schedule file:"+file+" "+small); got != csv {
		t.Errorf("got\n%s\nwant\n%s", got, csv)
	}
	if code, _, err := run(t, "plan --sim demo --schedule file:"+file); code != cmdutil.ExitFailed || !strings.Contains(err, "find host host00001: got 0 ports with this name, want 1") {
		t.Errorf("got exit code %d and %q, want an unknown host", code, err)
	}
}

// A run without findings has an empty list in JSON.
func TestSession_finish(t *testing.T) {
	var r mesh.Result
	if (&session{}).finish(&r); r.Findings == nil {
		t.Error("got no list of findings, want an empty one")
	}
}

// TestRun_Usage checks command lines that name neither a launcher nor a coordinator, and
// invalid ones.
func TestRun_Usage(t *testing.T) {
	for args, want := range map[string]string{
		"run --sim demo":                                         "no launcher started this process",
		"run":                                                    "no launcher started this process",
		"run --message-size 0":                                   `invalid --message-size "0": want 1 to 1G bytes`,
		"run --transport ud --op read":                           "read is not supported",
		"run --tx-depth 99999":                                   "tx-depth",
		"run --device mlx5_0:1":                                  `invalid --device "mlx5_0:1": want DEVICE or DEVICE/PORT`,
		"run --fault a=50%":                                      "--fault has no effect without --sim",
		"run --sim demo --events":                                "--events has no effect on a simulation",
		"run --duration 2s --iterations 5":                       "mutually exclusive",
		"run --duration 2h":                                      "invalid --duration 2h0m0s",
		"run --results /none/x":                                  "/none/x",
		"run --join head":                                        `invalid --join "head": want HOST:PORT`,
		"run --join head:1":                                      "no token: set IBKIT_MESH_TOKEN, or write it to the standard input",
		"run --join head:1 --hosts a":                            "mutually exclusive",
		"run --sim demo --hosts a[1-":                            `invalid --hosts: parse host list "a[1-": missing "]"`,
		"run --sim demo --hosts ,":                               "invalid --hosts: the list is empty",
		"run --sim demo --rank 4 --ranks 4 --rendezvous h:1":     "invalid --rank 4 with --ranks 4: want 0 to below --ranks",
		"run --sim demo --rank 0":                                "--rank has no effect without --ranks",
		"run --sim demo --rank 0 --ranks 2 --rendezvous h":       `invalid rendezvous "h": want HOST:PORT`,
		"run --sim demo --rank 1 --ranks 2 --rendezvous h:1":     "no token: set IBKIT_MESH_TOKEN to the same secret in all processes",
		"run --sim demo --hosts a --pace 2h":                     "invalid --pace 2h0m0s: want 0s to 1m0s",
		"run --sim demo --hosts a --join-timeout 0s":             "invalid --join-timeout 0s: want a time above 0",
		"serve --sim demo":                                       "--expect",
		"serve --sim demo --expect 0 --bind 127.0.0.1:0":         "invalid --expect 0: want 1 to 131072 workers, or a file",
		"serve --sim demo --expect /none --bind 127.0.0.1:0":     "invalid --expect: open /none",
		"serve --sim demo --expect /dev/null --bind 127.0.0.1:0": "invalid --expect /dev/null: the file has no names",
	} {
		t.Run(args, func(t *testing.T) {
			code, out, err := run(t, args)
			if out != "" || !strings.Contains(err, want) || code != cmdutil.ExitUsage && code != cmdutil.ExitFailed {
				t.Errorf("got exit code %d, %q and error output %q, want %q", code, out, err, want)
			}
		})
	}
}

// A launcher that passes an open standard input without a line does not hang the worker.
func TestRun_TokenTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in, writer := io.Pipe()
		defer writer.Close()
		var out, errOut strings.Builder
		env := &cmdutil.Env{In: in, Out: &out, ErrOut: &errOut, Getenv: func(string) string { return "" }}
		code := program(t.Context(), env, strings.Fields("mesh run --join head:18600 --join-timeout 5s"))
		const want = "ibkit mesh run: read the token: no line on the standard input within 5s\nhint: set IBKIT_MESH_TOKEN"
		if code != cmdutil.ExitFailed || !strings.HasPrefix(errOut.String(), want) {
			t.Errorf("got exit code %d and %q, want %q", code, errOut.String(), want)
		}
	})
}
