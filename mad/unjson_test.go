package mad

import (
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"
)

// TestUnmarshalJSON checks that random attributes survive a round trip through
// JSON.
func TestUnmarshalJSON(t *testing.T) {
	chance := rand.New(rand.NewPCG(1, 1))
	for range 200 {
		var data [DataSize]byte
		for i := range data {
			data[i] = byte(chance.Uint32())
		}
		for _, pair := range [][2]Attribute{
			{&NodeInfo{}, &NodeInfo{}}, {&SwitchInfo{}, &SwitchInfo{}}, {&PortInfo{}, &PortInfo{}}, {&MlnxExtPortInfo{}, &MlnxExtPortInfo{}},
		} {
			if err := Decode(pair[0], data[:]); err != nil {
				t.Fatal(err)
			}
			text, err := json.Marshal(WithKeys(pair[0]))
			if err != nil {
				t.Fatal(err)
			}
			if err := json.Unmarshal(text, pair[1]); err != nil {
				t.Fatal(err)
			}
			var before, after [DataSize]byte
			if Encode(pair[0], before[:]) != nil || Encode(pair[1], after[:]) != nil || before != after {
				t.Errorf("%s\nwas read back as %+v", text, pair[1])
			}
		}
	}
}

func TestUnmarshalJSONErrors(t *testing.T) {
	text, err := json.Marshal(MlnxExtPortInfo{})
	if err != nil {
		t.Fatal(err)
	}
	info, err := json.Marshal(NodeInfo{})
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		to       json.Unmarshaler
		text     string
		old, new string
		want     string
	}{
		{&MlnxExtPortInfo{}, string(text), `"state_change_enable":0`, `"state_change_enable":256`, `state_change_enable: got 256, want a whole number from 0 to 255`},
		{&MlnxExtPortInfo{}, string(text), `"state_change_enable":0`, `"state_change_enable":-1`, `got -1, want`},
		{&MlnxExtPortInfo{}, string(text), `"state_change_enable":0`, `"x":0`, `state_change_enable: the member is missing, want a whole number from 0 to 255`},
		{&MlnxExtPortInfo{}, string(text), `"link_speed_active":{"value":0`, `"link_speed_active":{"worth":0`, `link_speed_active: got {"worth":0,"names":[]}, want an object whose "value" is a whole number from 0 to 255`},
		{&MlnxExtPortInfo{}, string(text), string(text), `[]`, `cannot unmarshal array`},
		{&NodeInfo{}, string(info), `"0x0000000000000000"`, `"0x"`, `system_guid: got "0x", want a string such as "0x0002c90000100300"`},
		{&NodeInfo{}, string(info), `"0x0000000000000000"`, `0`, `system_guid: got 0, want a string`},
	} {
		t.Run(test.new, func(t *testing.T) {
			if !strings.Contains(test.text, test.old) {
				t.Fatalf("no %s in %s", test.old, test.text)
			}
			err := test.to.UnmarshalJSON([]byte(strings.Replace(test.text, test.old, test.new, 1)))
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%s: %v; want %s", test.new, err, test.want)
			}
		})
	}
}

func FuzzUnmarshalJSON(f *testing.F) {
	for _, a := range []any{PortInfo{}, NodeInfo{}, SwitchInfo{}, MlnxExtPortInfo{}} {
		text, err := json.Marshal(a)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Fuzz(func(_ *testing.T, b []byte) {
		for _, a := range []json.Unmarshaler{&PortInfo{}, &NodeInfo{}, &SwitchInfo{}, &MlnxExtPortInfo{}} {
			_ = a.UnmarshalJSON(b)
		}
	})
}
