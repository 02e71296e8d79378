package ping

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/ibkit/ibkit/cmd/internal/cmdtest"
	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/ping"
)

func TestPingServeJSON(t *testing.T) {
	f := cmdtest.ServeDemo(t)
	// systemd is notified when the server replies.
	systemd, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Net: "unixgram", Name: filepath.Join(t.TempDir(), "notify")})
	if err != nil {
		t.Fatal(err)
	}
	defer systemd.Close()
	r := program.Start(f.Env("node05", "NOTIFY_SOCKET", systemd.LocalAddr().String()), "ping", "--serve", "--json", "--debug")
	r.ErrOut.Await(t, "serving pings at ibsim (InfiniBand, LID "+f.LIDs["node05"]+")")
	b := make([]byte, 100)
	if n, err := systemd.Read(b); err != nil || string(b[:n]) != "READY=1" {
		t.Errorf("systemd is told %q, %v", b[:n], err)
	}
	if code, out, err := program.Run(t, f.Env("node07"), "ping", "--via", "vendor", "-c", "3", "-f", f.LIDs["node05"]); code != cmdutil.ExitOK {
		t.Errorf("got exit code %d, want 0: %s%s", code, out, err)
	}
	if code := r.End(); code != cmdutil.ExitOK {
		t.Errorf("exit code %d: %s", code, r.ErrOut)
	}
	cmdtest.CheckDocument(t, "../../schema/ping-serve.json", r.Out.String(), new(ping.ReportServe))
	for _, want := range []string{`"received":3,"answered":3`, `"lid":` + f.LIDs["node07"] + `,"gid":null`} {
		if !strings.Contains(r.Out.String(), want) {
			t.Errorf("%s is not in %s", want, r.Out)
		}
	}
	if n := strings.Count(r.ErrOut.String(), "msg=answered"); n != 3 {
		t.Errorf("%d lines in the log:\n%s", n, r.ErrOut)
	}
}

// A signal prints the counts so far.
func TestPingServeSignal(t *testing.T) {
	f := cmdtest.ServeDemo(t)
	r := program.Start(f.Env("node05"), "ping", "--serve", "--rate", "1")
	r.ErrOut.Await(t, "serving pings")
	program.Run(t, f.Env("node07"), "ping", "--via", "vendor", "-c", "3", "-f", "-t", "10", f.LIDs["node05"])
	// The client may have ended before the server came to its last ping.
	for !strings.Contains(r.Out.String(), ": 3 received") {
		before := strings.Count(r.Out.String(), " received, ")
		if err := syscall.Kill(os.Getpid(), syscall.SIGUSR1); err != nil {
			t.Fatal(err)
		}
		r.Out.AwaitMore(t, " received, ", before)
	}
	r.Out.Await(t, "SOURCE  PORT")
	r.Out.Await(t, "LID "+f.LIDs["node07"])
	if code := r.End(); code != cmdutil.ExitOK {
		t.Errorf("exit code %d: %s", code, r.ErrOut)
	}
	if n := strings.Count(r.Out.String(), ": 3 received, 1 answered, 2 limited, 0 dropped, 0 failed; 0 ignored, which are not pings\n"); n != 2 {
		t.Errorf("the counts are shown %d times:\n%s", n, r.Out)
	}
}

func TestPingServeUsage(t *testing.T) {
	for _, test := range []struct {
		args string
		want string
	}{
		{"4", "unexpected argument"},
		{"-c 3", "-c (--count) has no effect with --serve"},
		{"--via sma", "--via has no effect with --serve"},
		{"--rate 0", "invalid --rate"},
		{"--rate -1", "invalid --rate"},
		{"--rate NaN", "invalid --rate"},
		{"--rate Inf", "invalid --rate"},
		{"--oui 0x1000000", "24 bits"},
		{"--sim demo", "no other process can reach"},
	} {
		t.Run(test.args, func(t *testing.T) {
			code, out, err := program.Run(t, nil, append([]string{"ping", "--serve"}, strings.Fields(test.args)...)...)
			if code != cmdutil.ExitUsage || out != "" || !strings.Contains(err, test.want) {
				t.Errorf("got exit code %d, output %q, error output %q, want exit code %d and error %q", code, out, err, cmdutil.ExitUsage, test.want)
			}
		})
	}
	code, out, err := program.Run(t, nil, "ping", "--sim", "demo", "--debug", "3")
	if code != cmdutil.ExitUsage || out != "" || !strings.Contains(err, "has no effect without --serve") {
		t.Errorf("exit code %d: %s%s", code, out, err)
	}
}
