package cmtime

import (
	"bytes"
	"strings"
	"testing"

	"github.com/ibkit/ibkit/cmd/internal/cmdtest"
	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/cmd/internal/shared/rdmacmutils"
	"github.com/ibkit/ibkit/internal/tool/cm/peers"
)

// usageText is the usage text of rdmacm-utils 65.
const usageText = "usage: cmtime\n\t-B bind_interface (only one of -B or -b accepted)\n\t-b bind_address (only one of -B or -b accepted)\n\t-C controller_address\n" +
	"\t[-c num_conns] connections per listener\n\t[-L] run as listening server\n\t[-m mimic_qp_delay_us]\n\t[-n num_threads]\n" +
	"\t[-P num_peers] total number of peers\n\t[-p oob_port]\n\t[-q base_qpn]\n\t[-r retries]\n" +
	"\t[-S] run socket baseline test, 2 peers only\n\t[-t timeout_ms]\n"

func TestCmtime_Group(t *testing.T) {
	program := cmdtest.Classic(New)
	for line, test := range map[string]struct {
		code     int
		out, err string
	}{
		"cmtime -x":                             {1, usageText, "cmtime: invalid option -- 'x'\n"},
		"cmtime -C 10.0.0.1":                    {1, usageText, ""},
		"cmtime -C 10.0.0.1 -b 10.0.0.1 -B lo":  {1, usageText, ""},
		"cmtime -C 10.0.0.1 -b 10.0.0.1 -P 1":   {1, usageText, ""},
		"cmtime -C 10.0.0.1 -b 10.0.0.1 -S":     {1, usageText, "cmtime: option requires an argument -- 'S'\n"},
		"cmtime -C 10.0.0.1 -b 10.0.0.1 -S x":   {1, "", "cmtime: -S: a test of TCP sockets is not supported\n"},
		"cmtime -C 10.0.0.1 -b 10.0.0.1 -n 0":   {1, "", "cmtime: 2 peers, 100 connections, 0 threads: not supported\n"},
		"cmtime -C 10.0.0.1 -b 10.0.0.1 -s h":   {1, "", "cmtime: -s and -C are the options of different releases\n"},
		"cmtime -C 10.0.0.1 -B none":            {1, "", "Failed to find IP address for interface: none\n"},
		"cmtime --sim -C 10.0.0.1 -b 127.0.0.1": {1, "", ""},
		"cmtime -L":                             {1, usageText, ""},
		"cmtime -B lo -n 2":                     {1, usageText, ""},
		"cmtime -P 2 -s 10.0.0.1":               {1, usageText, ""},
		"cmtime -s 10.0.0.1 -S x":               {1, "", "cmtime: -S: a test of TCP sockets is not supported\n"},
		"cmtime -s 10.0.0.1 -n 0":               {1, "", "cmtime: 2 peers, 100 connections, 0 threads: not supported\n"},
		"cmtime -s 10.0.0.1 -n 2 -c 0":          {1, "", "cmtime: 2 peers, 0 connections, 2 threads: not supported\n"},
	} {
		t.Run(line, func(t *testing.T) {
			code, out, err := program.Run(t, nil, strings.Fields(line)...)
			if code != test.code || out != test.out || test.err != "" && err != test.err {
				t.Errorf("got exit code %d, output %q, error output %q, want %d, %q, %q", code, out, err, test.code, test.out, test.err)
			}
		})
	}
}

// TestShowRound has the table of show_perf in cmtime.c.
func TestShowRound(t *testing.T) {
	var out bytes.Buffer
	c := &command{Program: rdmacmutils.Program{Env: &cmdutil.Env{Out: &out}}}
	c.showRound("conn")(peers.Round{QueuePairs: true, Count: 4, Threads: 2, Times: []peers.Times{{Step: peers.StepConnect, Total: 4001, Sum: 9000, Max: 3000, Min: 1000}}})
	const want = "qp_conn                 4\nthreads                 2\n" +
		"step             avg/conn  total(us)    us/conn    sum(us)    max(us)    min(us)\n" +
		"cm connect           1000       4001       2250       9000       3000       1000\n"
	if out.String() != want {
		t.Errorf("got\n%s\nwant\n%s", &out, want)
	}
}
