package host

import (
	"cmp"
	"maps"
	"strconv"

	"github.com/ibkit/ibkit/internal/sysfs"
	"github.com/ibkit/ibkit/internal/tool/roce"
)

// Counters are port and device counters, by the name of their sysfs file.
type Counters map[string]uint64

// ReadCounters reads all readable port and device counters.
func ReadCounters(device string, port uint8) Counters {
	return readCounters(sysfs.Default, device, port)
}

func readCounters(fs sysfs.FS, device string, number uint8) Counters {
	all := Counters{}
	var problems []error
	d := fs.Dir(&problems, "class/infiniband", device)
	for _, dir := range []sysfs.Dir{
		d.Sub("hw_counters"), d.Sub("ports").Sub(strconv.Itoa(int(number))).Sub("counters"),
		d.Sub("ports").Sub(strconv.Itoa(int(number))).Sub("hw_counters"),
	} {
		maps.Copy(all, dir.Counters())
	}
	return all
}

// Since returns the increments since an earlier reading, without counters that did
// not change.
func (c Counters) Since(before Counters) Counters {
	moved := Counters{}
	for name, v := range c {
		was, ok := before[name]
		switch {
		case ok && v > was:
			moved[name] = v - was
		case ok && 0 < v && v < was: // reset in the meantime
			moved[name] = v
		}
	}
	return moved
}

// troubles are the counters that explain a bad figure, by the names that drivers use
// (hw_counters in rxe and mlx5, and the PortInfo counters). Package roce has those of other
// drivers.
var troubles = map[string]string{
	"duplicate_request":               "duplicate requests",
	"out_of_seq_request":              "requests out of sequence",
	"rcvd_rnr_err":                    "RNR received",
	"send_rnr_err":                    "RNR sent",
	"rcvd_seq_err":                    "NAK for a gap received",
	"retry_exceeded_err":              "retries exceeded",
	"retry_rnr_exceeded_err":          "RNR retries exceeded",
	"completer_retry_err":             "retries",
	"send_err":                        "packets not sent",
	"link_downed":                     "link down",
	"out_of_sequence":                 "packets out of sequence",
	"out_of_buffer":                   "no receive buffer",
	"packet_seq_err":                  "NAK for a gap received",
	"local_ack_timeout_err":           "acknowledge timeouts",
	"rnr_nak_retry_err":               "RNR received",
	"implied_nak_seq_err":             "implied NAK",
	"np_cnp_sent":                     "CNP sent",
	"rp_cnp_handled":                  "CNP handled",
	"rp_cnp_ignored":                  "CNP ignored",
	"roce_adp_retrans":                "adaptive retransmissions",
	"roce_slow_restart":               "slow restarts",
	"cnpIgnored":                      "CNP ignored",
	"port_rcv_errors":                 "receive errors",
	"port_xmit_discards":              "packets discarded",
	"port_xmit_wait":                  "ticks waited to send",
	"symbol_error":                    "symbol errors",
	"local_link_integrity_errors":     "link integrity errors",
	"link_error_recovery":             "link recoveries",
	"excessive_buffer_overrun_errors": "buffer overruns",
}

// Trouble returns the meaning if a counter explains a bad figure, "" for other
// counters.
func Trouble(name string) string { return cmp.Or(troubles[name], roce.Trouble(name)) }
