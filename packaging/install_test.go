//go:build packages

package packaging

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/ibkit/ibkit/test/debian"
)

// TestInstall installs the deb in a Debian as debootstrap makes it, runs it there
// by each classic name, and removes it.
func TestInstall(t *testing.T) {
	root := freshDebian(t)
	before := tree(t, root)
	deb, err := os.ReadFile(one(t, "ibkit_*_amd64.deb"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(root, "ibkit.deb"), deb, 0o644); err != nil {
		t.Fatal(err)
	}
	command(t, "chroot", root, "dpkg", "-i", "/ibkit.deb")
	if err := os.Remove(filepath.Join(root, "ibkit.deb")); err != nil {
		t.Fatal(err)
	}
	if group := command(t, "chroot", root, "getent", "group", "rdma"); !strings.HasPrefix(group, "rdma:") {
		t.Errorf("there is no group rdma: %q", group)
	}

	runClassicNames(t, root)

	command(t, "chroot", root, "dpkg", "--purge", "ibkit")
	after := tree(t, root)
	for _, path := range slices.Sorted(maps.Keys(after)) {
		if before[path] != after[path] {
			t.Errorf("%s is left or is another", path)
		}
	}
	for path := range before {
		if after[path] == "" {
			t.Errorf("%s is gone", path)
		}
	}
}

// runClassicNames runs each classic name in the package on the fabric demo and on a host
// without devices.
func runClassicNames(t *testing.T, root string) {
	t.Helper()
	// The output and the exit code for each run match the C tools.
	runs := map[string]struct {
		args []string
		want string
		code int
	}{
		"iblinkinfo":      {[]string{"--sim", "demo"}, `Switch: 0x[^!]*Could be`, 0},
		"ibcacheedit":     {nil, `original cache file not specified`, 255},
		"ibhosts":         {nil, `Ca\t: 0x0002c90000100300 ports 1 "node01"`, 0},
		"ibidsverify":     {nil, `^$`, 0},
		"ibnetdiscover":   {[]string{"-l"}, `Ca\t : 0x0002c90000100300 ports 1`, 0},
		"ibnodes":         {nil, `Switch\t: 0x0002c90000800200 ports 16 "leaf1"`, 0},
		"ibrouters":       {nil, `^$`, 0},
		"ibswitches":      {nil, `Switch\t: 0x0002c90000800200 ports 16 "leaf1"`, 0},
		"dump_fts":        {nil, `Unicast lids \[0x0-0x16\] of switch`, 0},
		"dump_lfts":       {nil, `Unicast lids \[0x0-0x16\] of switch`, 0},
		"dump_mfts":       {nil, `Multicast mlids \[0xc000-0xc3ff\] of switch`, 0},
		"ibroute":         {[]string{"3"}, `Unicast lids \[0x0-0x16\] of switch Lid 3`, 0},
		"ibtracert":       {[]string{"3", "4"}, `To ca .*"node01"`, 0},
		"perfquery":       {[]string{"3", "1"}, `# Port counters: Lid 3 port 1`, 0},
		"ibqueryerrors":   {nil, `## Summary: 22 nodes checked`, 1},
		"ibcheckerrors":   {nil, `## Summary: 22 nodes checked`, 0},
		"ibcheckerrs":     {[]string{"3", "1"}, `Error check on lid 3 \(leaf1\) port 1: .*FAILED`, 255},
		"ibclearcounters": {nil, `## Summary: 22 nodes cleared 1 errors`, 0},
		"ibclearerrors":   {nil, `## Summary: 22 nodes cleared 1 errors`, 0},
		"ibdatacounters":  {nil, `## Summary: 22 nodes checked`, 0},
		"ibdatacounts":    {[]string{"3", "1"}, `# Port counters: Lid 3 port 1`, 0},
		"ibswportwatch":   {[]string{"-n", "1", "-p", "1", "3", "1"}, `Checking counts`, 0},
		"ibaddr":          {[]string{"3"}, `GID fe80::.* LID start 0x3 end 0x3`, 0},
		"ibping":          {[]string{"-c", "1", "3"}, `1 packets transmitted`, 0},
		"ibccquery":       {[]string{"CI", "3"}, `CongestionInfo: Lid 3`, 0},
		"ibccconfig":      {[]string{"CK", "3", "0", "0", "0", "0"}, `^$`, 0},
		"ibportstate":     {[]string{"3", "3"}, `Peer PortInfo:`, 0},
		"ibsendtrap":      {nil, `^$`, 0},
		"ibsysstat":       {[]string{"-t", "5", "3"}, `ibsystat to Lid 3: Connection timed out`, 255},
		"saquery":         {[]string{"-L", "leaf1"}, `^3\n`, 0},
		"mcm_rereg_test":  {nil, `ERR: cannot open port_guids.list`, 0},
		"sminfo":          {nil, `SMINFO_MASTER`, 0},
		"smpdump":         {[]string{"3", "0x11"}, `0101 0210`, 0},
		"vendstat":        {[]string{"-i", "-t", "50", "3"}, `2 counter groups`, 0},
		"smpquery":        {[]string{"nodedesc", "3"}, `leaf1`, 0},
		"ibstat":          {nil, `CA 'sim0'`, 0},
		"ibstatus":        {nil, `Infiniband device 'sim0' port 1`, 0},
		"ibv_devices":     {nil, `Failed to get IB devices list`, 1},
		"ibv_asyncwatch":  {nil, `Failed to get IB devices list`, 1},
		"ib_atomic_bw":    {[]string{"-V"}, `Version: 6`, 1},
		"ib_atomic_lat":   {[]string{"-V"}, `Version: 6`, 1},
		"ib_read_bw":      {[]string{"-V"}, `Version: 6`, 1},
		"ib_read_lat":     {[]string{"-V"}, `Version: 6`, 1},
		"ib_send_bw":      {[]string{"-V"}, `Version: 6`, 1},
		"ib_send_lat":     {[]string{"127.0.0.1"}, `open device: this host has no RDMA device`, 1},
		"ib_write_bw":     {[]string{"-V"}, `Version: 6`, 1},
		"ib_write_lat":    {[]string{"-V"}, `Version: 6`, 1},
		"rping":           {nil, `rping -s \[-vVd\]`, 22},
		"cmtime":          {[]string{"-x"}, `usage: cmtime`, 1},
		"mckey":           {[]string{"-x"}, `usage: mckey`, 1},
		"rdma_client":     {[]string{"-x"}, `usage: rdma_client`, 1},
		"rdma_server":     {[]string{"-x"}, `usage: rdma_server`, 1},
		"rdma_xclient":    {[]string{"-x"}, `usage: rdma_xclient`, 1},
		"rdma_xserver":    {[]string{"-x"}, `usage: rdma_xserver`, 1},
		"ucmatose":        {[]string{"-x"}, `usage: ucmatose`, 1},
		"udaddy":          {[]string{"-x"}, `usage: udaddy`, 1},
		"udpong":          {[]string{"-x"}, `usage: udpong`, 1},
		"ibv_devinfo":     {nil, `Failed to get IB devices list`, 255},

		"ibv_rc_pingpong":   {nil, `Failed to get IB devices list`, 1},
		"ibv_srq_pingpong":  {nil, `Failed to get IB devices list`, 1},
		"ibv_uc_pingpong":   {nil, `Failed to get IB devices list`, 1},
		"ibv_ud_pingpong":   {nil, `Failed to get IB devices list`, 1},
		"ibv_xsrq_pingpong": {nil, `Failed to get IB devices list`, 1},
		"check_lft_balance": {nil, `Must specify dump lfts file`, 2},
		"ibfindnodesusing":  {[]string{"leaf1", "1"}, `\("leaf1" base\)  ==>>  0x`, 0},
	}
	names, err := os.ReadDir(filepath.Join(root, "usr/lib/ibkit/bin"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		run, has := runs[name.Name()]
		if !has {
			t.Errorf("there is no run of %s", name.Name())
			continue
		}
		delete(runs, name.Name())
		tool := exec.Command("chroot", append([]string{root, "/usr/lib/ibkit/bin/" + name.Name()}, run.args...)...)
		tool.Env = []string{"IBKIT_SIM=demo"}
		out, _ := tool.CombinedOutput()
		if code := tool.ProcessState.ExitCode(); code != run.code || !regexp.MustCompile(run.want).Match(out) {
			t.Errorf("%s %q: exit code %d\n%s", name.Name(), run.args, code, out)
		}
	}
	for name := range runs {
		t.Errorf("%s is not in the package", name)
	}
}

// freshDebian returns a copy of a Debian as small as debootstrap can make it.
func freshDebian(t *testing.T) string {
	t.Helper()
	made, err := debian.Bootstrap(t.Context(), debian.Bookworm.Name)
	if err != nil {
		t.Fatal(err)
	}
	root := t.TempDir()
	command(t, "cp", "-a", made+"/.", root)
	return root
}

// changing are the files that dpkg writes whatever it does, and the group files, because
// the group stays.
var changing = regexp.MustCompile(`^(var/lib/dpkg/(status|status-old|lock.*|triggers/.*|available.*)|var/log/.*|etc/g?(shadow|group)-?)$`)

// tree returns the mode and contents for each file below a root.
func tree(t *testing.T, root string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(root, path)
		if err != nil || changing.MatchString(name) {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		is := info.Mode().String()
		switch {
		case info.Mode().IsRegular():
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			is += fmt.Sprintf(" %x", sha256.Sum256(data))
		case info.Mode().Type() == fs.ModeSymlink:
			target, err := os.Readlink(path)
			if err != nil {
				return err
			}
			is += " " + target
		}
		files[name] = is
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// TestUnit verifies the package's units with systemd, and checks their exposure. In
// addition to the ping server's permissions, the exporter has network access.
func TestUnit(t *testing.T) {
	root := t.TempDir()
	command(t, "dpkg-deb", "--extract", one(t, "ibkit_*_amd64.deb"), root)
	// The units and the program that it depends on come from the host.
	command(t, "sh", "-c", `cp /usr/lib/systemd/system/*.target "$0/usr/lib/systemd/system" && mkdir -p "$0/bin" && cp /bin/kill "$0/bin"`, root)
	for unit, exposure := range map[string]string{"ibkit-ping.service": "15", "ibkit-ping-mesh.service": "20", "ibkit-exporter.service": "20"} {
		if out := command(t, "systemd-analyze", "verify", "--man=no", "--root="+root, unit); out != "" {
			t.Errorf("systemd-analyze verify:\n%s", out)
		}
		command(t, "systemd-analyze", "security", "--offline=true", "--threshold="+exposure, "--root="+root, unit)
	}
}
