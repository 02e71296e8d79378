package perftestview

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/ibkit/ibkit/internal/tool/perf/perftest"
)

// A Member is a member of a JSON object.
type Member struct {
	Name  string
	Value any // a string, an integer, or a Decimal
}

// A Decimal is a number with a fixed number of decimals.
type Decimal struct {
	Value    float64
	Decimals int
}

// MarshalJSON returns the number.
func (d Decimal) MarshalJSON() ([]byte, error) {
	return fmt.Appendf(nil, "%.*f", d.Decimals, d.Value), nil
}

// PrintJSON prints a document in the form of perftest 24.01 and later. Earlier releases
// print the same members without quotes and with a comma at the end of each object,
// which is not JSON.
func PrintJSON(out io.Writer, info, results []Member) error {
	text := "{\n"
	for i, object := range []struct {
		name    string
		members []Member
	}{{"test_info", info}, {"results", results}} {
		text += fmt.Sprintf("%q: {\n", object.name)
		for k, m := range object.members {
			value, err := json.Marshal(m.Value)
			if err != nil {
				return fmt.Errorf("encode %s: %w", m.Name, err)
			}
			text += fmt.Sprintf("%q: %s%s\n", m.Name, value, comma(k < len(object.members)-1))
		}
		text += "}" + comma(i == 0) + "\n"
	}
	_, err := io.WriteString(out, text+"}\n")
	return err
}

// comma returns the separator of two members.
func comma(more bool) string {
	if more {
		return ","
	}
	return ""
}

// Members returns the description of the test.
func (h Header) Members() []Member {
	list := []Member{{"test", strings.ReplaceAll(h.title(), " ", "_")}}
	add := func(when bool, name string, value any) {
		if when {
			list = append(list, Member{name, value})
		}
	}
	responses := h.Verb == perftest.Read || h.Verb == perftest.Atomic
	add(h.Events, "Test with events", fmt.Sprintf("Using_%s_comp%d", h.Device, h.Vector))
	add(h.Multicast != nil, "MultiCast_runs", "on_UD")
	add(true, "Dual_port", "OFF")
	add(true, "Device", h.Device)
	add(true, "Number_of_qps", h.Numbers())
	add(true, "Transport_type", h.transport())
	add(true, "Connection_type", h.Connection())
	add(true, "Using_SRQ", onOff(h.Shared()))
	add(true, "PCIe_relax_order", "OFF")
	add(true, "ibv_wr_API", "OFF")
	add(h.Sends, "TX_depth", h.TxDepth)
	add(h.List > 1, "Post_List", h.List)
	add(h.RecvList > 1, "Recv_Post_List", h.RecvList)
	add(h.Receives, "RX_depth", h.RxDepth)
	add(h.Bandwidth, "CQ_Moderation", h.Moderate(h.Sizes[0]))
	add(true, "Mtu", h.MTU)
	add(true, "Link_type", h.link())
	add(h.HasGID, "GID_index", h.GIDIndex)
	add(!responses, "Max_inline_data", h.Inline)
	add(responses, "Outstand_reads", h.Reads)
	add(true, "rdma_cm_QPs", onOff(h.ManagedQPs))
	add(true, "Data_ex_method", h.exchange())
	if h.TOS != nil {
		add(true, "TOS", *h.TOS)
	}
	return list
}

// Members returns the figures of the row.
func (t Times) Members() []Member {
	list := []Member{{"MsgSize", t.Size}, {"n_iterations", t.Iterations}}
	f := t.Figures()
	if t.Timed {
		list = append(list, Member{"t_avg", Decimal{f[3], 2}}, Member{"tps_average", Decimal{t.Rate(), 2}})
	} else {
		for i, name := range []string{"t_min", "t_max", "t_typical", "t_avg", "t_stdev", "percentile_99", "percentile_99.9"} {
			list = append(list, Member{name, Decimal{f[i], 2}})
		}
	}
	return appendLoad(list, t.Load)
}

// Members returns the figures of the row.
func (r Rates) Members() []Member {
	decimals := 2
	if r.exact() {
		decimals = 6
	}
	return appendLoad([]Member{
		{"MsgSize", r.Size}, {"n_iterations", r.Iterations},
		{"BW_peak", Decimal{r.Peak, decimals}}, {"BW_average", Decimal{r.Average, decimals}}, {"MsgRate", Decimal{r.Messages, 6}},
	}, r.Load)
}

func appendLoad(list []Member, load *float64) []Member {
	if load == nil {
		return list
	}
	return append(list, Member{"CPU_util", Decimal{*load, 2}})
}
