package mad

import (
	"testing"

	"github.com/ibkit/ibkit/ib"
)

// TestSpeeds walks the speed fields as the specification has them, from the
// bytes on.
func TestSpeeds(t *testing.T) {
	const ext, mask2, ext2 = CapExtendedSpeeds, CapCapMask2, Cap2ExtendedSpeeds2
	fdr10 := &MlnxExtPortInfo{LinkSpeedSupported: 1, LinkSpeedEnabled: 1, LinkSpeedActive: 1}
	caps := func(m PortCapMask, m2 PortCapMask2) *PortInfo { return &PortInfo{CapMask: m, CapMask2: m2} }
	all := ib.SDR | ib.DDR | ib.QDR
	for _, tt := range []struct {
		name                      string
		supported, active         byte // first group; enabled is as supported
		ext, extEnabled           byte // LinkSpeedExtActive and -Supported; -Enabled
		ext2                      byte // the byte with all three fields in the last group
		caps                      *PortInfo
		vendor                    *MlnxExtPortInfo
		wantActive, wantSupported ib.Speed
		wantEnabled               ib.Speed
	}{
		{"QDR", 7, 4, 0, 0, 0, caps(0, 0), nil, ib.QDR, all, all},
		{"QDR of FDR10", 7, 4, 0, 0, 0, caps(0, 0), &MlnxExtPortInfo{LinkSpeedSupported: 1}, ib.QDR, all | ib.FDR10, all},
		{"FDR10", 7, 4, 0, 0, 0, caps(0, 0), fdr10, ib.FDR10, all | ib.FDR10, all | ib.FDR10},
		{"FDR", 7, 4, 0x11, 1, 0, caps(ext, 0), nil, ib.FDR, all | ib.FDR, all | ib.FDR},
		{"FDR over FDR10", 7, 4, 0x11, 1, 0, caps(ext, 0), fdr10, ib.FDR, all | ib.FDR10 | ib.FDR, all | ib.FDR10 | ib.FDR},
		{"EDR without the capability", 7, 4, 0x23, 3, 0, caps(mask2, ext2), nil, ib.QDR, all, all},
		{"EDR or QDR, unknown capabilities", 7, 4, 0x23, 3, 0, nil, nil, 0, 0, 0},
		{"XDR or QDR, unknown capabilities", 7, 4, 0, 0, 0x29, nil, nil, 0, 0, 0},
		{"QDR of EDR, unknown capabilities", 7, 4, 0x03, 3, 0, nil, nil, ib.QDR, 0, 0},
		{"QDR, unknown capabilities", 7, 4, 0, 0, 0, nil, nil, ib.QDR, all, all},
		{"NDR", 7, 0, 0x8f, 15, 0, caps(ext, 0), nil, ib.NDR, all | ib.FDR | ib.EDR | ib.HDR | ib.NDR, all | ib.FDR | ib.EDR | ib.HDR | ib.NDR},
		{"NDR, extended speeds disabled", 7, 4, 0x0f, 30, 0, caps(ext, 0), nil, ib.QDR, all | ib.FDR | ib.EDR | ib.HDR | ib.NDR, all},
		{"XDR", 7, 0, 0x0f, 15, 0x29, caps(ext|mask2, ext2), nil, ib.XDR, all | ib.FDR | ib.EDR | ib.HDR | ib.NDR | ib.XDR, all | ib.FDR | ib.EDR | ib.HDR | ib.NDR | ib.XDR},
		{"XDR without CapabilityMask2", 7, 0, 0x8f, 15, 0x29, caps(ext, ext2), nil, ib.NDR, all | ib.FDR | ib.EDR | ib.HDR | ib.NDR, all | ib.FDR | ib.EDR | ib.HDR | ib.NDR},
		{"XDR without extended speeds", 7, 1, 0x8f, 15, 0x29, caps(mask2, ext2), nil, ib.SDR, all, all},
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
