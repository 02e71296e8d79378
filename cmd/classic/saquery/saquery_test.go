package saquery

import (
	"strings"
	"testing"

	"github.com/ibkit/ibkit/cmd/internal/cmdtest"
)

// The C tool prints the same output; test/oracle has more cases.
func TestSaquery(t *testing.T) {
	program := cmdtest.Classic(New)
	for line, want := range map[string]struct {
		code int
		out  string
	}{
		"-L leaf1":  {0, "3\n"},
		"-O 3":      {0, "leaf1\n"},
		"-G node07": {0, "0x0002c90000100a01\n"},
		"LR 3/1":    {0, "LinkRecord dump:\n\t\tFromLID....................3\n\t\tFromPort...................1\n\t\tToPort.....................1\n\t\tToLID......................1\n"},
		"NR 0":      {22, ""},
		"NR nosuch": {64, ""},
		"PKTR 4":    {5, ""},
		"-L":        {2, ""},
		"-O 0":      {2, ""},
		"-g":        {0, "MCMemberRecord group dump:\n\t\tMGID....................ff12:401b:ffff::ffff:ffff\n\t\tMlid....................0xC000\n\t\tMtu.....................0x84\n\t\tpkey....................0xFFFF\n\t\tRate....................0x83\n\t\tSL......................0x0\n"},
	} {
		t.Run(line, func(t *testing.T) {
			code, out, err := program.Run(t, map[string]string{"IBKIT_SIM": "demo"}, append([]string{"saquery"}, strings.Fields(line)...)...)
			if code != want.code || out != want.out || (code == 0) != (err == "") && out == "" {
				t.Errorf("got exit code %d and\n%q\n%swant %d and\n%q", code, out, err, want.code, want.out)
			}
		})
	}
}

// Package oracle recorded the output and the exit codes of the C tool on this fabric.
func TestSaquery_Recorded(t *testing.T) {
	program := cmdtest.Classic(New)
	program.RunOnFabric(t, "recorded.golden", map[string]string{"IBKIT_SIM": "demo", "SIM_HOST": "node07"},
		"saquery -c",
		"saquery NR 22",
		"saquery NodeRecord 11",
		"saquery NR 0",
		"saquery NR -5",
		"saquery -N 22",
		"saquery SWIR 18",
		"saquery LR 18/1",
		"saquery linkrecord 22/x",
		"saquery LR /1",
		"saquery --src-to-dst 22:11",
		"saquery --src-to-dst 22:99",
		"saquery --src-to-dst 22:0",
		"saquery --sgid-to-dgid fe80::0002:c900:0010:1501",
		"saquery -p --slid 22 --dlid 11 --sl 1",
		"saquery -p --slid 22 --dlid 11 --pkt_lifetime 18",
		"saquery --dlid 11 --slid 22 --pa",
		"saquery PKTR 22",
		"saquery --smkey 0x1 PKTR 22",
		"saquery SL2VL 22/0/0",
		"saquery GIR 22",
		"saquery VLAR 22/1/1",
		"saquery LFTR 18/0",
		"saquery MFTR",
		"saquery MFTR 18/0/0",
		"saquery PIR 22/9",
		"saquery -S",
		"saquery -I",
		"saquery IIR fe80::0002:c900:0010:1501",
		"saquery IIR fe80::1",
		"saquery -m",
		"saquery MCMR",
		"saquery MCMR --mlid 0xc001",
		"saquery MCMR --gid fe80::0002:c900:0010:1501",
		"saquery MCMR -J 1",
		"saquery nosuch",
		"saquery -l",
		"saquery -O",
		"saquery -O 0",
		"saquery --nosuch",
		"saquery -C nosuch -c",
		"saquery --N 22",
		"saquery --l",
		"saquery --U",
		"saquery --I",
	)
}
