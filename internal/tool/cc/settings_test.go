package cc

import (
	"errors"
	"strings"
	"testing"

	"github.com/ibkit/ibkit/internal/textfile"
	"github.com/ibkit/ibkit/mad"
)

// example has all keys.
const example = `# all switches
[switch]
threshold = 15
packet_size = 8 # 512 bytes
marking_rate = 1
victim_mask = all
credit_mask = 1-2,5
cs_threshold = 3
cs_return_delay = 2:5

[port]
node = leaf*, 0x0002c90000800100
ports = 3-8
control = congestion
threshold = 10
packet_size = 4
marking_rate = 300

[port]
ports = 9
control = starvation
threshold = 1
cs_return_delay = 3:16383

[adapter]
control = sl
cct = 0:0, 0:1,
      1:3

[sl]
sls = 0-3,15
ccti_timer = 150
ccti_increase = 1
trigger_threshold = 2
ccti_min = 3
`

func parse(t *testing.T, text string) *Settings {
	t.Helper()
	s, err := ReadSettings(strings.NewReader(text), "file")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// applied applies all sections to an agent without settings.
func applied(t *testing.T, s *Settings) State {
	t.Helper()
	state := State{
		Switch: &mad.SwitchCongestionSetting{}, Ports: make([]mad.PortCongestionSetting, 17),
		Adapter: &mad.CACongestionSetting{}, Table: make([]mad.CongestionControlEntry, 1),
	}
	for _, section := range s.sections {
		if err := section.apply(&state); err != nil {
			t.Fatal(err)
		}
	}
	return state
}

func TestReadSettings(t *testing.T) {
	got := applied(t, parse(t, example))
	marks := mad.SwitchCongestionSetting{
		Threshold: 15, PacketSize: 8, MarkingRate: 1, VictimMask: mad.PortMask{29: 1, 30: 0xff, 31: 0xfe}, CreditMask: mad.PortMask{31: 1<<1 | 1<<2 | 1<<5},
		CSThreshold: 3, CSReturnDelay: 2<<14 | 5,
	}
	if *got.Switch != marks {
		t.Errorf("switch: got %+v, want %+v", *got.Switch, marks)
	}
	port := mad.PortCongestionSetting{Valid: 1, Threshold: 10, PacketSize: 4, Parameter: 300}
	starving := mad.PortCongestionSetting{Valid: 1, ControlType: 1, Threshold: 1, Parameter: 0xffff}
	if got.Ports[3] != port || got.Ports[8] != port || got.Ports[9] != starving || got.Ports[2] != (mad.PortCongestionSetting{}) {
		t.Errorf("ports: got %+v", got.Ports)
	}
	sl := mad.SLCongestionSetting{Timer: 150, Increase: 1, TriggerThreshold: 2, Min: 3}
	if a := got.Adapter; a.PortControl != 1 || a.SLs[0] != sl || a.SLs[15] != sl || a.SLs[4] != (mad.SLCongestionSetting{}) {
		t.Errorf("adapter: got %+v", a)
	}
	if text := formatTable(got.Table); text != "0:0,0:1,1:3" {
		t.Errorf("table: got %s", text)
	}
}

func TestReadSettings_Errors(t *testing.T) {
	for text, want := range map[string]string{
		"":                                     "file: no settings",
		"# nothing\n":                          "file: no settings",
		"threshold = 1":                        "file:1: threshold is not in a section",
		"[nosuch]":                             `file:1: unknown section "[nosuch]": want one of [switch], [port], [adapter], [sl]`,
		"[switch":                              `file:1: unknown section "[switch"`,
		"[switch]":                             "file:1: [switch] has no settings",
		"\n[switch]\nnode = x\n[sl]":           "file:4: section of line 2: [switch] has no settings",
		"[switch]\nthreshold":                  `file:2: "threshold": want KEY = VALUE`,
		"[switch]\nthreshold = ":               "file:2: threshold has no value",
		"[switch]\nthreshold = 16":             `file:2: invalid threshold "16": want a number from 0 to 15`,
		"[switch]\nthreshold = -1":             `file:2: invalid threshold "-1"`,
		"[switch]\nthreshold=1\n\nthreshold=1": "file:4: threshold is given twice",
		"[switch]\nccti_timer = 1":             `file:2: unknown key "ccti_timer" in [switch]: want one of node, threshold,`,
		"[switch]\nports = 1":                  `file:2: unknown key "ports" in [switch]`,
		"[switch]\nnode = [":                   `file:2: invalid node "[": want a pattern of names or GUIDs`,
		"[switch]\nnode = a,,b":                `file:2: invalid node "": want`,
		"[switch]\nvictim_mask = 1-256":        `file:2: invalid victim_mask "1-256": "256" is not a port number from 0 to 255`,
		"[switch]\ncs_return_delay = 5":        `file:2: invalid cs_return_delay "5": "5": want SHIFT:MULTIPLIER, 0:0 to 3:16383`,
		"[switch]\ncs_return_delay=4:0":        "want SHIFT:MULTIPLIER",
		"[port]\nports = 1\nthreshold=1":       "file:1: [port] requires the key control",
		"[port]\ncontrol = on":                 `file:2: invalid control "on": want one of congestion, starvation, switch`,
		"[port]\ncontrol=switch\nthreshold=1":  "file:1: threshold and control = switch are mutually exclusive",
		"[port]\ncontrol=congestion\ncs_return_delay=1:1":                       "file:1: cs_return_delay and control = congestion are mutually exclusive",
		"[adapter]\ncct = 0:0,\n":                                               "file:2: the list ends with a comma",
		"[adapter]\ncct = 0:0,\n0:x\n":                                          `file:2: invalid cct "0:0,0:x": "0:x": want`,
		"[adapter]\ncct = " + strings.Repeat("0:0,\n", maxTable) + "0:0":        "16321 entries: want at most 16320",
		"[adapter]\ncct = " + strings.Repeat("0:0,0:0,0:0,0:0,\n", maxValue/16): "file:2: list longer than 1048576 bytes",
		"[sl]\nsls = 16":                                 `file:2: invalid sls "16": "16" is not a service level from 0 to 15`,
		"[sl]\nccti_increase = 256":                      "want a number from 0 to 255",
		"[sl]\n" + strings.Repeat("x", textfile.MaxLine): "file:2: line longer than 65536 bytes",
	} {
		t.Run(want, func(t *testing.T) {
			_, err := ReadSettings(strings.NewReader(text), "file")
			if _, ok := errors.AsType[*textfile.Error](err); !ok || !strings.HasPrefix(err.Error(), "read settings: file") || !strings.Contains(err.Error(), want) {
				t.Errorf("got error %v, want %s", err, want)
			}
		})
	}
}

// FuzzReadSettings reads arbitrary files, and applies valid settings.
func FuzzReadSettings(f *testing.F) {
	f.Add(example)
	f.Fuzz(func(t *testing.T, text string) {
		s, err := ReadSettings(strings.NewReader(text), "file")
		if err != nil {
			if _, ok := errors.AsType[*textfile.Error](err); !ok {
				t.Errorf("got error %v without a line", err)
			}
			return
		}
		state := State{
			Switch: &mad.SwitchCongestionSetting{}, Ports: make([]mad.PortCongestionSetting, 256),
			Adapter: &mad.CACongestionSetting{}, Table: make([]mad.CongestionControlEntry, 1),
		}
		for _, section := range s.sections {
			if err := section.apply(&state); err != nil {
				t.Errorf("apply: %v", err)
			}
		}
		state.elements(kinds)
	})
}
