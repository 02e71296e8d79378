package cmd

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/ibkit/ibkit/cmd/internal/cmdtest"
	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/umad"
	"github.com/ibkit/ibkit/umad/umadtest"
)

// queries are command lines that must not change the fabric: all options that select what
// is read.
var queries = []string{
	"linkinfo", "linkinfo --json --attributes", "linkinfo --port-guid 0x0002c90000800200", "linkinfo --counters", "linkinfo --from sa",
	"topology", "topology --check", "topology --format dot", "topology --json", "topology --nodes",
	"counters --all", "counters --all --data --details --vl", "counters leaf1", "counters --json", "counters --reset errors --dry-run leaf4",
	"route node01 node07", "route --json 4 11", "check routes", "check routes --json", "check fabric", "check fabric --only sm,firmware,pkeys,counters --json", "routes", "routes --multicast", "routes --balance",
	"query PortInfo 3 all", "query CongestionInfo 3", "query PortCounters 3 1", "query P_KeyTable 4", "query SwitchInfo 3", "query LinearForwardingTable 3",
	"query CongestionLog 3", "query PortInfo leaf1 3 --sa",
	"sa NodeRecord", "sa PathRecord from=4 to=11", "sa LinkRecord", "sa MCMemberRecord", "sa ServiceRecord", "sa InformInfoRecord",
	"sm --sm-wait 1ms", "sm --sm-wait 1ms 4", "sm --sm-wait 1ms --source sa", "sm --set disable --dry-run 4", "sm --set disable --yes 4", "sm --set handover --yes 4",
	"ping --via sma -c 2 --interval 1ms 3", "ping --via pma -c 2 --interval 1ms 3", "ping --via vendor -c 1 --timeout 20 11",
	"addr", "addr --all-ports leaf1", "addr node07", "addr 4-9",
	"doctor", "exporter --once", "exporter --once --detail-counters fec,errors,discards --names guilbaults",
	"watch --sources links,counters --for 1ms", "top --once --interval 1ms", "top --once --interval 1ms node01 node07",
	"port leaf1 3", "port node01", "port --dry-run leaf1 1 disable", "port --dry-run node02 reset mtu=2048", "port --yes leaf1 1 enable",
	"phy --sim optics", "phy --sim optics --down --devices --alarms",
	"linkinfo --phy", "counters --phy", "exporter --once --phy", "top --once --interval 1ms --phy leaf1/1", "topology --format db_csv --phy", "check fabric --phy --only cables,temperature,power,ber",
	"mesh", "mesh plan", "mesh plan --schedule aware --json",
	"cc", "cc --show ports,sls,cct", "cc --json", "cc --settings cc/testdata/cc.conf --dry-run",

	"iblinkinfo", "ibnetdiscover -p", "ibhosts", "ibswitches", "ibrouters", "ibnodes", "ibidsverify -R",
	"ibaddr 3", "ibping -t 5 -c 1 -f 11", "ibsysstat -t 5 11", "ibstat", "ibstatus",
	"perfquery 3 1", "perfquery -x 3 1", "perfquery -a 3", "perfquery -c 3 1", "perfquery --xmtdisc 3 1",
	"ibqueryerrors -t 5", "ibqueryerrors -t 5 --details --counters", "ibcheckerrors -t 5", "ibcheckerrs 3 1", "ibdatacounters -t 5", "ibdatacounts 3 1", "ibswportwatch -n 1 -p 1 3 1",
	"smpquery pi 3 1", "smpquery -D ni 0,1", "smpquery pkeys 4", "smpdump 3 0x11", "sminfo", "sminfo 4 0", "ibccquery CI 3", "ibccquery CL 3", "ibccquery SP 3",
	"saquery", "saquery PR", "saquery LR", "saquery -g",
	"ibroute 3", "dump_fts", "dump_lfts", "dump_mfts", "ibtracert 4 11", "ibfindnodesusing 0x0002c90000800200 1", "vendstat -t 5 -N 3", "vendstat -t 5 -R 0 3", "ibportstate 3 3", "ibportstate -D 0,1 1 query", "ibportstate 3 1 on",
}

// changes are command lines that change the fabric: the test transport must reject them.
var changes = []string{
	"port --yes leaf1 1 disable", "port --yes --force mismatch leaf1 1 mtu=2048", "ibportstate 3 1 disable", "ibportstate 3 1 mtu 4",
	"counters --reset errors --yes leaf4", "perfquery -R 3 1", "perfquery -r 3 1", "ibqueryerrors -t 5 -k", "ibclearcounters -t 5", "ibclearerrors -t 5", "vendstat -t 5 -W 1,2 3",
	"sm --set disable --yes --force only-manager 4", "sminfo 4 3", "cc --settings cc/testdata/cc.conf --yes", "ibccconfig CK 3 1 0 0 0", "ibsendtrap", "ibsendtrap mkey_lid", "trap send capabilities", "mcm_rereg_test classic/mcmreregtest/testdata/members.list",
}

// Each command that changes a fabric is in the documentation.
func TestReadOnly_Documented(t *testing.T) {
	text, err := os.ReadFile("../docs/security.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range changes {
		name, _, _ := strings.Cut(line, " ")
		if registry[name].command != nil {
			name = "ibkit " + name
		}
		if !regexp.MustCompile("(?m)^  \\|.*`" + name + "[ `]").Match(text) {
			t.Errorf("docs/security.md does not list %s", name)
		}
	}
}

// subscriptions are command lines whose only packets that are not queries subscribe to
// notices, which changes subnet administration but no port.
var subscriptions = []string{"trap --count 1", "trap --trap in-service --for 1s"}

// withoutPackets are commands that send no packets, or data of tests only.
var withoutPackets = []string{
	"cm", "completion", "devinfo", "link", "perf", "sim", "version", "check_lft_balance", "ibcacheedit", "ibv_asyncwatch", "ibv_devices", "ibv_devinfo",
	"cmtime", "mckey", "rdma_client", "rdma_server", "rdma_xclient", "rdma_xserver", "rping", "ucmatose", "udaddy", "udpong",
	"ib_atomic_bw", "ib_atomic_lat", "ib_read_bw", "ib_read_lat", "ib_send_bw", "ib_send_lat", "ib_write_bw", "ib_write_lat",
	"ibv_rc_pingpong", "ibv_srq_pingpong", "ibv_uc_pingpong", "ibv_ud_pingpong", "ibv_xsrq_pingpong",
}

// runReadOnly runs a command line on a port that rejects changes, and returns the rejected
// packets.
func runReadOnly(t *testing.T, line string) (rejected []string, output string) {
	t.Helper()
	env := map[string]string{"IBKIT_SIM": "demo", "IBKIT_SYSFS": t.TempDir()}
	sent := 0
	var out, errOut bytes.Buffer
	e := &cmdutil.Env{In: strings.NewReader(""), Out: &out, ErrOut: &errOut, Getenv: func(k string) string { return env[k] }}
	e.Transport = func(p umad.Port) umad.Port {
		sent++
		return &umadtest.ReadOnlyPort{Port: p, Rejected: func(m *umad.Message) {
			rejected = append(rejected, fmt.Sprintf("%v %s", m.MAD.Method(), m.MAD.Class().AttrName(m.MAD.Attr())))
		}}
	}
	cmdtest.OutsideBubbles()
	synctest.Test(t, func(t *testing.T) { run(t.Context(), e, strings.Fields(line)) })
	if sent == 0 && !strings.HasPrefix(line, "doctor") {
		t.Errorf("no port was opened: %s%s", &out, &errOut)
	}
	return rejected, out.String() + errOut.String()
}

// Queries send no packet that may change the fabric.
func TestReadOnly(t *testing.T) {
	covered := map[string]bool{}
	for _, name := range withoutPackets {
		covered[name] = true
	}
	for _, line := range queries {
		name, _, _ := strings.Cut(line, " ")
		covered[name] = true
		t.Run(line, func(t *testing.T) {
			if rejected, output := runReadOnly(t, line); len(rejected) > 0 {
				t.Errorf("got %v\n%s", rejected, output)
			}
		})
	}
	for _, line := range subscriptions {
		name, _, _ := strings.Cut(line, " ")
		covered[name] = true
		t.Run(line, func(t *testing.T) {
			rejected, output := runReadOnly(t, line)
			if slices.ContainsFunc(rejected, func(r string) bool { return r != "Set InformInfo" }) || len(rejected) == 0 {
				t.Errorf("got %v, want subscriptions\n%s", rejected, output)
			}
		})
	}
	for _, line := range changes {
		name, _, _ := strings.Cut(line, " ")
		covered[name] = true
		t.Run(line, func(t *testing.T) {
			if rejected, output := runReadOnly(t, line); len(rejected) == 0 {
				t.Errorf("got no rejected packet\n%s", output)
			}
		})
	}
	for _, name := range slices.Sorted(maps.Keys(registry)) {
		if !covered[name] {
			t.Errorf("%s has no command line in this test", name)
		}
	}
}
