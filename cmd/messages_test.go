package cmd

import (
	"bytes"
	"iter"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ibkit/ibkit/cmd/internal/cmdtest"
	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/internal/testenv"
)

// internals matches parts of a message that only readers of the source understand.
var internals = regexp.MustCompile(`strconv|Parse[A-Z]|\bparsing "|invalid syntax|value out of range|%!|<nil>|\bnil\b|main\.|runtime error|goroutine|\*[a-z]+\.[A-Z]|0xc000[0-9a-f]{6}|open ""|bufio\.|invalid argument "[^"]*" for`)

// badValues are values that most flags reject.
func badValues(t *testing.T) []string {
	return []string{"", "x", "-1", "0", "1.5", "99999999999999999999999", "0x", "a,b,,c", "é\x1b[31m", "-", "/", t.TempDir(), cmdtest.WriteFile(t, "\x00\xffbad\n1 2 3\n")}
}

// badFabrics are files with mistakes.
var badFabrics = []string{
	"", "\x00", "x\n", "Switch 8 \"S\"\n[1] \"H\"[x]\n", "Switch 99999999999 \"S\"\n", "switchguid=0xzz\nSwitch 8 \"S-1\"\n",
	"Switch 8 \"S\"\n[99999] \"H\"[1]\n", "Switch 8 \"S\"\n[1] \"S\"[1]\n",
	"{", "{}", "[]", `{"schema":5}`, `{"schema":"ibkit/linkinfo/4","nodes":5}`, `{"schema":"ibkit/linkinfo/4","nodes":[{"node_guid":"zz"}]}`,
	`{"schema":"ibkit/linkinfo/4","nodes":[{"node_guid":"0x1","lid":99999999,"ports":[{"port":"x"}]}]}`,
	"50ms flap leaf1[999]\n", "xx flap leaf1[1]\n", "@-1 down node06\n", "1s counter leaf1[1] SymbolErrorCounter zz\n", "1s down nosuch\n",
	"0x1 \"a\n", "0xzz \"a\"\n", "Port=y\n", "timeout=99999999999\n", "m_key=x\n", "sm_lid=70000\n", "7-5\n", "0,x\n", "0xc000\n", "::zz\n",
	strings.Repeat("a", 1<<17), "\x2b\x83\xe7\x8f\x00\x00\x00\x00",
}

// badLine is a command line with a mistake.
type badLine struct {
	env  map[string]string
	args []string
}

// badLines returns command lines of all commands: each flag with some bad values, bad
// operands, and bad environment variables.
func badLines(t *testing.T) (lines []badLine) {
	all := badValues(t)
	flag := 0
	some := func() []string { // a quarter of the values, another one for each flag
		flag++
		var values []string
		for i := flag % 4; i < len(all); i += 4 {
			values = append(values, all[i])
		}
		return values
	}
	add := func(args ...string) { lines = append(lines, badLine{args: args}) }
	var native func(path []string, c *cobra.Command)
	native = func(path []string, c *cobra.Command) {
		for _, sub := range c.Commands() {
			native(append(slices.Clone(path), sub.Name()), sub)
		}
		if !c.Runnable() {
			return
		}
		for _, v := range all {
			add(append(slices.Clone(path), v)...)
		}
		c.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if f.NoOptDefVal != "" {
				add(append(slices.Clone(path), "--"+f.Name+"=x")...)
				return
			}
			for _, v := range some() {
				add(append(slices.Clone(path), "--"+f.Name+"="+v)...)
				add(append(slices.Clone(path), "--sim=demo", "--"+f.Name+"="+v, "77")...)
			}
		})
	}
	env := &cmdutil.Env{Out: &bytes.Buffer{}, ErrOut: &bytes.Buffer{}, Getenv: func(string) string { return "" }}
	for _, name := range slices.Sorted(maps.Keys(registry)) {
		e := registry[name]
		if e.command != nil {
			native([]string{name}, e.command(env))
			continue
		}
		for _, v := range all {
			add(name, v)
			add(name, "--sim=demo", v)
		}
		for _, o := range e.tool(env).Options {
			option := "--" + o.Long
			if o.Long == "" {
				option = "-" + string(o.Short)
			}
			for _, v := range some() {
				if o.Arg != "" {
					add(name, option, v)
					add(name, "--sim=demo", option, v, "77")
				} else {
					add(name, option, v)
				}
			}
		}
	}
	for _, text := range badFabrics {
		file := cmdtest.WriteFile(t, text)
		add("linkinfo", "--sim", file)
		add("linkinfo", "--from", file)
		add("linkinfo", "--sim", "demo", "--sim-events", file)
		add("linkinfo", "--sim", "demo", "--node-name-map", file)
		add("linkinfo", "--sim", "demo", "--config", file)
		add("addr", "--sim", "demo", "--targets-file", file)
		add("ping", "--sim", "demo", "--expect", file)
		add("sim", "export", file)
	}
	for _, host := range testenv.Hosts(t) {
		root := testenv.Host(t, host)
		for _, args := range [][]string{
			{"linkinfo", "-C", "", "-P", "7"}, {"linkinfo", "-C", "mlx5_9"}, {"linkinfo", "-P", "9"}, {"addr", "-C", "mlx5_0", "-P", "9"},
			{"ping", "-C", "x", "3"}, {"devinfo", "mlx5_9"}, {"devinfo", ""}, {"ibstat", "mlx5_9"}, {"ibstat", "mlx5_0", "x"}, {"ibstatus", "mlx5_0:x"},
			{"ibv_devinfo", "-d", ""}, {"ibv_devinfo", "-i", "9"}, {"iblinkinfo", "-P", "7"}, {"ibaddr", "-C", "", "-P", "7"},
		} {
			lines = append(lines, badLine{map[string]string{"IBKIT_SYSFS": root}, args})
		}
	}
	for _, name := range []string{"IBKIT_SIM", "IBKIT_SYSFS", "IBSIM_SOCKNAME", "IBSIM_SERVER_PORT", "IBSIM_SERVER_NAME", "SIM_HOST"} {
		for _, v := range all {
			for _, args := range [][]string{{"linkinfo"}, {"linkinfo", "--sim", "ibsim"}, {"addr", "3"}, {"devinfo"}, {"iblinkinfo"}, {"ibstat"}, {"ibstatus"}, {"ibv_devinfo"}} {
				lines = append(lines, badLine{map[string]string{name: v}, args})
			}
		}
	}
	return lines
}

// share is the part of the command lines that [TestMessages] runs, 1 of so many, without
// [testenv.AllCases]. Flags have a few values each, so it has no common factor with their number.
const share = 5

// TestMessages checks the messages after mistakes: they have neither names of Go's
// functions nor, from native commands, control characters.
func TestMessages(t *testing.T) {
	t.Chdir(t.TempDir()) // for files with names such as -1
	lines := badLines(t)
	t.Chdir(t.TempDir()) // some values are names of files to be written
	if len(lines) < 500 {
		t.Fatalf("got %d command lines, want at least 500", len(lines))
	}
	if !testenv.AllCases() {
		lines = slices.Collect(every(lines, share))
	}
	t.Logf("%d command lines", len(lines))
	t.Chdir(t.TempDir()) // some operands are names of output files
	sysfs := filepath.Join(t.TempDir(), "sysfs")
	var group sync.WaitGroup
	next := make(chan badLine)
	for range 16 { // commands that wait for replies take little of a processor
		group.Go(func() {
			for line := range next {
				checkMessage(t, line, sysfs)
			}
		})
	}
	for _, line := range lines {
		next <- line
	}
	close(next)
	group.Wait()
}

// every returns one of n elements.
func every[T any](all []T, n int) iter.Seq[T] {
	return func(yield func(T) bool) {
		for i := 0; i < len(all) && yield(all[i]); i += n {
		}
	}
}

func checkMessage(t *testing.T, line badLine, sysfs string) {
	getenv := func(name string) string {
		if value, ok := line.env[name]; ok || name != "IBKIT_SYSFS" {
			return value
		}
		return sysfs
	}
	var stdout, stderr bytes.Buffer
	e := &cmdutil.Env{In: strings.NewReader(""), Out: &stdout, ErrOut: &stderr, Getenv: getenv}
	code := run(testenv.UntilSoon(t), e, line.args) // some lines are valid
	text := stderr.String()
	if m := internals.FindString(text); m != "" {
		t.Errorf("%v %q: got %q in the message, want a description\n%s", line.env, line.args, m, text)
	}
	if registry[line.args[0]].command != nil && strings.Contains(text, "\x1b") {
		t.Errorf("%v %q: got a control character in the message, want it escaped\n%q", line.env, line.args, text)
	}
	if code != 0 && text == "" && stdout.Len() == 0 {
		t.Errorf("%v %q: got exit code %d without a message", line.env, line.args, code)
	}
}
