//go:build oracle

package oracle

import (
	"bytes"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/test/ibsimtest"
	"github.com/ibkit/ibkit/umad"
	"github.com/ibkit/ibkit/umad/ibsim"
)

// TestServedCongestion changes settings with Debian's ibccconfig, and compares the
// ibccquery output with ibkit's dump of the same attributes. In the demo, leaf1 has LID 3
// and node01 LID 4.
func TestServedCongestion(t *testing.T) {
	s := serveLive(t, "demo")
	for _, line := range []string{
		"SS 3 0x1F 0x1FFF 0x2 0xF 8 3 2:5 7",
		"SS 3 0x4 0 0 0x9 17 0 0:0 0", // the threshold and the packet size only
		"SP 3 5 1 0 7 8 9", "SP 3 16 1 1 2 0 300",
		"CS 4 1 0x3 150 1 0 2", "CS 4 1 0x8000 65535 255 254 253",
		"CT 4 66 1 1:2 3:4 3:16383", "CT 4 1 0 0:0 1:77",
		"CK 3 0x77 0 5 9",
	} {
		if r := s.MustRunC(t, "", "ibccconfig", strings.Fields(line)...); r.Code != 0 || r.Stdout != "" {
			t.Errorf("ibccconfig %s: got exit code %d\n%s%s", line, r.Code, r.Stdout, r.Stderr)
		}
	}
	ctl(t, s, "congest leaf1[3] node01 node16 4")

	_, socket, _ := strings.Cut(s.Env()[0], "=")
	p, err := ibsim.Open(t.Context(), ibsim.Options{SockName: socket})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	c := umad.NewClient(p, umad.ClientOptions{})
	for _, test := range []struct {
		query string
		lid   ib.LID
		a     mad.Attribute
	}{
		{"ClassPortInfo 3", 3, &mad.ClassPortInfo{}},
		{"CongestionInfo 3", 3, &mad.CongestionInfo{}},
		{"CongestionInfo 4", 4, &mad.CongestionInfo{}},
		{"CongestionKeyInfo 3 -c 0x77", 3, &mad.CongestionKeyInfo{}},
		{"CongestionKeyInfo 4", 4, &mad.CongestionKeyInfo{}},
		{"SwitchCongestionSetting 3", 3, &mad.SwitchCongestionSetting{}},
		{"SwitchPortCongestionSetting 3", 3, &mad.SwitchPortCongestionSetting{}},
		{"CACongestionSetting 4", 4, &mad.CACongestionSetting{}},
		{"CACongestionSetting 5", 5, &mad.CACongestionSetting{}},
		{"CongestionControlTable 4", 4, &mad.CongestionControlTable{}},
		{"CongestionControlTable 5", 5, &mad.CongestionControlTable{}},
	} {
		t.Run(test.query, func(t *testing.T) {
			got := readCongestion(t, c, test.lid, test.a)
			want := ibccquery(t, s, test.query)
			if test.a.Spec().ID == mad.AttrSwitchPortCongestionSetting {
				got = got[:strings.Index(got, "Port:............................17")]
			}
			if got != want {
				t.Errorf("ibkit:\n%s\nwant, from ibccquery:\n%s", got, want)
			}
		})
	}

	// A log query restarts its counter. libumad2sim passes on 224 of the 256 bytes of a
	// packet: ibccquery may print random events at the end.
	if log := ibccquery(t, s, "CongestionLog 3"); !strings.Contains(log, "LogEventsCounter:................1\n") {
		t.Errorf("got\n%s\nwant one event", log)
	}
	var log mad.CongestionLog
	for _, test := range []struct {
		lid  ib.LID
		want string // the latest event
	}{
		{3, "SLID:............................4\nDLID:............................22\nSL:..............................4\nTimestamp:"},
		{4, "SL_CN_Entry:.....................4\nService_Type_CN_Entry:...........0x00\nRemote_QP_Number_CN_Entry:.......0\n" +
			"Local_LID_CN:....................4\nRemote_LID_CN_Entry:.............22\nTimestamp_CN_Entry:"},
	} {
		out := ibccquery(t, s, "CongestionLog "+strconv.Itoa(int(test.lid)))
		own := readCongestion(t, c, test.lid, &log)
		if !strings.Contains(out, test.want) || !strings.Contains(own, test.want) {
			t.Errorf("log of LID %d: ibccquery:\n%s\nibkit:\n%s\nwant event\n%s", test.lid, out, own, test.want)
		}
		// Both have the same fields except for the reply time.
		head, _, _ := strings.Cut(out, "CurrentTimeStamp")
		if test.lid == 4 {
			head = strings.Replace(head, "Counter:...........1", "Counter:...........0", 1)
		}
		if !strings.HasPrefix(own, head) {
			t.Errorf("log of LID %d: ibkit:\n%s\nwant it to start with\n%s", test.lid, own, head)
		}
	}
	first, second := ibccquery(t, s, "Timestamp 4"), ibccquery(t, s, "Timestamp 4")
	if first == second || !strings.HasPrefix(first, "Timestamp:.......................") {
		t.Errorf("got time stamps %s and %s, want two different ones", first, second)
	}
	for _, line := range []string{"SS 4", "SP 4", "CS 3", "CT 3"} {
		if r := s.MustRunC(t, "", "ibccquery", strings.Fields(line)...); r.Code == 0 {
			t.Errorf("ibccquery %s: got exit code 0, want an error", line)
		}
	}
}

// ibccquery returns the output of Debian's ibccquery without the first line.
func ibccquery(t *testing.T, s *ibsimtest.Sim, line string) string {
	t.Helper()
	r := s.MustRunC(t, "", "ibccquery", strings.Fields(line)...)
	title, text, _ := strings.Cut(r.Stdout, "\n")
	if r.Code != 0 || !strings.HasPrefix(title, "# ") {
		t.Fatalf("ibccquery %s: got exit code %d\n%s%s", line, r.Code, r.Stdout, r.Stderr)
	}
	return text
}

// readCongestion reads an attribute through ibkit's client and returns the attribute dump.
func readCongestion(t *testing.T, c *umad.Client, lid ib.LID, a mad.Attribute) string {
	t.Helper()
	if err := c.Get(t.Context(), umad.Target{LID: lid}, a, umad.InClass(mad.ClassCC)); err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := mad.Dump(&b, mad.WithKeys(a)); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestServedCongestionManager lets opensm set up congestion control in a fabric.
func TestServedCongestionManager(t *testing.T) {
	s := serveLive(t, "--sm=off", "single-switch:hosts=3,radix=8")
	s.NewSM(t, "host001", "congestion_control TRUE", "cc_key 0x0",
		"cc_sw_cong_setting_control_map 0x1f", "cc_sw_cong_setting_victim_mask 0x1ff", "cc_sw_cong_setting_threshold 0x0f",
		"cc_sw_cong_setting_packet_size 8", "cc_sw_cong_setting_marking_rate 1",
		"cc_ca_cong_setting_port_control 0", "cc_ca_cong_setting_control_map 0x0003",
		"cc_ca_cong_setting_ccti_timer 0 150", "cc_ca_cong_setting_ccti_timer 1 200", "cc_cct 0:0,0:1,0:2,1:3")
	host, sw := lidOf(t, s, "host002"), lidOfSwitch(t, s, "switch1")
	within(t, time.Minute, "opensm sets up congestion control", func() bool {
		return strings.HasPrefix(ibccquery(t, s, "CT "+host), "CCTI_Limit:......................3\n")
	})
	for query, want := range map[string]string{
		"SS " + sw:   "Victim_Mask:.....................00000000000000000000000000000000000000000000000000000000000001ff\n",
		"CS " + host: "SL:..............................1\nCCTI_Timer:......................200\n",
		"CT " + host: "Entry:...........................3\nCCT_Shift:.......................1\nCCT_Multiplier:..................3\n",
	} {
		if got := ibccquery(t, s, query); !strings.Contains(got, want) {
			t.Errorf("ibccquery %s: got\n%s\nwant %s", query, got, want)
		}
	}
	// ibkit cc finds nothing to change.
	within(t, time.Minute, "all nodes have the settings of opensm", func() bool {
		return ccSame(t, s, "host002", `
[switch]
victim_mask = 0-8
threshold = 15
packet_size = 8
marking_rate = 1
[adapter]
control = qp
cct = 0:0, 0:1, 0:2, 1:3
[sl]
sls = 0
ccti_timer = 150
[sl]
sls = 1
ccti_timer = 200
`, 4)
	})
}
