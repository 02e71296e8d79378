package mad

import (
	"bytes"
	"encoding/json"
	"testing"
)

// TestCongestionLog encodes and decodes both log types.
func TestCongestionLog(t *testing.T) {
	for _, test := range []struct {
		name string
		log  CongestionLog
		json string
	}{
		{"switch", CongestionLog{
			Type: CongestionLogSwitch, Flags: 1, Events: 3, TimeStamp: 77, PortMap: PortMask{31: 0x82, 0: 0x40},
			SwitchEvents: [15]SwitchCongestionEvent{0: {4, 5, 6, 70}, 14: {1, 2, 15, 1 << 31}},
		}, `{"log_type":1,"congestion_flags":1,"events":3,"timestamp":77,"ports":[1,7,254],` +
			`"log":[{"slid":4,"dlid":5,"sl":6,"timestamp":70},{"slid":1,"dlid":2,"sl":15,"timestamp":2147483648}]}`},
		{"channel adapter", CongestionLog{
			Type: CongestionLogCA, Events: 1, TimeStamp: 9, SLMap: 0x8001,
			CAEvents: [13]CACongestionEvent{12: {LocalQP: 1<<24 - 1, SL: 15, ServiceType: 3, RemoteQP: 17, LocalLID: 8, RemoteLID: 9, TimeStamp: 6}},
		}, `{"log_type":2,"congestion_flags":0,"events":1,"timestamp":9,"sl_map":32769,` +
			`"log":[{"local_qp":16777215,"sl":15,"service_type":3,"remote_qp":17,"local_lid":8,"remote_lid":9,"timestamp":6}]}`},
	} {
		t.Run(test.name, func(t *testing.T) {
			var p Packet
			p.PutGMP(Header{BaseVersion: 1, Class: ClassCC, ClassVersion: 2, Method: MethodGetResp, Attr: AttrCongestionLog})
			if err := Encode(&test.log, p.Data()); err != nil {
				t.Fatal(err)
			}
			if p[Size-congestionLogSize] != test.log.Type {
				t.Errorf("got first byte %d, want %d", p[Size-congestionLogSize], test.log.Type)
			}
			var got CongestionLog
			if err := Decode(&got, p.Data()); err != nil || got != test.log {
				t.Errorf("got %+v, %v, want %+v", got, err, test.log)
			}
			if text, err := json.Marshal(got); err != nil || string(text) != test.json {
				t.Errorf("got %s, %v, want %s", text, err, test.json)
			}
		})
	}
}

func TestCongestionJSON(t *testing.T) {
	for _, test := range []struct {
		attribute Attribute
		want      string // the beginning
	}{
		{&SwitchPortCongestionSetting{Ports: [32]PortCongestionSetting{{1, 0, 15, 8, 3}}},
			`{"ports":[{"valid":1,"control_type":0,"threshold":15,"packet_size":8,"cong_parm":3},{`},
		{&CACongestionSetting{PortControl: 1, ControlMap: 3, SLs: [16]SLCongestionSetting{{150, 1, 2, 4}}},
			`{"port_control":1,"control_map":3,"sls":[{"ccti_timer":150,"ccti_increase":1,"trigger_threshold":2,"ccti_min":4},{`},
		{&CongestionControlTable{Limit: 63, Entries: [64]CongestionControlEntry{{3, 1<<14 - 1}}},
			`{"ccti_limit":63,"entries":[{"shift":3,"multiplier":16383},{`},
		{&CongestionKeyInfo{Key: 1 << 63, ProtectBit: 1},
			`{"cc_key":"0x8000000000000000","cc_key_protect_bit":1,`},
	} {
		t.Run(AttributeName(test.attribute), func(t *testing.T) {
			got, err := json.Marshal(WithKeys(test.attribute))
			if err != nil || !bytes.HasPrefix(got, []byte(test.want)) {
				t.Errorf("got %s, %v, want %s", got, err, test.want)
			}
		})
	}
}

func TestPortMask(t *testing.T) {
	var m PortMask
	for _, port := range []uint8{0, 9, 254} {
		m.Add(port)
	}
	if want := (PortMask{0: 0x40, 30: 0x02, 31: 0x01}); m != want {
		t.Errorf("got %x, want %x", m, want)
	}
	if !m.Has(9) || m.Has(8) {
		t.Errorf("got port 9: %v, port 8: %v, want true, false", m.Has(9), m.Has(8))
	}
}
