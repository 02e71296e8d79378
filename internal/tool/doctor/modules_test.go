package doctor

import (
	"testing"

	"github.com/ibkit/ibkit/devinfo"
)

// A device without dma-bufs needs the module of the GPU's driver.
func TestGPUMemory(t *testing.T) {
	for _, test := range []struct {
		name  string
		able  *bool
		want  Verdict
		found string // of the check devices
	}{
		{"able", new(true), Note, "mlx5, dma-buf"},
		{"unable", new(false), Warning, "mlx5, no dma-buf"},
		{"unknown", nil, Note, "mlx5"},
	} {
		t.Run(test.name, func(t *testing.T) {
			h := &host{root: t.TempDir(), devices: &devinfo.Result{Devices: []*devinfo.Device{
				{Name: "mlx5_0", Driver: new("mlx5"), Extended: &devinfo.Extended{DMABuf: test.able}},
			}}}
			if got := h.gpuMemory(); got.Verdict != test.want {
				t.Errorf("got %+v, want verdict %s", got, test.want)
			}
			if items := checkDevices(t.Context(), h); len(items) != 1 || items[0].Found != test.found {
				t.Errorf("got devices %+v, want %q", items, test.found)
			}
		})
	}
}
