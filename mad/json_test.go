package mad

import (
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/ibkit/ibkit/ib"
)

// update makes this package's tests write their golden files.
var update = flag.Bool("update", false, "write golden files")

// TestJSONNames pins each attribute's keys.
func TestJSONNames(t *testing.T) {
	var got strings.Builder
	for _, kind := range slices.Sorted(maps.Keys(attributes)) {
		a := attributes[kind]()
		text, err := json.Marshal(a)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&got, "%s:", AttributeName(a))
		for _, key := range jsonKeys(t, text) {
			got.WriteString(" " + key)
		}
		got.WriteString("\n")
	}
	const file = "testdata/json_names.golden"
	if *update {
		if err := os.WriteFile(file, []byte(got.String()), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got.String() != string(want) {
		t.Errorf("got\n%s\nwant\n%s", got.String(), want)
	}
}

// jsonKeys returns an object's keys in their order, nil for a value that
// is not an object.
func jsonKeys(t *testing.T, text []byte) []string {
	t.Helper()
	dec := json.NewDecoder(strings.NewReader(string(text)))
	if first, err := dec.Token(); err != nil || first != json.Delim('{') {
		return nil
	}
	var keys []string
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			t.Fatal(err)
		}
		if slices.Contains(keys, key.(string)) {
			t.Errorf("key %s twice", key)
		}
		keys = append(keys, key.(string))
		var skip json.RawMessage
		if err := dec.Decode(&skip); err != nil {
			t.Fatal(err)
		}
	}
	return keys
}

func TestJSONValues(t *testing.T) {
	pi := PortInfo{
		MKey: 1, GIDPrefix: 0xfe80 << 48, LID: 7, State: ib.PortActive, PhysState: 9,
		CapMask:          CapSM | CapCommunicationManagement | 1,
		LinkWidthEnabled: ib.Width1X | ib.Width4X | ib.Width2X, LinkWidthActive: ib.Width4X,
		LinkSpeedSupported: 7, LinkSpeedExtEnabled: 30, MTUCap: ib.MTU4096,
	}
	for _, tt := range []struct {
		v         any
		key, want string
	}{
		{pi, "mkey", `"0x0000000000000000"`},
		{WithKeys(&pi), "mkey", `"0x0000000000000001"`},
		{pi, "gid_prefix", `"0xfe80000000000000"`},
		{pi, "lid", `7`},
		{pi, "link_state", `{"value":4,"name":"Active"}`},
		{pi, "phys_link_state", `{"value":9,"name":null}`},
		{pi, "cap_mask", `{"value":65539,"names":["IsSM","IsCommunicationManagementSupported"]}`},
		{pi, "link_width_enabled", `{"value":19,"names":["1X","2X","4X"]}`},
		{pi, "link_width_active", `{"value":2,"name":"4X"}`},
		{pi, "link_speed_supported", `{"value":7,"names":["SDR","DDR","QDR"]}`},
		{pi, "link_speed_active", `{"value":0,"name":null}`},
		{pi, "link_speed_ext_enabled", `{"value":30,"names":[]}`},
		{pi, "mtu_cap", `{"value":5,"name":"4096"}`},
		{NodeInfo{NodeType: NodeTypeCA}, "node_type", `{"value":1,"name":"CA"}`},
		{SMInfo{State: SMMaster}, "sm_state", `{"value":3,"name":"Master"}`},
		{GUIDInfo{GUIDs: [8]ib.GUID{1}}, "guids", `["0x0000000000000001",` + strings.Repeat(`"0x0000000000000000",`, 6) + `"0x0000000000000000"]`},
		{VLArbitration{}, "entries", "[" + strings.Repeat(`{"vl":0,"weight":0},`, 31) + `{"vl":0,"weight":0}]`},
	} {
		t.Run(fmt.Sprint(reflect.TypeOf(tt.v), " ", tt.key), func(t *testing.T) {
			text, err := json.Marshal(tt.v)
			if err != nil {
				t.Fatal(err)
			}
			var members map[string]json.RawMessage
			if err := json.Unmarshal(text, &members); err != nil {
				t.Fatal(err)
			}
			if got := string(members[tt.key]); got != tt.want {
				t.Errorf("%s of %v: got %s, want %s", tt.key, reflect.TypeOf(tt.v), got, tt.want)
			}
		})
	}
	if text, err := json.Marshal(NewNodeDescription("\x1b\"é")); err != nil || string(text) != `" \"  "` {
		t.Errorf("node description: got %s, %v", text, err)
	}
}
