package cmd

import (
	"bytes"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/ibkit/ibkit/cmd/internal/cmdtest"
	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/umad"
	"github.com/ibkit/ibkit/umad/umadtest"
)

// TestPKeyIndex checks the P_Key index in the packets of infiniband-diags tools: subnet
// management packets always have index 0 (mad_build_pkt in libibmad 65).
func TestPKeyIndex(t *testing.T) {
	for line, want := range map[string]struct{ smps, others bool }{
		"dump_fts -Y 3":                            {true, false},
		"dump_lfts -Y 3":                           {true, false},
		"dump_mfts -Y 3":                           {true, false},
		"ibaddr -Y 3 3":                            {true, false},
		"ibccconfig -Y 3 CK 3 1 0 0 0":             {true, true},
		"ibccquery -Y 3 CI 3":                      {false, true},
		"iblinkinfo -Y 3":                          {true, false},
		"ibnetdiscover -Y 3":                       {true, false},
		"ibping -Y 3 -t 5 -c 1 -f 11":              {false, true},
		"ibportstate -Y 3 3 3":                     {true, false},
		"ibportstate -Y 3 -G 0x0002c90000800200 3": {true, true},
		"ibqueryerrors -Y 3 -t 5":                  {true, true},
		"ibroute -Y 3 3":                           {true, false},
		"ibsysstat -Y 3 -t 5 11":                   {false, true},
		"ibtracert -Y 3 4 11":                      {true, false},
		"perfquery --pkey-idx 0x3 3 1":             {false, true},
		"saquery --pkey-idx=3":                     {false, true},
		"sminfo -Y 3":                              {true, false},
		"smpdump -Y 3 3 0x11":                      {true, false},
		"smpquery -Y 3 pi 3 1":                     {true, false},
		"vendstat -Y 3 -t 5 -N 3":                  {false, true},
	} {
		t.Run(line, func(t *testing.T) {
			var smps, others int
			record := umadtest.Tamper{Lose: func(m *umad.Message) bool {
				count, index := &others, uint16(3)
				if m.MAD.Class().IsSMP() {
					count, index = &smps, 0
				}
				if *count++; m.Addr.PKeyIndex != index {
					t.Errorf("%v %s: got P_Key index %d, want %d", m.MAD.Method(), m.MAD.Class().AttrName(m.MAD.Attr()), m.Addr.PKeyIndex, index)
				}
				return false
			}}
			env := map[string]string{"IBKIT_SIM": "demo"}
			var out, errOut bytes.Buffer
			e := &cmdutil.Env{In: strings.NewReader(""), Out: &out, ErrOut: &errOut, Getenv: func(k string) string { return env[k] }, Transport: record.Port}
			cmdtest.OutsideBubbles()
			synctest.Test(t, func(t *testing.T) { run(t.Context(), e, strings.Fields(line)) })
			if smps > 0 != want.smps || others > 0 != want.others {
				t.Errorf("got %d subnet management packets and %d others, want %+v\n%s%s", smps, others, want, &out, &errOut)
			}
		})
	}
}

// TestPKeyIndex_Invalid has the results of infiniband-diags 65.
func TestPKeyIndex_Invalid(t *testing.T) {
	for _, value := range []string{"65536", "-1", "x", "3x", "", "0x10000000000000000"} {
		t.Run(value, func(t *testing.T) {
			code, out, _ := program.Run(t, map[string]string{"IBKIT_SIM": "demo"}, "smpquery", "-Y", value, "ni", "3")
			want := "smpquery: iberror: failed: Invalid P_Key index \"" + value + "\".  Requires an integer in the range [0, 65535].\n"
			if code != 255 || out != want {
				t.Errorf("got exit code %d, want 255; got %q, want %q", code, out, want)
			}
		})
	}
}
