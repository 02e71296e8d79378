//go:build oracle

package docs

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// perftestLines are values and combinations of options. Each program gets each line, so
// that most contain options of other programs.
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

// TestPerftestLines compares which command lines the programs accept, without a device:
// both projects parse the line before they look for one.
func TestPerftestLines(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	sysfs := t.TempDir()
	const device = "-d none 127.0.0.1"
	for _, program := range perftestPrograms {
		t.Run(program, func(t *testing.T) {
			path, err := exec.LookPath(program)
			if err != nil {
				t.Fatal(err)
			}
			for _, line := range perftestLines {
				t.Run(line, func(t *testing.T) {
					args := strings.Fields(line + " " + device)
					theirs := exec.Command(path, args...)
					theirs.Dir = t.TempDir()
					their, _ := theirs.CombinedOutput() // exit code 1
					ours := exec.Command(self, args...)
					ours.Args[0], ours.Env = program, append(os.Environ(), "IBKIT_SYSFS="+sysfs)
					our, _ := ours.CombinedOutput()
					want := strings.Contains(string(their), "IB device none not found") || strings.Contains(string(their), "Did not detect devices")
					if got := strings.Contains(string(our), "no RDMA device"); got != want {
						t.Errorf("got accepted %v, want %v\n%s\n%s", got, want, our, their)
					}
					if line == "" && !want {
						t.Errorf("got an error of perftest without options:\n%s", their)
					}
				})
			}
		})
	}
}
