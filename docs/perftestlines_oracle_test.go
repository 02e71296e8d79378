//go:build oracle

package docs

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/ibkit/ibkit/test/ibsimtest"
)

// perftestLines are option values and combinations. Each program gets each line, so that
// most lines contain options for other programs.
var perftestLines = []string{
	"", "-a", "-A CMP_AND_SWAP", "-A ADD", "-b", "-c RC", "-c UC", "-c UD", "-c XRC", "-c XX", "-C", "-e", "-F", "-g", "-H", "-U", "-N", "-R", "-z",
	"-D 1", "-D 0", "-D 2 -f 1", "-D 3 -f 1", "-D 4 -f 2", "-D 5 -a", "-D 5 -e", "-D 3 --cpu_util", "--cpu_util", "-f -1",
	"-i 1", "-i 0", "-I 64", "-I -1", "-l 1", "-l 2", "-l 3", "-l 3 -n 99", "-l 8 -Q 3 -n 80", "-l 8 -Q 4 -n 80", "-l 2000 -n 4000", "-L 64", "-L 3",
	"-m 1024", "-n 4", "-n 5", "-n abc", "-n 100000000", "-o 1", "-q 1", "-q 2", "-q 0", "-q 16385", "-Q 1", "-Q 0", "-Q 1025",
	"-r 1", "-r 2", "-r 0", "-r 16384", "-r 16385", "-s 8", "-s 64", "-s 64K", "-s 1M", "-s 0x40", "-s 0", "-s 2147483648", "-S 15", "-S 16",
	"-t 1", "-t 64", "-t 0", "-t 15001", "-T 3", "-T 3 -R", "-T 256 -R", "-u 15", "-w 1", "-w 0", "-w -1", "-y 0", "-y -1", "-W counters/x",
	"-x 1", "-x -1", "-X 0", "-X 0 -e", "-X 2049 -e", "-c UC -R", "-c XRC -R", "-g -R", "-g -b", "-g -q 2", "-c UC --odp", "--odp", "--use-srq", "--use-srq -q 8 -r 4",
	"--comm_rdma_cm", "--disable_pcie_relaxed", "--dlid 1", "--dont_xchg_versions", "--force-link IB", "--force-link token", "--inline_recv 4", "--ipv6",
	"--latency_gap 10", "--latency_gap 0", "--latency_gap -1", "--mr_per_qp", "--out_json", "--out_json_file x", "--output bandwidth", "--output message_rate", "--output latency", "--output x",
	"--perform_warm_up", "--pkey_index 0", "--recv_post_list 1", "--recv_post_list 5", "--recv_post_list 3", "--report-both", "--report_gbits", "--report-histogrm", "--report-cycles",
	"--report-unsorted", "--retry_count 3", "--reversed", "--run_infinitely", "--run_infinitely -e", "--run_infinitely -b", "--source_ip 127.0.0.1", "--tclass 3", "--use_hugepages", "--use_old_post_send", "--wait_destroy 1",
	"--burst_size 0", "--burst_size 3", "--burst_size -1", "--rate_limit 10", "--rate_limit 2.5", "--rate_limit 7", "--rate_limit 0", "--rate_limit 10 --rate_limit_type HW", "--rate_limit 10 --rate_limit_type SW",
	"--rate_limit 10 --rate_limit_type SW -b", "--rate_limit 10 --rate_limit_type PP", "--rate_limit 10 --rate_units p", "--rate_limit 10 -R", "--rate_units g", "--rate_units x", "--rate_limit_type HW",
	"--siz 64", "--report_g", "--out_j", "--re", "--nonsense", "-9", "-n", "-n100", "-Fx1", "--iters=100", "x y",
}

// pingpongPrograms are the libibverbs examples that ibkit replaces.
var pingpongPrograms = []string{"ibv_rc_pingpong", "ibv_uc_pingpong", "ibv_ud_pingpong", "ibv_srq_pingpong", "ibv_xsrq_pingpong"}

// pingpongLines are option values and combinations for these programs.
var pingpongLines = []string{
	"", "-p 0", "-p 65536", "-p -1", "-p abc", "-i 1", "-i -1", "-s 0", "-s 1", "-s -1", "-s abc", "-m 0", "-m 1024", "-m 1500", "-r 0", "-r 500", "-n 0", "-n 10", "-l 15", "-e", "-g 0", "-g -1",
	"-c", "-c 3", "-q 0", "-q 4", "-q 255", "-q 256", "-q 600", "-q -1", "-q 4 -r 2", "-r 3", "-o", "-P", "-N", "--nonsense", "-9", "-p", "x y",
	"--port=18600", "--po 18600", "--it 3", "--ev", "--chk", "--num_tests 3", "--clients 2", "--rx-depth 30", "--num-qp 2", "--gid-idx 1", "--sl 3", "--ib-port 1", "--odp",
}

// TestPingpongLines_Debian compares which command lines the programs accept, without a device.
func TestPingpongLines_Debian(t *testing.T) {
	noDevice := []string{"Failed to get IB devices list", "IB device none not found", "No IB devices found"}
	for i, program := range pingpongPrograms {
		t.Run(program, func(t *testing.T) { compareLines(t, program, ibsimtest.Share(pingpongLines, i, 3), noDevice, noDevice) })
	}
}

// TestPerftestLines_Debian compares which command lines the programs accept, without a
// device: both projects parse the line before they look for a device.
func TestPerftestLines_Debian(t *testing.T) {
	theirs := []string{"IB device none not found", "Did not detect devices"}
	for i, program := range perftestPrograms {
		t.Run(program, func(t *testing.T) {
			compareLines(t, program, ibsimtest.Share(perftestLines, i, 4), theirs, []string{"no RDMA device"})
		})
	}
}

// compareLines compares which lines Debian's program and ibkit accept: both then print a
// known text about the device.
func compareLines(t *testing.T, program string, lines, theirs, ours []string) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	path, err := exec.LookPath(program)
	if err != nil {
		t.Fatal(err)
	}
	sysfs := t.TempDir()
	for _, line := range lines {
		t.Run(line, func(t *testing.T) {
			args := strings.Fields(line + " -d none 127.0.0.1")
			debian := ibsimtest.Command(t, path, args...)
			debian.Dir = t.TempDir()
			their, _ := debian.CombinedOutput() // exit code 1
			ibkit := ibsimtest.Command(t, self, args...)
			ibkit.Args[0], ibkit.Env = program, append(os.Environ(), "IBKIT_SYSFS="+sysfs)
			our, _ := ibkit.CombinedOutput()
			want := containsAny(string(their), theirs)
			if got := containsAny(string(our), ours); got != want {
				t.Errorf("got accepted %v, want %v\n%s\n%s", got, want, our, their)
			}
			if line == "" && !want {
				t.Errorf("got an error of %s without options:\n%s", program, their)
			}
		})
	}
}

func containsAny(text string, parts []string) bool {
	return slices.ContainsFunc(parts, func(part string) bool { return strings.Contains(text, part) })
}
