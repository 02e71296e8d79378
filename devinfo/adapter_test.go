package devinfo

import (
	"maps"
	"os"
	"path/filepath"
	"testing"

	"github.com/ibkit/ibkit/internal/testenv"
	"github.com/ibkit/ibkit/verbs"
)

// The PCI IDs name the adapters of drivers without hca_type; names of the host are preferred.
func TestRun_Model(t *testing.T) {
	for _, test := range []struct{ host, names, want string }{
		{"efa", "", "Elastic Fabric Adapter 1"},
		{"irdma", "", "E810-C QSFP"},
		{"bnxt", "", "BCM57508 NetXtreme-E (Thor)"},
		{"bnxt", "\n14e4  Broadcom\n\t1750  BCM57508 of the host\n", "BCM57508 of the host"},
		{"mlx4", "", ""},
	} {
		t.Run(test.host+test.want, func(t *testing.T) {
			r, err := Run(t.Context(), Options{Sysfs: testenv.Host(t, test.host), PCINames: []byte(test.names)})
			if err != nil {
				t.Fatal(err)
			}
			got := ""
			if m := r.Devices[0].Model; m != nil {
				got = *m
			}
			if got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

// The driver ice has the parameters of the module irdma.
func TestRun_ParametersOfIRDMA(t *testing.T) {
	root := testenv.Host(t, "irdma")
	dir := filepath.Join(root, "module/irdma/parameters")
	if err := os.MkdirAll(dir, 0o750); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"roce_ena": "1\n", "limits_sel": "3\n", "dbg_opt": "0\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	r, err := Run(t.Context(), Options{Sysfs: root})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := r.Devices[0].Parameters, (map[string]string{"roce_ena": "1", "limits_sel": "3"}); !maps.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// A device without a PCI function has the IDs in its attributes.
func TestDevice_addModel(t *testing.T) {
	var problems []error
	d := &Device{Name: "irdma0", Attr: &verbs.DeviceAttr{VendorID: 0x8086, VendorPartID: 0x1593}}
	if d.addModel(Options{Sysfs: t.TempDir()}, &problems); d.Model == nil || *d.Model != "E810-C SFP" || len(problems) > 0 {
		t.Errorf("got %v, problems %v, want E810-C SFP", d.Model, problems)
	}
}
