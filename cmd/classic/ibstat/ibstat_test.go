package ibstat

import (
	"bytes"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ibkit/ibkit/cmd/internal/cmdtest"
	"github.com/ibkit/ibkit/cmd/internal/render"
	"github.com/ibkit/ibkit/devinfo"
)

var program = cmdtest.Classic(New)

func TestRun_Hosts(t *testing.T) { program.RunOnHosts(t, "ibstat", "ibstat -p") }

func TestRun_NoDevices(t *testing.T) {
	env := map[string]string{"IBKIT_SYSFS": t.TempDir()}
	for _, test := range []struct {
		line, out, err string
		code           int
	}{
		{"ibstat", "", "", 0},
		{"ibstat -l", "", "", 0},
	} {
		t.Run(test.line, func(t *testing.T) {
			code, out, err := program.Run(t, env, strings.Fields(test.line)...)
			if code != test.code || out != test.out || err != test.err {
				t.Errorf("got exit code %d, output %q, error output %q, want %d, %q, %q", code, out, err, test.code, test.out, test.err)
			}
		})
	}
}

// writeSysfs writes files below class/infiniband and returns the root of sysfs.
func writeSysfs(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for name, text := range files {
		path := filepath.Join(root, "class/infiniband", name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

// adapter returns the files of a device with one port.
func adapter(name string) map[string]string {
	files := map[string]string{"node_type": "1: CA", "node_guid": "0002:c903:0000:0001", "sys_image_guid": "0002:c903:0000:0003"}
	for file, text := range map[string]string{
		"lid_mask_count": "0", "sm_lid": "0x1", "sm_sl": "0", "lid": "0x7", "state": "4: ACTIVE", "phys_state": "5: LinkUp", "rate": "100 Gb/sec (4X EDR)",
		"cap_mask": "0x02514868", "link_layer": "InfiniBand", "gids/0": "fe80:0000:0000:0000:0002:c903:0000:0002", "pkeys/0": "0xffff",
	} {
		files["ports/1/"+file] = text
	}
	for file, text := range maps.Clone(files) {
		delete(files, file)
		files[name+"/"+file] = text
	}
	return files
}

// TestRun_BadDevice checks that ibstat goes on after a device that it cannot read, as
// infiniband-diags 65 does (ibstat.c, ca_stat).
func TestRun_BadDevice(t *testing.T) {
	const warning = "main: stat of IB device 'bad' failed\n"
	for _, test := range []struct {
		name    string
		remove  []string
		add     map[string]string
		line    string
		warning string
	}{
		{"no LID", []string{"ports/1/lid"}, nil, "ibstat", warning},
		{"no GID, but a connection manager", []string{"ports/1/gids/0"}, map[string]string{"ports/1/cap_mask": "0x00010000"}, "ibstat", warning},
		{"no endpoint", []string{"ports/1/gids/0"}, map[string]string{"ports/1/cap_mask": "0x02504868"}, "ibstat", ""},
		{"no such port", nil, nil, "ibstat bad 7", "ca_stat: CA: 'bad' has no port number 7 - max (1)\nibwarn: [pid] " + warning},
	} {
		t.Run(test.name, func(t *testing.T) {
			files := adapter("bad")
			for _, name := range test.remove {
				delete(files, "bad/"+name)
			}
			for name, text := range test.add {
				files["bad/"+name] = text
			}
			maps.Copy(files, adapter("good"))
			code, out, err := program.Run(t, map[string]string{"IBKIT_SYSFS": writeSysfs(t, files)}, strings.Fields(test.line)...)
			if test.warning != "" {
				test.warning = "ibwarn: [pid] " + test.warning
			}
			if got := strings.ReplaceAll(err, fmt.Sprintf("[%d]", os.Getpid()), "[pid]"); code != 0 || got != test.warning {
				t.Errorf("got exit code %d, %q, want 0, %q", code, got, test.warning)
			}
			if len(strings.Fields(test.line)) == 1 && (!strings.HasPrefix(out, "CA 'good'\n") || strings.Contains(out, "bad")) {
				t.Errorf("got\n%s", out)
			}
		})
	}
}

func TestView_EffectiveSpeed(t *testing.T) {
	files := adapter("mlx5_0")
	r, err := devinfo.Run(t.Context(), devinfo.Options{Sysfs: writeSysfs(t, files), Brief: true, SysfsOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	for want, speed := range map[string]uint64{"\t\tRate: 100\n\t\tEffective speed: 62.5\n\t\tBase lid: 7\n": 625, "\t\tEffective speed: 800\n": 8000, "\t\tRate: 100\n\t\tBase lid: 7\n": 0} {
		t.Run(fmt.Sprint(speed), func(t *testing.T) {
			var out bytes.Buffer
			closed := false
			v := view{out: render.NewOutput(&out), port: -1, speeds: func(string) (func(uint32) (uint64, error), func()) {
				return func(port uint32) (uint64, error) {
					if speed == 0 || port != 1 {
						return 0, fs.ErrNotExist
					}
					return speed, nil
				}, func() { closed = true }
			}}
			if ok := v.device(r.Devices[0]); !ok || v.out.Flush() != nil || !closed || !strings.Contains(out.String(), want) {
				t.Errorf("got, device closed: %v\n%s\nwant %q in it", closed, &out, want)
			}
		})
	}
}
