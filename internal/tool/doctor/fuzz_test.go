package doctor

import "testing"

// FuzzFiles fuzzes the file parsers; files may come from another host.
func FuzzFiles(f *testing.F) {
	f.Add(healthy["proc/net/route"])
	f.Add("mlx5_0 hca_handle=2 hca_object=max\n\nmlx5_1 =")
	f.Add("0-3,8")
	f.Add("unlimited")
	f.Fuzz(func(t *testing.T, text string) {
		for _, r := range parseRoutes(text) {
			if !r.subnet.IsValid() || r.netdev == "" {
				t.Errorf("got invalid route %+v", r)
			}
		}
		for device, limits := range parseRDMALimits(text) {
			if device == "" || len(limits) == 0 {
				t.Errorf("got limits %v of device %q", limits, device)
			}
		}
		if overlap(text, "3-8") != overlap("3-8", text) {
			t.Error("overlap with 3-8 depends on the order")
		}
		if n, err := parseLimit(text); err != nil && n != 0 && n != unlimited {
			t.Errorf("got limit %d with error %v", n, err)
		}
	})
}
