package gpu

import (
	"context"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ibkit/ibkit/devinfo"
	"github.com/ibkit/ibkit/internal/pcie"
	"github.com/ibkit/ibkit/internal/testenv"
	"github.com/ibkit/ibkit/report"
)

// newHost writes a GPU and an adapter below a switch and returns the root and the devices.
func newHost(t *testing.T) (string, []*devinfo.Device) {
	t.Helper()
	const up = "devices/pci0000:00/0000:00:01.0/"
	files := map[string]string{}
	for dir, class := range map[string]string{up: "0x060400", up + "0000:01:00.0/": "0x030200", up + "0000:01:00.1/": "0x020700"} {
		address := filepath.Base(dir)
		for name, text := range map[string]string{
			"class": class, "vendor": "0x10de", "current_link_speed": "2.5 GT/s PCIe", "max_link_speed": "32.0 GT/s PCIe",
			"current_link_width": "16", "max_link_width": "16", "aer_dev_correctable": "TOTAL_ERR_COR 4",
			"resource": "0x00000000e0000000 0x00000000efffffff 0x0000000000140204",
		} {
			files[dir+name] = text
		}
		files["bus/pci/devices/"+address+" -> ../../../"+filepath.Clean(dir)] = ""
	}
	return testenv.WriteTree(t, files), []*devinfo.Device{{Name: "mlx5_0", PCI: &devinfo.PCI{Address: "0000:01:00.1"}}}
}

// A GPU works for a part of the window, and a link has errors.
func TestSample(t *testing.T) {
	root, devices := newHost(t)
	write := func(address, name, text string) {
		if err := os.WriteFile(filepath.Join(root, "bus/pci/devices", address, name), []byte(text+"\n"), 0o600); err != nil {
			t.Error(err)
		}
	}
	synctest.Test(t, func(t *testing.T) {
		topology := Read(root, devices)
		if g := topology.GPUs[0]; g.BAR != 256<<20 || len(g.Direct) != 1 || len(topology.Findings) == 0 || topology.Findings[0].Kind != report.SmallBAR {
			t.Errorf("got %+v, findings %+v, want a small BAR and direct transfers", g, topology.Findings)
		}
		before := len(topology.Findings)
		time.AfterFunc(3*time.Second, func() { write("0000:01:00.0", "current_link_speed", "32.0 GT/s PCIe") })
		time.AfterFunc(5*time.Second, func() {
			write("0000:01:00.0", "current_link_speed", "8.0 GT/s PCIe")
			write("0000:00:01.0", "aer_dev_correctable", "TOTAL_ERR_COR 6")
			write("0000:01:00.1", "aer_dev_fatal", "TOTAL_ERR_FATAL 1")
		})
		if err := topology.Sample(t.Context(), root, 10*time.Second); err != nil {
			t.Fatal(err)
		}
		if got := *topology.GPUs[0].Speed; got != "32.0 GT/s PCIe" || *topology.Window != 10 {
			t.Errorf("got speed %s, window %v, want the highest", got, *topology.Window)
		}
		if got, want := *topology.Bridges[0].Increase, (pcie.AER{Correctable: 2}); got != want {
			t.Errorf("got increase %+v, want %+v", got, want)
		}
		var found []string
		for _, f := range topology.Findings[before:] {
			found = append(found, f.String())
		}
		want := []string{
			"error: pcie-errors mlx5_0: PCIe errors of 0000:01:00.1 within 10s: 0 correctable, 0 non-fatal, 1 fatal",
			"warning: pcie-errors GPU0, mlx5_0: PCIe errors of 0000:00:01.0 within 10s: 2 correctable, 0 non-fatal, 0 fatal",
		}
		if len(found) != 2 || found[0] != want[0] || found[1] != want[1] {
			t.Errorf("got findings %q, want %q", found, want)
		}
	})
}

func TestSample_Interrupted(t *testing.T) {
	root, devices := newHost(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := Read(root, devices).Sample(ctx, root, time.Hour); !errors.Is(err, context.Canceled) {
		t.Errorf("got error %v, want %v", err, context.Canceled)
	}
}

// The drawing is well-formed and has each function once, with red for findings.
func TestWriteSVG(t *testing.T) {
	root, devices := newHost(t)
	var out strings.Builder
	if err := Read(root, devices).WriteSVG(&out); err != nil {
		t.Fatal(err)
	}
	d := xml.NewDecoder(strings.NewReader(out.String()))
	count := map[string]int{}
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("%v\n%s", err, out.String())
		}
		if e, is := token.(xml.StartElement); is {
			count[e.Name.Local]++
		}
	}
	if count["rect"] != 4 || count["path"] != 3 { // host bridge, root port, GPU, adapter
		t.Errorf("got %v, want 4 boxes with 3 lines\n%s", count, out.String())
	}
	for _, want := range []string{
		`fill="#f5c6c0" stroke="#888"/><text x="74" y="76" xml:space="preserve">GPU0  0000:01:00.0  x16/x16 2.5 GT/s PCIe  PIX to mlx5_0<`,
		`fill="#f5c6c0" stroke="#888"/><text x="74" y="102" xml:space="preserve">mlx5_0  0000:01:00.1  x16/x16 2.5 GT/s PCIe<`,
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("got no %s in\n%s", want, out.String())
		}
	}
}
