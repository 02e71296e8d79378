package mad

import "testing"

// TestSpeeds walks the speed fields as the specification has them, from the
// bytes on.
func TestSpeeds(t *testing.T) {
	const ext, mask2, ext2 = CapExtendedSpeeds, CapCapMask2, Cap2ExtendedSpeeds2
	fdr10 := &MlnxExtPortInfo{LinkSpeedSupported: 1, LinkSpeedEnabled: 1, LinkSpeedActive: 1}
	caps := func(m PortCapMask, m2 PortCapMask2) *PortInfo { return &PortInfo{CapMask: m, CapMask2: m2} }
	all := SDR | DDR | QDR
	for _, tt := range []struct {
		name                      string
		supported, active         byte // of the first group; enabled is as supported
		ext, extEnabled           byte // LinkSpeedExtActive and -Supported; -Enabled
		ext2                      byte // the byte with all three fields of the last group
		caps                      *PortInfo
		vendor                    *MlnxExtPortInfo
		wantActive, wantSupported Speed
		wantEnabled               Speed
	}{
		{"QDR", 7, 4, 0, 0, 0, caps(0, 0), nil, QDR, all, all},
		{"QDR of FDR10", 7, 4, 0, 0, 0, caps(0, 0), &MlnxExtPortInfo{LinkSpeedSupported: 1}, QDR, all | FDR10, all},
		{"FDR10", 7, 4, 0, 0, 0, caps(0, 0), fdr10, FDR10, all | FDR10, all | FDR10},
		{"FDR", 7, 4, 0x11, 1, 0, caps(ext, 0), nil, FDR, all | FDR, all | FDR},
		{"FDR over FDR10", 7, 4, 0x11, 1, 0, caps(ext, 0), fdr10, FDR, all | FDR10 | FDR, all | FDR10 | FDR},
		{"EDR without the capability", 7, 4, 0x23, 3, 0, caps(mask2, ext2), nil, QDR, all, all},
		{"EDR without capabilities", 7, 4, 0x23, 3, 0, nil, nil, QDR, all, all},
		{"NDR", 7, 0, 0x8f, 15, 0, caps(ext, 0), nil, NDR, all | FDR | EDR | HDR | NDR, all | FDR | EDR | HDR | NDR},
		{"NDR, extended speeds disabled", 7, 4, 0x0f, 30, 0, caps(ext, 0), nil, QDR, all | FDR | EDR | HDR | NDR, all},
		{"XDR", 7, 0, 0x0f, 15, 0x29, caps(ext|mask2, ext2), nil, XDR, all | FDR | EDR | HDR | NDR | XDR, all | FDR | EDR | HDR | NDR | XDR},
		{"XDR without CapabilityMask2", 7, 0, 0x8f, 15, 0x29, caps(ext, ext2), nil, NDR, all | FDR | EDR | HDR | NDR, all | FDR | EDR | HDR | NDR},
		{"XDR without extended speeds", 7, 1, 0x8f, 15, 0x29, caps(mask2, ext2), nil, SDR, all, all},
		{"not known", 0, 0, 0, 0, 0, caps(0, 0), nil, 0, 0, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := make([]byte, DataSize)
			b[32], b[35] = tt.supported<<4, tt.active<<4|tt.supported
			b[56], b[62], b[63] = tt.ext2, tt.ext, tt.extEnabled
			var pi PortInfo
			if err := Decode(&pi, b); err != nil {
				t.Fatal(err)
			}
			if got := pi.ActiveSpeed(tt.caps, tt.vendor); got != tt.wantActive {
				t.Errorf("active %v, want %v", got, tt.wantActive)
			}
			if got := pi.SupportedSpeeds(tt.caps, tt.vendor); got != tt.wantSupported {
				t.Errorf("supported %v, want %v", got, tt.wantSupported)
			}
			if got := pi.EnabledSpeeds(tt.caps, tt.vendor); got != tt.wantEnabled {
				t.Errorf("enabled %v, want %v", got, tt.wantEnabled)
			}
		})
	}
}

func TestSpeedSet(t *testing.T) {
	for _, tt := range []struct {
		s       Speed
		name    string
		classic string
		max     Speed
		gbps    float64
	}{
		{0, "none", "", 0, 0},
		{SDR | DDR | QDR, "SDR,DDR,QDR", "10.0 Gbps", QDR, 10},
		{FDR10, "FDR10", "10.0 Gbps (FDR10)", FDR10, 10.3125},
		{FDR, "FDR", "14.0625 Gbps", FDR, 14.0625},
		{EDR | SDR, "SDR,EDR", "25.78125 Gbps", EDR, 25.78125},
		{HDR, "HDR", "53.125 Gbps", HDR, 53.125},
		{NDR, "NDR", "106.25 Gbps", NDR, 106.25},
		{XDR | NDR, "NDR,XDR", "212.5 Gbps", XDR, 212.5},
	} {
		if tt.s.String() != tt.name || tt.s.Classic() != tt.classic || tt.s.Max() != tt.max || tt.s.LaneGbps() != tt.gbps {
			t.Errorf("%#x: got %q, %q, %v, %v", uint16(tt.s), tt.s, tt.s.Classic(), tt.s.Max(), tt.s.LaneGbps())
		}
	}
	if XDR != 256 {
		t.Errorf("XDR is %d", XDR)
	}
	if !(SDR | NDR).Has(NDR) || SDR.Has(SDR|DDR) {
		t.Error("Has is wrong")
	}
	if got := LinkGbps(Width4X, NDR); got != 425 {
		t.Errorf("4X NDR is %v Gbps", got)
	}
}

func TestLinkWidth(t *testing.T) {
	for _, tt := range []struct {
		w     LinkWidth
		name  string
		lanes int
		max   LinkWidth
	}{
		{Width1X, "1X", 1, Width1X},
		{Width2X, "2X", 2, Width2X},
		{Width1X | Width4X, "1X or 4X", 4, Width4X},
		{Width12X | Width2X | Width8X, "2X or 8X or 12X", 12, Width12X},
		{0, "undefined (0)", 0, 0},
		{32 | Width1X, "undefined (33)", 1, Width1X},
	} {
		if tt.w.String() != tt.name || tt.w.Lanes() != tt.lanes || tt.w.Max() != tt.max {
			t.Errorf("%d: got %q, %d lanes, at most %v", uint8(tt.w), tt.w, tt.w.Lanes(), tt.w.Max())
		}
	}
	if !(Width1X | Width4X).Has(Width4X) || Width1X.Has(Width4X) {
		t.Error("Has is wrong")
	}
}

func TestCodes(t *testing.T) {
	for m, want := range map[MTU]int{0: 0, MTU256: 256, MTU2048: 2048, MTU4096: 4096, 6: 0} {
		if got := m.Bytes(); got != want {
			t.Errorf("MTU %d: %d bytes, want %d", uint8(m), got, want)
		}
	}
	for v, want := range map[VLCap]int{0: 0, 1: 1, 4: 8, 5: 15, 6: 0} {
		if got := v.Lanes(); got != want {
			t.Errorf("VLCap %d: %d lanes, want %d", uint8(v), got, want)
		}
	}
}
