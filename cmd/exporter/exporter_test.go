package exporter

import (
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/ibkit/ibkit/cmd/internal/cmdtest"
	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/internal/testenv"
)

var program = cmdtest.Native(New)

// TestOnce prints the metrics of one sweep.
func TestOnce(t *testing.T) {
	for _, test := range []struct {
		line string
		code int
		want []string // lines
		not  string
	}{
		{"--sim single-switch:hosts=2", cmdutil.ExitOK, []string{
			`infiniband_switch_info{guid="0x0002c90000800200",lid="3",switch="switch1"} 1`,
			`infiniband_hca_port_transmit_wait_total{guid="0x0002c90000100001",hca="host001",port="1",switch="switch1"} 0`,
			`infiniband_exporter_collect_errors{collector="switch"} 0`,
			`ibkit_port_fec_uncorrectable_blocks_total{guid="0x0002c90000100001",node="host001",port="1"} 0`,
			`ibkit_sweeps_total{result="complete"} 1`,
		}, "mapping_errors|hca_port_state|vl15_dropped.*hca=|raw_rate|collect_timeout{.*guid|rate_ratio|fec_corr"},
		{"--sim single-switch:hosts=2 --all-metrics", cmdutil.ExitOK, []string{
			`infiniband_hca_port_state{guid="0x0002c90000100001",hca="host001",port="1",switch="switch1"} 1`,
			`infiniband_hca_port_vl15_dropped_total{guid="0x0002c90000100001",hca="host001",port="1",switch="switch1"} 0`,
			`infiniband_hca_collect_timeout{collector="hca",guid="0x0002c90000100001"} 0`,
			`ibkit_port_rate_ratio{guid="0x0002c90000100001",node="host001",port="1"} 1`,
			`ibkit_port_fec_correctable_blocks_total{guid="0x0002c90000100001",node="host001",port="1"} 0`,
		}, "mapping_errors"},
		{"--sim single-switch:hosts=2 --switches --detail-counters none", cmdutil.ExitOK, []string{`ibkit_sweep_nodes 1`}, "infiniband_hca_up|fec"},
		{"--sim single-switch:hosts=2 --node host001 --detail-counters errors", cmdutil.ExitOK, []string{
			`infiniband_hca_port_dlid_mapping_errors_total{guid="0x0002c90000100001",hca="host001",port="1",switch="switch1"} 0`,
		}, "infiniband_switch_up|fec"},
		{"--sim single-switch:hosts=2 --names guilbaults", cmdutil.ExitOK, []string{
			`infiniband_width{component="ca",local_guid="0x0002c90000100001",local_name="host001",local_port="1",remote_guid="0x0002c90000800200",remote_name="switch1",remote_port="1"} 4`,
			`infiniband_scrape_ok 1`,
		}, "infiniband_switch_up"},
		{"--sim demo", cmdutil.ExitPartial, []string{`ibkit_sweeps_total{result="partial"} 1`}, ""},
	} {
		t.Run(test.line, func(t *testing.T) {
			code, out, errOut := program.Run(t, nil, append([]string{"exporter", "--once"}, strings.Fields(test.line)...)...)
			warned := strings.Contains(errOut, "the link is not active")
			if code != test.code || warned != (test.code == cmdutil.ExitPartial) || !warned && errOut != "" {
				t.Errorf("got exit code %d, want %d: %s", code, test.code, errOut)
			}
			for _, line := range test.want {
				if !strings.Contains(out, "\n"+line+"\n") {
					t.Errorf("got no %s", line)
				}
			}
			if found := regexp.MustCompile(test.not).FindString(out); test.not != "" && found != "" {
				t.Errorf("got %s", found)
			}
		})
	}
}

// TestLocal prints the counters of hosts.
func TestLocal(t *testing.T) {
	for _, host := range []string{"mlx5-ib", "mlx5-roce", "rxe", "hfi1"} {
		t.Run(host, func(t *testing.T) {
			env := map[string]string{"IBKIT_SYSFS": testenv.Host(t, host)}
			for _, flags := range [][]string{{"--local"}, {"--names", "node"}} {
				code, out, errOut := program.Run(t, env, append([]string{"exporter", "--once"}, flags...)...)
				if code != cmdutil.ExitOK {
					t.Fatalf("got exit code %d: %s", code, errOut)
				}
				node := regexp.MustCompile(`(?m)^node_.*\n`).FindAllString(out, -1)
				cmdtest.Golden(t, host+".golden", strings.Join(node, ""))
			}
		})
	}
	code, _, errOut := program.Run(t, map[string]string{"IBKIT_SYSFS": t.TempDir()}, "exporter", "--local", "--once")
	if code != cmdutil.ExitFailed || !strings.Contains(errOut, "the host has no RDMA device") {
		t.Errorf("no device: got exit code %d: %s", code, errOut)
	}
}

// TestTextfile writes the metrics to a file, once and on a schedule.
func TestTextfile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ibkit.prom")
	code, out, errOut := program.Run(t, nil, "exporter", "--sim", "single-switch", "--once", "--textfile", path)
	text, err := os.ReadFile(path)
	if code != cmdutil.ExitOK || out != "" || err != nil || !strings.Contains(string(text), "\ninfiniband_switch_up{") {
		t.Errorf("got exit code %d, %q, %v, and\n%s%s", code, out, err, text, errOut)
	}
	if strings.Contains(string(text), "\ngo_") {
		t.Error("got metrics of the process, which node_exporter has, too")
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	r := program.Start(nil, "exporter", "--sim", "single-switch", "--listen", "127.0.0.1:0", "--textfile", path, "--interval", "10ms")
	scrape(t, r, `ibkit_sweeps_total{result="complete"} 9`)
	if code := r.End(); code != cmdutil.ExitOK {
		t.Errorf("got exit code %d: %s", code, r.ErrOut)
	}
	if _, err := os.Stat(path); err != nil {
		t.Error(err)
	}
}

// TestTextfile_Unwritable ends at the start if the file cannot be written, and counts and
// prints later errors, once.
func TestTextfile_Unwritable(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "dir")
	path := filepath.Join(dir, "ibkit.prom")
	for _, flags := range []string{"--once", "--listen=127.0.0.1:0"} {
		code, out, errOut := program.Run(t, nil, "exporter", "--sim", "single-switch", flags, "--textfile", path)
		if code != cmdutil.ExitFailed || out != "" || !strings.Contains(errOut, path+": no such file or directory") {
			t.Errorf("%s: got exit code %d, %q and %s", flags, code, out, errOut)
		}
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	r := program.Start(nil, "exporter", "--sim", "single-switch", "--listen", "127.0.0.1:0", "--textfile", path, "--interval", "10ms")
	scrape(t, r, "ibkit_textfile_write_errors_total 0")
	if err := os.Rename(dir, dir+"-moved"); err != nil {
		t.Fatal(err)
	}
	scrape(t, r, "ibkit_textfile_write_errors_total 3")
	if err := os.Rename(dir+"-moved", dir); err != nil {
		t.Fatal(err)
	}
	r.ErrOut.Await(t, "writing metrics to "+path+" again")
	if code := r.End(); code != cmdutil.ExitOK || strings.Count(r.ErrOut.String(), "no such file") != 1 {
		t.Errorf("got exit code %d: %s", code, r.ErrOut)
	}
}

// TestNode_Missing fails for a node that is not there, with --once; later it may be there.
func TestNode_Missing(t *testing.T) {
	code, out, errOut := program.Run(t, nil, "exporter", "--once", "--sim", "single-switch", "--node", "switch1,nosuch")
	if code != cmdutil.ExitFailed || out != "" || !strings.Contains(errOut, "nosuch: no node has this name") {
		t.Errorf("got exit code %d, %q and %s", code, out, errOut)
	}
	r := program.Start(nil, "exporter", "--sim", "single-switch", "--node", "nosuch", "--listen", "127.0.0.1:0", "--interval", "10ms")
	scrape(t, r, `ibkit_sweeps_total{result="complete"} 5`)
	if code := r.End(); code != cmdutil.ExitOK || strings.Count(r.ErrOut.String(), "no node has this name") != 1 {
		t.Errorf("got exit code %d: %s", code, r.ErrOut)
	}
}

// scrape scrapes until the metrics have a line.
func scrape(t *testing.T, r *cmdtest.Running, line string) {
	t.Helper()
	await(t, r, "/metrics", line)
}

// await requests a path until the response has a text.
func await(t *testing.T, r *cmdtest.Running, path, want string) (text string) {
	t.Helper()
	r.ErrOut.Await(t, "\n")
	at := regexp.MustCompile(`serving metrics at (\S+)`).FindStringSubmatch(r.ErrOut.String())
	if at == nil {
		t.Fatalf("got %s", r.ErrOut)
	}
	for {
		response, err := http.Get("http://" + at[1] + path)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(response.Body)
		_ = response.Body.Close()
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(body), want) {
			return string(body)
		}
	}
}

// TestReload reads the files again at SIGHUP: an invalid file is reported and changes no value.
func TestReload(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	const guid = "0x0002c90000800200"
	args := []string{
		"exporter", "--sim", "single-switch:hosts=2", "--listen", "127.0.0.1:0", "--interval", "10ms",
		"--node-name-map", write("names", guid+" before\n"), "--threshold-file", write("thresholds", "SymbolErrorCounter=1\n"),
		"--config", write("conf", ""), "--web-config", write("web", ""),
	}
	r := program.Start(nil, args...)
	hangup := func(text string, before int) {
		t.Helper()
		if err := syscall.Kill(os.Getpid(), syscall.SIGHUP); err != nil {
			t.Fatal(err)
		}
		r.ErrOut.AwaitMore(t, text, before)
	}
	scrape(t, r, `switch="before"} 1`)
	write("names", guid+" after\n")
	hangup("reloaded all files", 0)
	scrape(t, r, `switch="after"} 1`)
	for _, file := range []struct{ name, invalid, valid, want string }{
		{"thresholds", "nosuch=1\n", "", "ibkit exporter: reload files: read thresholds: "},
		{"conf", "nosuch=1\n", "", "ibkit exporter: reload files: read config: "},
		{"web", "nosuch: 1\n", "", "ibkit exporter: reload files: read web configuration: "},
		{"names", "nosuch\n", guid + " last\n", "ibkit exporter: reload files: read node name map: "},
	} {
		write("names", guid+" unused\n")
		write(file.name, file.invalid)
		hangup(file.want, 0)
		write(file.name, file.valid) // the server reads the web configuration at each request
		scrape(t, r, `switch="after"} 1`)
	}
	hangup("reloaded all files", 1)
	scrape(t, r, `switch="last"} 1`)
	if code := r.End(); code != cmdutil.ExitOK || strings.Contains(r.ErrOut.String(), "unused") {
		t.Errorf("got exit code %d: %s", code, r.ErrOut)
	}
}

// TestServe_Failed goes on when sweeps fail.
func TestServe_Failed(t *testing.T) {
	env := map[string]string{"IBKIT_SIM": "ibsim", "IBSIM_SOCKNAME": "none-" + t.Name()}
	r := program.Start(env, "exporter", "--listen", "127.0.0.1:0", "--interval", "10ms")
	scrape(t, r, `ibkit_sweeps_total{result="failed"} 3`)
	if code := r.End(); code != cmdutil.ExitOK || !strings.Contains(r.ErrOut.String(), "sweep failed") {
		t.Errorf("got exit code %d: %s", code, r.ErrOut)
	}
}

// TestUsage checks that wrong command lines and files are reported with exit code 2.
func TestUsage(t *testing.T) {
	config := cmdtest.WriteFile(t, "\nbasic_auth_user:\n  a: b\n")
	for line, want := range map[string]string{
		"--listen 9315":                        `invalid --listen "9315": want HOST:PORT`,
		"--once --listen :0":                   "--once and --listen are mutually exclusive",
		"--once --interval 1s":                 "--once and --interval are mutually exclusive",
		"--interval 0s":                        "invalid --interval 0s: want a time above 0",
		"--sweep-timeout -1s":                  "invalid --sweep-timeout -1s: want a time above 0",
		"--max-age 0s":                         "invalid --max-age 0s: want a time above 0",
		"--names other":                        "want one of treydock, guilbaults, node",
		"--local --names guilbaults":           "--local has the names of node_exporter, and excludes --names guilbaults",
		"--local --sim demo":                   "the ports of this host (--local, --names node) and --sim are mutually exclusive",
		"--names node --detail-counters fec":   "are mutually exclusive",
		"--local --phy":                        "the ports of this host (--local, --names node) and --phy are mutually exclusive",
		"--vs-key 1":                           "--vs-key has no effect without --phy",
		"--detail-counters all":                "want one of fec, errors, discards, none",
		"--textfile x.prom --web-config x.yml": "--web-config has no effect without --listen",
		"--web-config " + config:               config + `:2: web configuration: unknown key "basic_auth_user"`,
		"--web-config none.yml":                "none.yml: no such file or directory",
		"--node [":                             `invalid pattern "["`,
		"extra":                                `unexpected argument "extra"`,
	} {
		t.Run(line, func(t *testing.T) {
			code, out, err := program.Run(t, map[string]string{"IBKIT_SYSFS": t.TempDir()}, append([]string{"exporter"}, strings.Fields(line)...)...)
			if code != cmdutil.ExitUsage || out != "" || !strings.Contains(err, want) {
				t.Errorf("got exit code %d, %q and %q, want %d and %q", code, out, err, cmdutil.ExitUsage, want)
			}
		})
	}
	code, _, err := program.Run(t, nil, "exporter", "--sim", "demo", "--listen", "192.0.2.1:1")
	if code != cmdutil.ExitFailed || !strings.Contains(err, "hint: select another address") {
		t.Errorf("address of another host: got exit code %d and %q", code, err)
	}
}
