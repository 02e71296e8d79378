package ib

import "testing"

func TestSpeed(t *testing.T) {
	for _, tt := range []struct {
		s             Speed
		name, classic string
		max           Speed
		gbps, nominal float64
	}{
		{0, "none", "", 0, 0, 0},
		{SDR | DDR | QDR, "SDR,DDR,QDR", "10.0 Gbps", QDR, 10, 10},
		{FDR10, "FDR10", "10.0 Gbps (FDR10)", FDR10, 10.3125, 10},
		{FDR, "FDR", "14.0625 Gbps", FDR, 14.0625, 14},
		{EDR | SDR, "SDR,EDR", "25.78125 Gbps", EDR, 25.78125, 25},
		{HDR, "HDR", "53.125 Gbps", HDR, 53.125, 50},
		{NDR, "NDR", "106.25 Gbps", NDR, 106.25, 100},
		{XDR | NDR, "NDR,XDR", "212.5 Gbps", XDR, 212.5, 200},
		{SDR | 0x600, "SDR,0x600", "2.5 Gbps", SDR, 2.5, 2.5},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.s.String() != tt.name || tt.s.Classic() != tt.classic || tt.s.Max() != tt.max {
				t.Errorf("got %q, %q, %v, want %q, %q, %v", tt.s, tt.s.Classic(), tt.s.Max(), tt.name, tt.classic, tt.max)
			}
			if tt.s.LaneGbps() != tt.gbps || tt.s.NominalGbps() != tt.nominal {
				t.Errorf("got %v and %v Gb/s, want %v and %v", tt.s.LaneGbps(), tt.s.NominalGbps(), tt.gbps, tt.nominal)
			}
		})
	}
	if XDR != 256 {
		t.Errorf("XDR: got %d, want the kernel's IB_SPEED_XDR, 256", XDR)
	}
	if !(SDR | NDR).Has(NDR) || SDR.Has(SDR|DDR) {
		t.Error("Has: got the wrong result")
	}
	if !NDR.Single() || (SDR | NDR).Single() || Speed(0).Single() || Speed(0x200).Single() {
		t.Error("Single: got the wrong result")
	}
	if got := LinkGbps(Width4X, NDR); got != 425 {
		t.Errorf("4X NDR: got %v Gb/s, want 425", got)
	}
}

func TestLinkWidth(t *testing.T) {
	for _, tt := range []struct {
		w      LinkWidth
		name   string
		lanes  int
		max    LinkWidth
		single bool
	}{
		{Width1X, "1X", 1, Width1X, true},
		{Width2X, "2X", 2, Width2X, true},
		{Width1X | Width4X, "1X or 4X", 4, Width4X, false},
		{Width12X | Width2X | Width8X, "2X or 8X or 12X", 12, Width12X, false},
		{0, "undefined (0)", 0, 0, false},
		{32 | Width1X, "undefined (33)", 1, Width1X, false},
		{32, "undefined (32)", 0, 0, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.w.String() != tt.name || tt.w.Lanes() != tt.lanes || tt.w.Max() != tt.max || tt.w.Single() != tt.single {
				t.Errorf("got %q, %d lanes, max %v, single %v, want %q, %d, %v, %v", tt.w, tt.w.Lanes(), tt.w.Max(), tt.w.Single(), tt.name, tt.lanes, tt.max, tt.single)
			}
		})
	}
	if !(Width1X | Width4X).Has(Width4X) || Width1X.Has(Width4X) {
		t.Error("Has: got the wrong result")
	}
}

func TestMTU(t *testing.T) {
	for m, want := range map[MTU]int{0: 0, MTU256: 256, MTU2048: 2048, MTU4096: 4096, 6: 0, 255: 0} {
		if got := m.Bytes(); got != want {
			t.Errorf("MTU %d: got %d bytes, want %d", uint8(m), got, want)
		}
		if want != 0 && MTUOf(want) != m {
			t.Errorf("MTUOf(%d): got %v, want %v", want, MTUOf(want), m)
		}
	}
	if got := MTUOf(1500); got != 0 {
		t.Errorf("MTUOf(1500): got %v, want 0", got)
	}
}

func TestVLCap(t *testing.T) {
	for v, want := range map[VLCap]int{0: 0, VLs1: 1, VLs2: 2, VLs4: 4, VLs8: 8, VLs15: 15, 6: 0} {
		if got := v.Lanes(); got != want {
			t.Errorf("VLCap %d: got %d lanes, want %d", uint8(v), got, want)
		}
	}
	if got := VLs15.String(); got != "VL0-14" {
		t.Errorf("got %q, want VL0-14", got)
	}
}

func TestRate(t *testing.T) {
	for _, tt := range []struct {
		width LinkWidth
		speed Speed
		want  Rate
		text  string
	}{
		{Width1X, SDR, Rate2p5, "2.5 Gb/sec"},
		{Width4X, QDR, Rate40, "40 Gb/sec"},
		{Width4X, FDR10, Rate40, "40 Gb/sec"},
		{Width4X, FDR, Rate56, "56 Gb/sec"},
		{Width4X, EDR, Rate100, "100 Gb/sec"},
		{Width4X, HDR, Rate200, "200 Gb/sec"},
		{Width2X, HDR, Rate100, "100 Gb/sec"},
		{Width4X, NDR, Rate400, "400 Gb/sec"},
		{Width4X, XDR, Rate800, "800 Gb/sec"},
		{Width12X, EDR, Rate300, "300 Gb/sec"},
		{Width8X, FDR10, Rate80, "80 Gb/sec"},
		{0, EDR, 0, "?(0)"},
		{Width1X | Width4X, EDR, 0, "?(0)"},
		{Width4X, 0, 0, "?(0)"},
		{Width12X, XDR, Rate2400, "2400 Gb/sec"},
	} {
		t.Run(tt.width.String()+" "+tt.speed.String(), func(t *testing.T) {
			if got := RateOf(tt.width, tt.speed); got != tt.want || got.String() != tt.text {
				t.Errorf("got %d, %v, want %d, %s", got, got, tt.want, tt.text)
			}
		})
	}
}

// TestRate_Order checks that rates are ordered by their bandwidth and not by
// their codes.
func TestRate_Order(t *testing.T) {
	for rate, want := range map[Rate]Rate{Rate10: Rate5, Rate2p5: 0, Rate400: Rate300, 0: 0, 99: 0} {
		if got := rate.Below(); got != want {
			t.Errorf("below %v: got %v, want %v", rate, got, want)
		}
	}
	if Rate28.Compare(Rate10) <= 0 || Rate10.Compare(Rate28) >= 0 || Rate(99).Compare(Rate2p5) >= 0 || Rate50.Compare(Rate50) != 0 {
		t.Error("Compare: got the order of the codes")
	}
}

func TestState_Defined(t *testing.T) {
	if !PortActive.Defined() || PortState(5).Defined() || !PhysTest.Defined() || PhysState(8).Defined() || !LinkLayerEthernet.Defined() || LinkLayer(3).Defined() {
		t.Error("Defined: got the wrong result")
	}
	for got, want := range map[string]string{
		PortInit.String(): "Initialize", PortState(9).String(): "?(9)",
		PhysTraining.String(): "PortConfigurationTraining", LinkLayerInfiniBand.String(): "InfiniBand",
	} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
