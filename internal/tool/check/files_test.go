package check

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/internal/textfile"
	"github.com/ibkit/ibkit/internal/tool/counters"
)

const limitsFile = `# site
schema: ibkit/check-thresholds/1
counters: {SymbolErrorCounter: 3, port_rcv_errors: 4}
max_wait_percent: 5
ber: [{limit: 1e-12, window: 1m}]
hw_counters: {local_ack_timeout_err: 100}
min_width: 4X
min_speed: ndr
flap_count: 3
flap_window: 12h
sm_wait: 0s
topology: fat-tree
severity:
  names/duplicate-name: ignore
  ports/port-state: warning
`

func TestParseLimits(t *testing.T) {
	l, err := ParseLimits([]byte(strings.Replace(limitsFile, "port_rcv_errors", "PortRcvErrors", 1)), "file")
	if err != nil {
		t.Fatal(err)
	}
	if l.Thresholds.Limit(counters.SymbolErrors) != 3 || !l.Thresholds.IsGiven(counters.RcvErrors) || l.Thresholds.Limit(counters.LinkDowned) != 10 {
		t.Errorf("got thresholds %+v", l.Thresholds)
	}
	if l.MaxWait != 0.05 || len(l.BER) != 1 || l.BER[0].Window != time.Minute || l.HWCounters["local_ack_timeout_err"] != 100 ||
		l.MinWidth != ib.Width4X || l.MinSpeed != ib.NDR || l.FlapCount != 3 || l.FlapWindow != 12*time.Hour || l.SMWait != 0 ||
		l.Topology != fatTree || l.Severity["names/duplicate-name"] != Ignore {
		t.Errorf("got %+v", l)
	}
}

// A written file has the same limits, also as JSON.
func TestLimits_Write(t *testing.T) {
	given, err := ParseLimits([]byte(strings.Replace(limitsFile, "port_rcv_errors", "PortRcvErrors", 1)), "file")
	if err != nil {
		t.Fatal(err)
	}
	for name, l := range map[string]Limits{"default": DefaultLimits(), "given": given} {
		t.Run(name, func(t *testing.T) {
			var text strings.Builder
			if err := l.Write(&text); err != nil {
				t.Fatal(err)
			}
			got, err := ParseLimits([]byte(text.String()), "file")
			if err != nil {
				t.Fatalf("%v\n%s", err, text.String())
			}
			if !reflect.DeepEqual(got, l) {
				t.Errorf("got %+v, want %+v", got, l)
			}
		})
	}
}

func TestParseLimits_Errors(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{"", "file: the file is empty"},
		{"- 1", "file:1: thresholds: got a list, want a mapping"},
		{"schema: other", `file:1: schema: got "other", want ibkit/check-thresholds/1`},
		{"\nminwidth: 4X", `file:2: thresholds: unknown key "minwidth"`},
		{"min_width: 5X", `file:1: min_width: got "5X", want a width such as 4X, or any`},
		{"min_speed: fast", `file:1: min_speed: got "fast", want a speed such as HDR, or any`},
		{"topology: ring", `file:1: topology: got "ring", want fat-tree, torus, dragonfly, single-switch or any`},
		{"max_wait_percent: 101", "want a percentage from 0 to 100"},
		{"flap_window: 6", "want a time such as 6h or 500ms"},
		{"flap_count: -1", "want a number from 0"},
		{"counters: {XmitData: 1}", `"XmitData" is not an error counter`},
		{"ber: [{limit: 0, window: 1m}]", "want a number above 0"},
		{"ber: [{limit: 1e-9}]", "want a limit and a window"},
		{"severity: {links/nosuch: error}", `unknown finding "links/nosuch"`},
		{"severity: {links/narrow: error}", "unknown finding"},
		{"severity: {speed/narrow: fatal}", "want error, warning or ignore"},
		{"flap_count: 1\nflap_count: 2", `file:2: thresholds: repeated key "flap_count"`},
		{"flap_count: &a 1\nhw_counters: {x: *a}", "got an alias, want a text"},
		{"flap_count: [", "file:1: "},
		{"a: 1\n---\nb: 2", "file:2: got more than one document"},
		{"flap_count: 1\n---\nb: 2", "got more than one document"},
		{"flap_count:", "got an empty value, want a text"},
	} {
		t.Run(test.text, func(t *testing.T) {
			_, err := ParseLimits([]byte(test.text), "file")
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Fatalf("got error %v, want %s", err, test.want)
			}
			if _, ok := errors.AsType[*textfile.Error](err); !ok {
				t.Errorf("got an error of type %T, want *textfile.Error", err)
			}
		})
	}
}

func TestParseManifest_Errors(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{"devices: []", "file:1: devices: got a list, want a mapping"},
		{"{}", "file:1: manifest: got no devices, want at least one"},
		{"# x\nschema: ibkit/check-node/1\ndevices: {}", "file:2: manifest: got no devices"},
		{"ignore: [mlx5_0]", "file:1: manifest: got no devices"},
		{"devices: {mlx5_0: {color: red}}", `device mlx5_0: unknown key "color"`},
		{"devices:\n  mlx5_0:\n    ports:\n      0: {}", `file:4: ports: got "0", want a number from 1 to 255`},
		{"devices: {a: {ports: {1: {rate: fast}}}}", `rate: got "fast", want a number above 0`},
		{"devices: {a: {firmware: '[1'}}", "want a pattern with balanced brackets"},
		{"devices: {a: {}, a: {}}", `repeated key "a"`},
		{"ignore: mlx5_0", "want a list"},
		{"devices: {a: {ports: {1: {gids: [[]]}}}}", "gids: got a list, want a text"},
	} {
		t.Run(test.text, func(t *testing.T) {
			_, err := ParseManifest([]byte(test.text), "file")
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Fatalf("got error %v, want %s", err, test.want)
			}
		})
	}
}

// JSON is a YAML subset, with tabs.
func TestParseManifest_JSON(t *testing.T) {
	m, err := ParseManifest([]byte("{\n\t\"schema\": \"ibkit/check-node/1\",\n\t\"devices\": {\n\t\t\"mlx5_0\": {\"firmware\": \"28.*\", \"ports\": {\"1\": {\"rate\": 400}}}\n\t}\n}\n"), "file")
	if err != nil {
		t.Fatal(err)
	}
	if len(m.Devices) != 1 || m.Devices[0].Firmware != "28.*" || m.Devices[0].Ports[0].Rate != 400 {
		t.Errorf("got %+v", m)
	}
}

func TestReadState(t *testing.T) {
	dir := t.TempDir()
	for _, test := range []struct{ name, text, want string }{
		{"missing", "", ""},
		{"empty", " \n", ""},
		{"text", "root:x:0:0\n", "not a state of ibkit check node"},
		{"json", `{"schema": "other"}`, `schema "other"`},
		{"type", `{"schema": 1}`, "not a state of ibkit check node"},
		{"state", `{"schema": "ibkit/check-state/1"}`, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			path := filepath.Join(dir, test.name)
			if test.text != "" {
				if err := os.WriteFile(path, []byte(test.text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			s, err := ReadState(path)
			if test.want == "" && (err != nil || s.Ports == nil) || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
				t.Errorf("got %+v and error %v, want error %q", s, err, test.want)
			}
		})
	}
}

func TestReadDocument_Size(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, make([]byte, 1<<20+1), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, read := range map[string]func(string) error{
		"limits":   func(p string) error { _, err := ReadLimits(p); return err },
		"manifest": func(p string) error { _, err := ReadManifest(p); return err },
		"state":    func(p string) error { _, err := ReadState(p); return err },
	} {
		t.Run(name, func(t *testing.T) {
			if err := read(path); err == nil || !strings.Contains(err.Error(), "larger than") {
				t.Errorf("got error %v, want one about the size", err)
			}
		})
	}
}

func FuzzParseLimits(f *testing.F) {
	f.Add([]byte(limitsFile))
	f.Add([]byte(`{"ber": [{"limit": 1e-12, "window": "1m"}], "severity": {"speed/narrow": "ignore"}}`))
	f.Add([]byte("a: &a [*a]"))
	f.Fuzz(func(t *testing.T, data []byte) {
		l, err := ParseLimits(data, "file")
		if err != nil {
			return
		}
		var text strings.Builder
		if err := l.Write(&text); err != nil {
			t.Fatal(err)
		}
		again, err := ParseLimits([]byte(text.String()), "file")
		if err != nil {
			t.Fatalf("%v\n%s", err, text.String())
		}
		if len(again.BER) != len(l.BER) || again.MinSpeed != l.MinSpeed || again.FlapWindow != l.FlapWindow {
			t.Errorf("got %+v, want %+v", again, l)
		}
	})
}

func FuzzParseManifest(f *testing.F) {
	f.Add([]byte("schema: ibkit/check-node/1\nignore: ['mlx5_bond_*']\ndevices:\n  mlx5_0:\n    type: MT4129\n    firmware: 28.39.*\n    pcie_width: 16\n    pcie_speed: 32\n    ports:\n      1: {link_layer: InfiniBand, state: ACTIVE, rate: 400, width: 4X, speed: NDR, gids: [IB]}\n"))
	f.Add([]byte(`{"devices": {"a\nb": {"ports": {"1": {"gids": ["x"]}}}}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := ParseManifest(data, "file")
		if err != nil {
			return
		}
		var text strings.Builder
		if err := m.Write(&text); err != nil {
			t.Fatal(err)
		}
		again, err := ParseManifest([]byte(text.String()), "file")
		if err != nil {
			t.Fatalf("%v\n%q", err, text.String())
		}
		if !reflect.DeepEqual(m, again) {
			t.Errorf("got %+v, want %+v", again, m)
		}
	})
}

func FuzzParseState(f *testing.F) {
	f.Add([]byte(`{"schema": "ibkit/check-state/1", "ports": {"0x1/1": {"device": "a", "time": "2026-11-23T12:00:00Z", "counters": {"link_downed": 3}, "downs": [{"time": "2026-11-23T12:00:00Z", "count": 2}]}}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := ParseState(data, "file")
		if err != nil {
			return
		}
		s.update("0x1/1", "a", time.Now(), map[string]uint64{"link_downed": 1}, []string{linkDowned}, time.Hour)
		s.expire(time.Now(), time.Hour)
	})
}
