package doctor

import (
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ibkit/ibkit/internal/testenv"
	"github.com/ibkit/ibkit/report"
)

// hostOf returns the root of a recorded host with the modules that its device uses.
func hostOf(t *testing.T, name string, files map[string]string) string {
	t.Helper()
	all := map[string]string{"sys/module/ib_core/parameters/netns_mode": "Y", "sys/module/ib_uverbs/refcnt": "0", "proc/sys/kernel/hostname": "node1"}
	maps.Copy(all, files)
	root := testenv.WriteTree(t, all)
	class := filepath.Join(testenv.Host(t, name), "class")
	if err := os.Symlink(class, filepath.Join(root, "sys/class")); err != nil {
		t.Fatal(err)
	}
	return root
}

// An EFA has no management datagrams, no rdma_cm, no network device and no RoCE: this is no
// problem.
func TestEFA(t *testing.T) {
	root := hostOf(t, "efa", nil)
	for _, check := range []string{"modules", "devices", "netns", "ports", "links", "sm", "pkeys", "names", "gids", "routes", "lossless", "traffic", "iommu"} {
		t.Run(check, func(t *testing.T) {
			if got := problems(t, root, check); got != "" {
				t.Errorf("got %s, want no problem", got)
			}
		})
	}
	r, err := Run(t.Context(), Options{Root: root, Only: []string{"gids"}})
	if want := "index 0: fe80::4ff:51ff:fe00:1, the only GID: no rdma_cm, no IP address"; err != nil || len(r.Items) != 1 || r.Items[0].Found != want {
		t.Errorf("got %+v, error %v, want %s", r, err, want)
	}
}

// TestAdapters checks adapters without an RDMA device, in the files of their PCI functions.
func TestAdapters(t *testing.T) {
	const pci = "sys/bus/pci/devices/0000:41:00.0/"
	for _, test := range []struct {
		name, vendor, device, driver string
		modules                      []string
		want                         string // problem and commands
		kind                         report.Kind
		hint                         string // part of it
	}{
		{"EFA without driver", "0x1d0f", "0xefa2", "", nil, "error 0000:41:00.0: Elastic Fabric Adapter without a driver\n$ modprobe efa\n# echo efa >>/etc/modules-load.d/rdma.conf", report.MissingModule, ""},
		{"ENA without driver", "0x1d0f", "0xec20", "", nil, "", "", ""},
		{"bnxt_re not loaded", "0x14e4", "0x1750", "bnxt_en", nil,
			"note 0000:41:00.0: no RDMA device: bnxt_en is loaded, bnxt_re is not\n$ modprobe bnxt_re\n# echo bnxt_re >>/etc/modules-load.d/rdma.conf", report.MissingModule, ""},
		{"RoCE disabled in bnxt", "0x14e4", "0x1750", "bnxt_en", []string{"bnxt_re"}, "note 0000:41:00.0: no RDMA device, although bnxt_en and bnxt_re are loaded",
			report.RDMADisabled, "niccli nvm -setoption support_rdma -value 1"},
		{"RoCE disabled in ice", "0x8086", "0x1592", "ice", []string{"irdma"}, "note 0000:41:00.0: no RDMA device, although ice and irdma are loaded",
			report.RDMADisabled, "devlink dev param set pci/0000:41:00.0 name enable_roce value true cmode runtime"},
		{"X722", "0x8086", "0x37d0", "i40e", []string{"irdma"}, "note 0000:41:00.0: no RDMA device, although i40e and irdma are loaded",
			report.RDMADisabled, "devlink dev param show"},
		{"RoCE disabled in mlx5", "0x15b3", "0x1021", "mlx5_core", []string{"mlx5_ib"}, "note 0000:41:00.0: no RDMA device, although mlx5_core and mlx5_ib are loaded",
			report.RDMADisabled, "cmode driverinit; devlink dev reload pci/0000:41:00.0"},
	} {
		t.Run(test.name, func(t *testing.T) {
			files := map[string]string{pci + "class": "0x020000", pci + "vendor": test.vendor, pci + "device": test.device}
			if test.driver != "" {
				files[pci+"driver -> ../../drivers/"+test.driver] = ""
			}
			for _, m := range test.modules {
				files["sys/module/"+m+"/refcnt"] = "0"
			}
			root := hostOf(t, "efa", files)
			if got := problems(t, root, "modules"); got != test.want {
				t.Errorf("got\n%s\nwant\n%s", got, test.want)
			}
			r, err := Run(t.Context(), Options{Root: root, Only: []string{"modules"}})
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range r.Findings {
				if f.Kind != test.kind || !strings.Contains(f.Hint, test.hint) {
					t.Errorf("got %+v, want kind %s and hint %s", f, test.kind, test.hint)
				}
			}
		})
	}
}

// The mode of an adapter, and the firmware, have kinds of their own.
func TestDevices_Kinds(t *testing.T) {
	root := healthyHost(t)
	apply(t, root, change{
		"sys/class/infiniband/mlx5_0/node_type": "4: RNIC", "sys/devices/0000:10:00.0/driver -> ../../bus/pci/drivers/ice": "",
		"sys/class/infiniband/mlx5_1/fw_ver": "20.28.1002",
	})
	r, err := Run(t.Context(), Options{Root: root, Only: []string{"devices"}})
	if err != nil {
		t.Fatal(err)
	}
	var kinds []string
	for _, f := range r.Findings {
		kinds = append(kinds, f.Subject+" "+string(f.Kind))
	}
	if got, want := strings.Join(kinds, ", "), "mlx5_0 firmware-differs, mlx5_0 iwarp-mode, mlx5_1 firmware-differs"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
