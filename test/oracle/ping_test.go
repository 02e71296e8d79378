package oracle

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/ibkit/ibkit/test/ibsimtest"
)

// A pingFabric is a fabric with two hosts and a subnet administration.
type pingFabric struct {
	*ibsimtest.Sim
	server, client string
	lid, guid      string // server addresses
}

var portGUIDLine = regexp.MustCompile(`PortGuid:\.+(0x[0-9a-f]+)`)

// lookUp looks up the server addresses.
func (f *pingFabric) lookUp(t *testing.T) {
	t.Helper()
	f.lid = lidOf(t, f.Sim, f.server)
	m := portGUIDLine.FindStringSubmatch(f.MustRunC(t, f.server, "smpquery", "nodeinfo", "-D", "0").Stdout)
	if m == nil {
		t.Fatal("no port GUID")
	}
	f.guid = m[1]
}

// pingLines are ibping command lines. LID and GUID are replaced with the server's. A busy
// machine does not exceed the timeout.
var pingLines = []string{
	"-t 20000 -c 1 LID",
	"-t 20000 -f -c 100 LID",
	"-t 20000 -fc 20 -L LID",
	"--timeout=20000 --flood --cou=3 -G GUID",
	"-t 20000 -f -c 2 LID -o 0x1405",
	"-f -c 1 -t 20000 -o 0x1406 LID",
	"-f -c 2 -t 20000 0xbff0",
	"-c 0 LID",
	"-t 20000 -f -c 1 -v -P 1 LID",
	"-c 1 0",
	"-c 1 65535",
	"-c 1 -D 0,1",
	"-c",
	"--c=1 --no LID",
	"-h",
	"",
}

// pingTimes matches the times in the output, which differ between runs.
var pingTimes = regexp.MustCompile(`\d+\.\d{3}|time \d+ ms`)

func maskTimes(s string) string { return pingTimes.ReplaceAllString(s, "TIME") }

// A nativePing is an ibkit ping command line. LID, GUID and NAME are replaced with the
// server's.
type nativePing struct {
	line string
	code int
	want string
}

var nativePings = []nativePing{
	{"-f -c 50 LID", 0, ": pinging the ping server (--via vendor)"},
	{"-f -c 50 --via vendor --payload-size 128 --payload a5c3 LID", 0, "50 sent, 50 received, 0 lost, 0 late, 0 duplicated, 0 corrupted, "},
	{"-f -c 20 GUID", 0, "20 sent, 20 received, 0 lost, "},
	{"-f -c 20 gid:fe80::GROUPS", 0, "20 sent, 20 received, 0 lost, "},
	{"-f -c 20 --via vendor NAME", 0, "20 sent, 20 received, 0 lost, "},
	{"-c 5 -i 1ms LID GUID NAME", 0, "15 sent, 15 received, 0 lost, "},
	{"-f -c 20 --via pma LID", 0, "20 sent, 20 received, 0 lost, "},
	{"-f -c 20 --via sma LID GUID", 0, "40 sent, 40 received, 0 lost, "},
	{"-f -c 5 0,1", 0, "route 0,1: seq=4 time="},
	{"-f -c 2 -q --cas --switches --via sma", 0, " 0% loss"},
	{"-f -c 5 --json --histogram LID", 0, `"sent":5,"received":5,`},
	{"-f -c 5 --json-lines LID", 0, `"seq":4,"outcome":"received"`},
	{"-f -c 2 LID 0xbff0", 3, "2 lost"},
}

// pingNatively pings a server with ibkit ping command lines.
func pingNatively(t *testing.T, f *pingFabric, pings []nativePing) {
	t.Helper()
	schema, err := jsonschema.NewCompiler().Compile("../../schema/ping.json")
	if err != nil {
		t.Fatal(err)
	}
	digits := strings.TrimPrefix(f.guid, "0x")
	groups := strings.Join([]string{digits[:4], digits[4:8], digits[8:12], digits[12:]}, ":")
	put := strings.NewReplacer("LID", f.lid, "GUID", f.guid, "GROUPS", groups, "NAME", f.server)
	for _, test := range pings {
		t.Run(test.line, func(t *testing.T) {
			args := append([]string{"-t", "20000"}, strings.Fields(put.Replace(test.line))...)
			r := f.MustRun(t, f.client, ibkit(), append([]string{"ping"}, args...)...)
			if r.Code != test.code || !strings.Contains(r.Stdout, test.want) {
				t.Errorf("got exit code %d, want %d and %q:\n%s%s", r.Code, test.code, test.want, r.Stdout, r.Stderr)
			}
			if !strings.Contains(test.line, "--json") {
				return
			}
			for line := range strings.Lines(r.Stdout) {
				var document any
				if err := json.Unmarshal([]byte(line), &document); err != nil {
					t.Fatalf("ping %s: %v: %s", test.line, err, line)
				}
				if err := schema.Validate(document); err != nil {
					t.Errorf("%v\n%s", err, line)
				}
			}
		})
	}
}

// TestPing_Agent pings a simulator node, which answers itself, with both clients. Output
// and exit code must be equal except for times.
func TestPing_Agent(t *testing.T) {
	t.Parallel()
	f := &pingFabric{Sim: serveFabric(t, "--ping", "node05", "demo"), server: "node05", client: "node07"}
	f.lookUp(t)
	f.comparePings(t, 0, 1)
}

// comparePings pings the server with both clients, and natively. It is variant i of n.
func (f *pingFabric) comparePings(t *testing.T, i, n int) {
	t.Helper()
	for _, line := range ibsimtest.Share(pingLines, i, n) {
		args := strings.Fields(strings.NewReplacer("GUID", f.guid, "LID", f.lid).Replace(line))
		got := f.MustRun(t, f.client, native(), append([]string{"ibping"}, args...)...)
		want := f.MustRunC(t, f.client, "ibping", args...)
		if got.Code != want.Code || want.Code == 0 && maskTimes(got.Stdout) != maskTimes(want.Stdout) {
			t.Errorf("ibping %s: got exit code %d, want %d:\n%s%s\n%s", line, got.Code, want.Code, cmp.Diff(maskTimes(want.Stdout), maskTimes(got.Stdout)), want.Stderr, got.Stderr)
		}
		if want.Code == 2 && got.Stderr != want.Stderr {
			t.Errorf("ibping %s: %s", line, cmp.Diff(want.Stderr, got.Stderr))
		}
	}
	pingNatively(t, f, ibsimtest.Share(nativePings, i, n))
}
