package perftest

import (
	"fmt"
	"math"
	"slices"

	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/cmd/internal/getopt"
	"github.com/ibkit/ibkit/cmd/internal/shared/nosim"
	"github.com/ibkit/ibkit/internal/tool/perf/perftest"
)

// An option is a perftest option with the programs that accept it. A program rejects
// options outside its groups like perftest: as unknown.
type option struct {
	getopt.Option

	in      group // supported
	ignored group // accepted without effect, as in perftest
	refused group // not supported: the program ends with reason
	reason  string

	noEffect bool // supported because its purpose is met anyway
	newer    bool // from a release after 4.5

	native, note string // columns in docs/migration.md
}

// A group is a program set.
type group func(perftest.Order) bool

func all(perftest.Order) bool             { return true }
func bandwidth(o perftest.Order) bool     { return o.Bandwidth }
func latency(o perftest.Order) bool       { return !o.Bandwidth }
func sends(o perftest.Order) bool         { return o.Verb == perftest.Send }
func writes(o perftest.Order) bool        { return o.Verb == perftest.Write }
func atomics(o perftest.Order) bool       { return o.Verb == perftest.Atomic }
func requests(o perftest.Order) bool      { return sends(o) || writes(o) }
func responses(o perftest.Order) bool     { return !requests(o) }
func not(g group) group                   { return func(o perftest.Order) bool { return !g(o) } }
func both(a, b group) group               { return func(o perftest.Order) bool { return a(o) && b(o) } }
func (g group) has(o perftest.Order) bool { return g != nil && g(o) }

// table returns all programs' options in usage text order.
func (c *command) table() []option {
	return slices.Concat(c.letters(), c.words(), c.rates(), newerOptions(c), unsupported())
}

// opt returns an option that is only declared by its names and value.
func opt(short byte, long, arg, help string, set func(string) error) getopt.Option {
	return getopt.Option{Short: short, Long: long, Arg: arg, Help: help, Set: set}
}

// letters are the options with a letter.
func (c *command) letters() []option {
	t := &c.test
	device := opt('d', "ib-dev", "DEVICE", "local device (default: the one of the route to the peer)", getopt.Text(&c.device))
	device.Complete = cmdutil.DeviceNames
	return []option{
		{Option: opt('a', "all", "", "sizes from 2 to 2^23", getopt.True(&t.All)), in: not(atomics), native: "`--size sweep`"},
		{Option: opt('A', "atomic_type", "TYPE", "CMP_AND_SWAP or FETCH_AND_ADD (default)", c.setAtomicType), in: atomics, native: "`--test`: `fetch-add-lat`, `compare-swap-bw`, ..."},
		{Option: opt('b', "bidirectional", "", "send in both directions", getopt.True(&t.Bidirectional)), in: bandwidth, native: "the same"},
		{Option: opt('c', "connection", "TYPE", "RC (default), UC, UD, XRC or SRD", c.setConnection), in: all, native: "`--transport`", note: "SRD on AWS's adapters; DC is refused"},
		{Option: opt('C', "report-cycles", "", "print times in cycles of the time-stamp counter", getopt.True(&c.cycles)), in: latency, note: "only on processors with such a counter"},
		{Option: device, in: all, native: "`-d`, `--device`", note: "default: the one with the best GID to reach the peer"},
		{Option: opt('D', "duration", "SECONDS", "measure for a time", func(value string) error {
			c.durationGiven = true
			return seconds(&t.Duration, 1)(value)
		}), in: all, native: "the same, with a unit: `10s`"},
		{Option: opt('e', "events", "", "wait for completion events instead of polling", getopt.True(&t.Events)), in: not(writes), native: "`--events`", note: "`ib_send_lat` of perftest may miss an event and wait without end"},
		{Option: opt('f', "margin", "SECONDS", "uncounted time at each end of -D (default: a quarter of it)", func(value string) error {
			c.marginGiven = true
			return seconds(&t.Margin, 0)(value)
		}), in: all, native: "`--margin`, with `--peer perftest`"},
		{Option: opt('F', "CPU-freq", "", "no effect: the frequency of the processor is not used", getopt.Ignore), in: all, noEffect: true, note: "the CPU frequency is not used"},
		{Option: opt('g', "mcg", "", "send datagrams to a multicast group", getopt.True(&c.multicast)), in: sends, native: "`--group`", note: "on RoCE; joins the group at the network device"},
		{Option: opt('h', "help", "", "show this text", getopt.Usage), in: all, native: "the same"},
		{Option: opt('H', "report-histogram", "", "print all times in ascending order", getopt.True(&c.sorted)), in: latency, native: "`--plot`", note: "prints the two longest times, too"},
		{Option: opt('i', "ib-port", "PORT", "port of the device (default: the first active one)", number(&c.port, 1, 255)), in: all, native: "`--ib-port`"},
		{Option: opt('I', "inline_size", "BYTES", "maximum size of inline messages", number(&t.Inline, 0, 1024)), in: requests, native: "`--inline`"},
		{Option: opt('l', "post_list", "N", "post N messages at a time", c.setList(&t.List, maxList)), in: bandwidth, ignored: latency, native: "`--post-list`", note: "only 1 if ignored, as in perftest"},
		{Option: opt('L', "hop_limit", "N", "64: another value requires raw Ethernet", number(new(int), 64, 64)), in: all, native: "`--hop-limit`", note: "perftest accepts only 64 as well"},
		{Option: opt('m', "mtu", "BYTES", "size of a packet (default: the MTU of the port)", c.setMTU), in: all, native: "`--mtu`"},
		{Option: opt('M', "MGID", "GID", "multicast group of this side (with -g): 16 numbers 255:1:...", c.setGroup), in: sends, native: "`--group`", note: "without -g, where perftest ignores it, an error"},
		{Option: opt('n', "iters", "N", "number of messages, at least 5 (default 1000, ib_write_bw 5000)", number(&t.Iterations, 5, math.MaxInt32)), in: all, native: "`-n`, `--iterations`"},
		{Option: opt('N', "noPeak", "", "no peak bandwidth", getopt.True(&c.test.NoPeak)), in: bandwidth},
		{Option: opt('o', "outs", "N", "operations in flight (default: the maximum of the device)", number(&t.OutReads, 1, 128)), in: responses, native: "the maximum of both devices"},
		{Option: opt('p', "port", "PORT", "TCP port (default 18515)", number(&c.tcp, 1, math.MaxUint16)), in: all, native: "`HOST:PORT`; server: `--bind`"},
		{Option: opt('q', "qp", "N", "number of queue pairs (default 1)", number(&t.QueuePairs, 1, 16384)), in: bandwidth, native: "`--qps`; `--threads`"},
		{Option: opt('Q', "cq-mod", "N", "messages per completion (default 100)", func(value string) error {
			t.ModerationGiven = true
			return number(&t.Moderation, 1, 1024)(value)
		}), in: bandwidth, ignored: latency, native: "`--cq-moderation`"},
		{Option: opt('r', "rx-depth", "N", "number of posted receives (default 512)", c.setRxDepth), in: requests, ignored: not(requests), native: "`--rx-depth`", note: "only 1 if ignored and for writes without `--write_with_imm`, as in perftest"},
		{Option: opt('R', "rdma_cm", "", "connect queue pairs and programs by the connection manager", getopt.True(&c.cm.QueuePairs)), in: all, native: "`--cm`", note: "the host is an address of the RDMA device"},
		{Option: opt('s', "size", "BYTES", "size of a message, with K or M (default 2, bandwidth 65536)", c.setSize), in: not(atomics), ignored: atomics, native: "the same; lists and ranges: `64,4K,1M`, `64-1M`", note: "only 8 if ignored, as in perftest"},
		{Option: opt('S', "sl", "SL", "service level", number(&t.SL, 0, 15)), in: all, native: "the same"},
		{Option: opt('t', "tx-depth", "N", "messages in flight (default 128)", number(&t.TxDepth, 1, 15000)), in: bandwidth, ignored: latency, native: "`--tx-depth`"},
		{Option: opt('T', "tos", "TOS", "type of service (with -R)", func(value string) error {
			c.cm.TOS = new(uint8)
			return number(c.cm.TOS, 0, 255)(value)
		}), in: all, native: "`--tos`"},
		{Option: opt('u', "qp-timeout", "N", "timeout of 4.096 us * 2^N (default 14)", func(value string) error {
			c.cm.ACKTimeout = &t.Timeout
			return number(&t.Timeout, 0, 31)(value)
		}), in: all, native: "`--qp-timeout`", note: "with -R as well, as in newer releases"},
		{Option: opt('U', "report-unsorted", "", "print all times in their order", getopt.True(&c.unsorted)), in: latency, native: "`--plot`"},
		{Option: opt('V', "version", "", "show the version", c.showVersion), in: all, native: "`ibkit version`"},
		{Option: opt('w', "limit_bw", "RATE", "exit with 1 below this bandwidth", limit(&c.minRate)), in: bandwidth, ignored: latency, native: "`--min-bw`, with exit code 3"},
		{Option: opt('W', "report-counters", "LIST", "print changes of counters such as counters/port_xmit_data", c.setCounters), in: all, native: "all counters that changed"},
		{Option: opt('x', "gid-index", "INDEX", "local GID (default: the one of the route to the peer)", number(&c.gidIndex, 0, 255)), in: all, native: "the same", note: "default: the best GID to reach the peer, which is printed"},
		{Option: opt('X', "vector", "N", "completion vector for events (default 0)", func(value string) error {
			c.vectorGiven = true
			return number(&t.Vector, 0, 2048)(value)
		}), in: not(writes)},
		{Option: opt('y', "limit_msgrate", "RATE", "exit with 1 below this message rate", limit(&c.minMsgs)), in: bandwidth, ignored: latency, native: "`messages_per_second` of `--json`"},
		{Option: opt('z', "com_rdma_cm", "", "exchange messages by the connection manager instead of TCP", getopt.True(&c.overCM)), in: all, native: "`--cm`, with `--peer perftest` also the queue pairs"},
	}
}

// words are the options without a letter.
func (c *command) words() []option {
	t := &c.test
	return []option{
		{Option: opt(0, "comm_rdma_cm", "", "the same as -z: perftest's usage has another name than its parser", getopt.True(&c.overCM)), in: all, native: "`--cm`"},
		{Option: opt(0, "cpu_util", "", "print the load of the processors in user mode (with -D)", getopt.True(&t.CPUUtil)), in: all, native: "time of the loops", note: "time in user mode, as in perftest"},
		{Option: opt(0, "disable_pcie_relaxed", "", "no effect: relaxed ordering is not requested", getopt.Ignore), in: bandwidth, ignored: latency, noEffect: true, note: "relaxed ordering is not requested"},
		{Option: opt(0, "dlid", "LID", "LID of the peer (default: the one that the peer sends)", number(&t.DLID, 0, math.MaxUint16)), in: all},
		{Option: opt(0, "dont_xchg_versions", "", "no effect: versions are always exchanged", getopt.Ignore), in: all, noEffect: true, note: "perftest always fails with it"},
		{Option: opt(0, "force-link", "TYPE", "require the link layer IB or Ethernet", c.setLink), in: all, note: "an error if the link layer of the port differs"},
		{Option: opt(0, "inline_recv", "BYTES", "no effect, as in perftest", number(new(int), 0, math.MaxInt32)), ignored: all},
		{Option: opt(0, "ipv6", "", "use no GID of an IPv4 address", getopt.True(&c.ipv6)), in: all, native: "`--gid-index`"},
		{Option: opt(0, "latency_gap", "TIME", "pause of TIME us before each message", c.setGap), in: latency, ignored: bandwidth, note: "the pause is a part of the times, as in perftest; only 0 if ignored"},
		{Option: opt(0, "mr_per_qp", "", "register memory for each queue pair", getopt.True(&t.RegionPerQP)), in: bandwidth, ignored: latency},
		{Option: opt(0, "odp", "", "use on-demand paging", getopt.True(&t.OnDemand)), in: all, note: "an error if the device does not support it, such as Soft-RoCE of Linux 6.1"},
		{Option: opt(0, "out_json", "", "write the results to a JSON file", getopt.True(&c.json)), in: all, native: "`--json`", note: "valid JSON, as of perftest 24.01; the file of 4.5 is not JSON"},
		{Option: opt(0, "out_json_file", "FILE", "name of the JSON file (default perftest_out.json)", getopt.Text(&c.jsonFile)), in: all, native: "`--json`", note: "with `--out_json`"},
		{Option: opt(0, "output", "FIGURE", "print only bandwidth, message_rate or latency", c.setOutput), in: all, native: "`--json`"},
		{Option: opt(0, "perform_warm_up", "", "send uncounted messages first", getopt.True(&t.WarmUp)), in: both(bandwidth, not(sends)), ignored: all, native: "`--warmup`"},
		{Option: opt(0, "pkey_index", "INDEX", "index of the P_Key", number(&t.PKeyIndex, 0, math.MaxUint16)), in: all, native: "`--pkey-index`"},
		{Option: opt(0, "recv_post_list", "N", "post N receives at a time", c.setList(&t.RecvList, 16384)), in: bandwidth, ignored: latency, note: "only 1 if ignored, as in perftest"},
		{Option: opt(0, "report-both", "", "print the results of both directions (with -b)", getopt.True(&c.bothResults)), in: bandwidth, ignored: latency, native: "always"},
		{Option: opt(0, "report_gbits", "", "print Gb/s instead of MiB/s", getopt.True(&t.Gbits)), in: bandwidth, ignored: latency, native: "`--unit`, default: `gbit`"},
		{Option: opt(0, "retry_count", "N", "number of retransmissions (default 7)", number(&t.RetryCount, 0, 7)), in: all, native: "`--retry`"},
		{Option: opt(0, "reversed", "", "the server sends to the client", getopt.True(&t.Reversed)), in: all},
		{Option: opt(0, "run_infinitely", "", "print results every 5 s, or every -D, without end", getopt.True(&t.Infinite)), in: bandwidth},
		{Option: opt(0, "source_ip", "ADDRESS", "local address of the TCP connection", c.setSource), in: all},
		{Option: opt(0, "tclass", "CLASS", "traffic class", number(&t.TrafficClass, 0, 255)), in: all, native: "the same"},
		{Option: opt(0, "use-srq", "", "use a shared receive queue with -r receives", getopt.True(&t.SharedReceives)), in: sends, native: "`--shared-receives`"},
		{Option: opt(0, "use_hugepages", "", "use huge pages (vm.nr_hugepages)", getopt.True(&t.Huge)), in: all, native: "`--huge`"},
		{Option: opt(0, "use_old_post_send", "", "no effect: work requests have one form", getopt.Ignore), in: all, noEffect: true, note: "work requests have one form"},
		{Option: opt(0, "wait_destroy", "SECONDS", "wait before the release of all objects", seconds(&c.wait, 0)), in: all},
	}
}

// rates are the rate limiter options.
func (c *command) rates() []option {
	return []option{
		{Option: opt(0, "burst_size", "N", "messages sent without a pause (default: -t)", number(&c.limiter.burst, 0, math.MaxInt32)), in: all, native: "`--burst`"},
		{Option: opt(0, "rate_limit", "RATE", "maximum rate of messages", c.limiter.setRate), in: all, native: "`--rate-limit`", note: "without it, a limit by software is an error"},
		{Option: opt(0, "rate_units", "UNIT", "M (MiB/s), g (Gb/s, default) or p (messages per second)", c.limiter.setUnit), in: all, native: "`--rate-limit`: `1000`, `10gbit`, `500mib`", note: "perftest ignores M for a limit by the device"},
		{Option: opt(0, "rate_limit_type", "TYPE", "HW (default) or SW", c.limiter.setKind), in: all, note: "SW only for bandwidth tests; PP requires raw Ethernet in perftest, too"},
	}
}

// newerOptions are the options that perftest has since 4.5.
func newerOptions(c *command) []option {
	t := &c.test
	list := []option{
		{Option: opt(0, "bind_source_ip", "ADDRESS", "local address of the TCP connection", c.setSource), in: all},
		{Option: opt(0, "cqe_poll", "N", "completions per poll (default 64)", number(&t.PollBatch, 1, math.MaxUint16)), in: bandwidth, ignored: latency},
		{Option: opt(0, "disable_dynamic_polling", "", "no effect: the number of completions per poll is fixed", getopt.Ignore), in: bandwidth, ignored: latency, noEffect: true, note: "the number is fixed"},
		{Option: opt(0, "disable_numa", "", "leave the selection of processors to the kernel", getopt.True(&c.cpus.Off)), in: all, native: "`--cpu off`"},
		{Option: opt(0, "flow_label", "LABELS", "flow labels of the queue pairs, in turn: 1,2,...", c.setFlowLabels), in: all, native: "`--flow-label`", note: "Soft-RoCE does not send them"},
		{Option: opt(0, "ipv6-addr", "", "use IPv6 for the TCP connection", getopt.True(&c.tcp6)), in: all},
		{Option: opt(0, "no_lock", "", "no effect: queues have no locks", getopt.Ignore), in: all, noEffect: true, note: "the queues of a loop have no locks"},
		{Option: opt(0, "write_with_imm", "", "write with immediate data, which consumes a receive", getopt.True(&t.Imm)), in: writes, native: "`--imm`", note: "not over XRC"},
		{Option: opt(0, "use_cuda", "N", "messages in the memory of NVIDIA's GPU N", c.setCUDA), in: all, native: "`--memory cuda:N`", note: "registered as a dma-buf, without nvidia_peermem; needs the program ibkit-cuda"},
		{Option: opt(0, "use_cuda_bus_id", "ADDRESS", "the same, by PCI address", c.setCUDA), in: all, native: "`--memory cuda:ADDRESS`"},
		{Option: opt(0, "use_cuda_dmabuf", "", "no effect: GPU memory is always registered as a dma-buf", getopt.True(&c.dmaBuf)), in: all, noEffect: true, note: "GPU memory is always registered so; an error without `--use_cuda`"},
		{Option: opt(0, "cuda_mem_type", "TYPE", "0: another type requires on-demand paging", number(new(int), 0, 0)), in: all, noEffect: true, note: "only 0, memory of the device"},
		{Option: opt(0, "pin_cores", "LIST", "processors to select from, such as 0-3,8", c.setCPUs), in: all, native: "`--cpu`"},
	}
	for i := range list {
		list[i].newer = true
	}
	return list
}

// unsupported are the options that the programs refuse.
func unsupported() []option {
	const (
		dualPort  = "tests of two ports at a time are not supported"
		mmap      = "messages in the memory of a file are not supported"
		dci       = "connections of type DC are not supported"
		crypto    = "encryption by the device is not supported"
		feature   = "features of particular devices are not supported"
		gpu       = "only plain memory of a GPU is supported"
		immediate = "sends with immediate data are not supported"
		validate  = "validation by the protocol of perftest is not supported"
	)
	refuse := func(o getopt.Option, in group, reason string) option {
		o.Set = func(string) error { return fmt.Errorf("%s", reason) }
		return option{Option: o, refused: in, reason: reason}
	}
	newer := func(o getopt.Option, in group, reason string) option {
		r := refuse(o, in, reason)
		r.newer = true
		return r
	}
	word := func(name, arg string) getopt.Option { return getopt.Option{Long: name, Arg: arg} }
	return []option{
		refuse(opt('O', "dualport", "", "", nil), bandwidth, dualPort),
		refuse(word("report-per-port", ""), bandwidth, dualPort),
		refuse(word("mmap", "FILE"), all, mmap),
		refuse(word("mmap-offset", "OFFSET"), all, mmap),
		refuse(word("typical_pkt_size", "BYTES"), bandwidth, "packet pacing is not supported; perftest requires raw Ethernet for it"),
		refuse(word("log_dci_streams", "N"), all, dci),
		refuse(word("log_active_dci_streams", "N"), all, dci),
		refuse(word("aes_xts", ""), all, crypto),
		refuse(word("encrypt_on_tx", ""), all, crypto),
		refuse(word("sig_before", ""), all, crypto),
		refuse(word("aes_block_size", "BYTES"), all, crypto),
		refuse(word("data_enc_keys_number", "N"), all, crypto),
		refuse(word("kek_path", "FILE"), all, crypto),
		refuse(word("credentials_path", "FILE"), all, crypto),
		refuse(word("data_enc_key_app_path", "FILE"), all, crypto),
		newer(word("connectionless", ""), both(sends, bandwidth), "datagrams without an exchange of addresses are not supported"),
		newer(word("data_validation", ""), bandwidth, validate),
		newer(word("data_validation_debug", ""), bandwidth, validate),
		newer(word("payload_file_path", "FILE"), all, "payloads from a file are not supported"),
		newer(word("unsolicited_write", ""), writes, "receives without work requests (of SRD) are not supported"),
		newer(word("send_with_imm", ""), sends, immediate),
		newer(word("use-null-mr", ""), not(atomics), "null memory regions are not supported"),
		newer(word("numa_node", "NODE"), all, "the selection of a node is not supported, that of processors is: --pin_cores"),
		newer(word("use_cuda_pcie_mapping", ""), all, gpu),
		newer(word("use_data_direct", ""), all, gpu),
		newer(word("gpu_touch", "MODE"), all, gpu),
		newer(word("use_ooo", ""), all, feature),
		newer(word("no_enhanced_reorder", ""), all, feature),
		newer(word("sig_offload", ""), all, feature),
		newer(word("congest_type", "TYPE"), all, feature),
		newer(word("no_ddp", ""), all, feature),
		newer(word("tph_mem", "TYPE"), all, feature),
		newer(word("cpu_id", "CPU"), all, feature),
		newer(word("ph", "HINT"), all, feature),
	}
}

// options returns the program's options. perftest options that ibkit lacks are rejected
// with a reason, because a test must not differ from its command line.
func (c *command) options() []getopt.Option {
	var list []getopt.Option
	for _, o := range c.table() {
		switch order := c.test.Order; {
		case o.in.has(order):
		case o.ignored.has(order):
			o.Help = "no effect, as in perftest"
			o.Unlisted = o.in != nil
		case o.refused.has(order):
			o.Unlisted, o.Help = true, "not supported"
		default:
			continue
		}
		o.Extension = o.newer // abbreviations as in 4.5
		list = append(list, o.Option)
	}
	// perftest accepts this spelling only, and lists the other.
	if !c.test.Bandwidth {
		list = append(list, getopt.Option{Long: "report-histogrm", Set: getopt.True(&c.sorted), Unlisted: true})
	}
	return append(list, nosim.Options(&c.sim)...)
}
