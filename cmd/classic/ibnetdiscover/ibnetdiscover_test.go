package ibnetdiscover

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/ibkit/ibkit/cmd/internal/cmdtest"
)

var (
	program = cmdtest.Classic(New)
	date    = regexp.MustCompile(`generated on .*`)
)

func TestIbnetdiscover_Views(t *testing.T) {
	for name, args := range map[string]string{
		"topology": "", "grouping": "-g -f -m", "list": "-l", "ports": "-p", "show": "-s -R",
	} {
		t.Run(name, func(t *testing.T) {
			code, out, err := program.Run(t, nil, append([]string{"ibnetdiscover", "--sim", "net:../../../test/nets/chassis.net"}, strings.Fields(args)...)...)
			if code != 0 || err != "" {
				t.Errorf("got exit code %d, error output %q", code, err)
			}
			cmdtest.Golden(t, name+".golden", date.ReplaceAllString(out, "generated on DATE"))
		})
	}
}

func TestIbnetdiscover_Arguments(t *testing.T) {
	dir := t.TempDir()
	_, all, _ := program.Run(t, nil, "ibnetdiscover", "--sim", "demo", "--cache", filepath.Join(dir, "cache"), "-l")
	for _, test := range []struct {
		args, out, err string
		code           int
	}{
		{"-l", all, "", 0},
		{"--load-cache {dir}/cache -l", all, "", 0},
		{"--diff {dir}/cache", "", "", 0},
		{"{dir}/no/file", "ibnetdiscover: iberror: failed: can't open file {dir}/no/file for writing\n", "no such file", 255},
		{"--load-cache {dir}/no", "ibnetdiscover: iberror: failed: loading cached fabric failed\n\n", "no such file", 255},
		{"--diff {dir}/no", "ibnetdiscover: iberror: failed: loading cached fabric for diff failed\n\n", "no such file", 255},
		{"--cache {dir}/no/file -R", "ibnetdiscover: iberror: failed: caching ibnetdiscover data failed\n\n", "no such file", 255},
		{"--diffcheck port,x", "", "invalid diff check key: x", 2},
		{"-G", "", "invalid option -- 'G'", 2},
	} {
		t.Run(test.args, func(t *testing.T) {
			expand := strings.NewReplacer("{dir}", dir)
			args := append([]string{"ibnetdiscover"}, strings.Fields(expand.Replace(test.args))...)
			code, out, err := program.Run(t, map[string]string{"IBKIT_SIM": "demo"}, args...)
			if want := expand.Replace(test.out); code != test.code || out != want || !strings.Contains(err, test.err) {
				t.Errorf("got exit code %d, output\n%s\nerror output %q, want %d, output\n%s\nerror output with %q", code, out, err, test.code, want, test.err)
			}
		})
	}
}
