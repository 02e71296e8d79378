package mad

import (
	"encoding/hex"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestAgainstNVIDIA compares NVIDIA's attributes with what the C structs and functions
// in NVIDIA's ib_types.h read in the same bytes.
func TestAgainstNVIDIA(t *testing.T) {
	files, err := filepath.Glob("testdata/nvidia/*.hex")
	if err != nil || len(files) == 0 {
		t.Fatalf("no golden files: %v", err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".hex")
		t.Run(name, func(t *testing.T) {
			digits, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			data, err := hex.DecodeString(strings.TrimSpace(string(digits)))
			if err != nil {
				t.Fatal(err)
			}
			kind, _, _ := strings.Cut(name, "-")
			a := attributes[kind]()
			if err := Decode(a, data); err != nil {
				t.Fatal(err)
			}
			text, err := os.ReadFile(strings.TrimSuffix(file, "hex") + "fields")
			if err != nil {
				t.Fatal(err)
			}
			ours := nvidiaFields(a)
			for line := range strings.Lines(string(text)) {
				field, value, _ := strings.Cut(strings.TrimSpace(line), " ")
				want, err := strconv.ParseUint(value, 10, 64)
				if err != nil {
					t.Fatalf("%s: %v", line, err)
				}
				if got, ok := ours[field]; !ok || got != want {
					t.Errorf("%s: got %d, want %d", field, got, want)
				}
				delete(ours, field)
			}
			if len(ours) > 0 {
				t.Errorf("ib_types.h has no %v", slices.Sorted(maps.Keys(ours)))
			}
		})
	}
}

// nvidiaFields returns an attribute's fields by their names in ib_types.h.
func nvidiaFields(a Attribute) map[string]uint64 {
	f := map[string]uint64{}
	switch a := a.(type) {
	case *AdaptiveRoutingInfo:
		maps.Copy(f, map[string]uint64{
			"is4_mode": uint64(a.IS4Mode), "glb_groups": uint64(a.GlobalGroups),
			"by_sl_cap": uint64(a.BySLCap), "by_sl_en": uint64(a.BySLEnabled),
			"by_trans_cap": uint64(a.ByTransportCap), "dyn_cap_calc_sup": uint64(a.DynamicCap),
			"dir_num_supp": uint64(a.DirectionsCap), "grp_tbl_cpy_sup": uint64(a.GroupTableCopyCap),
			"sub_grps_active": uint64(a.SubGroupsActive), "ar_enabled": uint64(a.Enabled),
			"arn_supported": uint64(a.ARNCap), "frn_supported": uint64(a.FRNCap),
			"fr_supported": uint64(a.FRCap), "fr_enabled": uint64(a.FREnabled),
			"rn_xmit_enabled": uint64(a.RNXmitEnabled), "group_cap": uint64(a.GroupCap),
			"group_top": uint64(a.GroupTop), "group_tbl_cap": uint64(a.GroupTableCap),
			"string_width_cap": uint64(a.StringWidthCap), "enable_by_sl_mask": uint64(a.EnableBySL),
			"sub_grps_sup": uint64(a.SubGroupsCap), "ar_nv_version_cap": uint64(a.RNVersionCap)<<4 | uint64(a.ARVersionCap),
			"by_trns_disable": uint64(a.ByTransportDisable), "ageing_time_value": uint64(a.AgeingTime),
			"cap_fields1": uint64(a.Cap1), "enable_features1": uint64(a.Enabled1),
			"whbf_granularity": uint64(a.WHBFGranularity), "enable_by_sl_mask_hbf": uint64(a.EnableBySLHBF),
		})
	case *ARLinearForwardingTable:
		for i, e := range a.Entries {
			n := strconv.Itoa(i)
			f["state"+n], f["table"+n], f["legacy_port"+n], f["group_number"+n] = uint64(e.State), uint64(e.Table), uint64(e.Port), uint64(e.Group)
		}
	case *ARGroupTable:
		for i := range a.SubGroups {
			for k, b := range a.SubGroups[i] {
				f[fmt.Sprintf("ar_sub_group_%d[%d]", i, k)] = uint64(b)
			}
		}
	case *HierarchyInfo:
		f["template_guid"], f["max_supported_index"] = a.TemplateGUID, uint64(a.MaxSupported)
		f["max_active_index"], f["active_levels"] = uint64(a.MaxActive), uint64(a.ActiveLevels)
		for i, r := range a.Records {
			f[fmt.Sprintf("levels[%d]", i)] = uint64(r)
		}
	case *PrivateLFTInfo:
		f["num_plfts"], f["mode_cap"], f["active_mode"] = uint64(a.Tables), uint64(a.ModeCap), uint64(a.ActiveMode)
		for i, m := range a.Modes {
			f["size"+strconv.Itoa(i)], f["num_banks"+strconv.Itoa(i)] = uint64(m.Size), uint64(m.Banks)
		}
	case *VendorCapabilities:
		for i := range VendorCap(128) {
			f["cap"+strconv.Itoa(int(i))] = 0
			if a.Has(i) {
				f["cap"+strconv.Itoa(int(i))] = 1
			}
		}
	}
	return f
}
