//go:build oracle

package cmd

// With this tag, TestLostReplies has the cases that take long in place of the others.
func init() {
	lossCases = []lossCase{
		{"demo", "linkinfo --json --node leaf1"},
		{"demo", "query PortInfo leaf1 --source nodes --json"},
		{"demo", "addr fe80::2:c900:10:a01 --source nodes --json"},
		{"demo", "ping --via pma -c 1 --interval 1ms --json --cas"},
		{"demo", "exporter --once"},
		{"demo", "top --once --interval 1ms --limit 100 --json"},
		{tree, "exporter --once --detail-counters fec,errors,discards --names guilbaults"},
		{"demo", "counters --json leaf1"},
		{"demo", "check routes --json"},
		{"demo", "check fabric --json"},
		{"demo", "cc --json"},
		{"demo", "counters --all --json"},
		{"demo", "routes --json --balance"},
	}
}
