package mesh

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
)

// flowTexts returns the flows as "A>B gbps/µs".
func flowTexts(r *Results) (all []string) {
	text := func(v float32) string {
		if isNone(v) {
			return "-"
		}
		return fmt.Sprintf("%.2f", v)
	}
	for _, f := range r.Flows {
		all = append(all, fmt.Sprintf("%s>%s %s/%s", r.Names[f.From], r.Names[f.To], text(f.Gbps), text(f.Micros)))
	}
	return all
}

func parse(tb testing.TB, name, text string) *Results {
	tb.Helper()
	r, err := Parse(strings.NewReader(text), name)
	if err != nil {
		tb.Fatal(err)
	}
	return r
}

const mpiGraphText = "START mpiGraph v1.5\nMsgSize\t1048576\nTimes\t10\nWindow\t10\nProcs\t3\n\n1 of 3 (33.3%)\n2 of 3 (66.7%)\nGathering results\n\nSend max\t23000.0\nSend avg\t22000.0\n\n" +
	"Send\ta:0\tb:1\tc:2\t\n" +
	"a:0 to\t0.000\t22000.000\t11000.000\t\n" +
	"b:1 to\t22000.000\t0.000\t22000.000\t\n" +
	"c:2 to\t22000.000\t22000.000\t0.000\t\n\n" +
	"Recv max\t23000.0\nRecv avg\t22000.0\n\n" +
	"Recv\ta:0\tb:1\tc:2\t\n" +
	"a:0 from\t0.000\t22000.000\t22000.000\t\n" +
	"b:1 from\t22000.000\t0.000\t22000.000\t\n" +
	"c:2 from\t13000.000\t22000.000\t0.000\t\nEND mpiGraph\n"

func TestParse(t *testing.T) {
	for _, test := range []struct {
		name, file, text string
		format           Format
		mutual           bool
		want             []string
		damage           []string
	}{
		{
			"csv", "f.csv", "src,dst,bandwidth_gbps,latency_us\na,b,195.5,1.25\nb,a,,1.5\n\na,c,190,\n", CSV, false,
			[]string{"a>b 195.50/1.25", "b>a -/1.50", "a>c 190.00/-"}, nil,
		},
		{
			"csv columns in another order", "f.csv", "\ufeffround,dst,src,Latency_us,note\r\n1,b,a,2,x\r\n", CSV, false,
			[]string{"a>b -/2.00"}, nil,
		},
		{
			"csv quotes and formulas", "f.csv", "src,dst,bandwidth_gbps\n\"a,1\",'=b,10\n", CSV, false,
			[]string{"a,1>=b 10.00/-"}, nil,
		},
		{
			"JSON lines", "f.jsonl", "{\"src\":\"a\",\"dst\":\"b\",\"bandwidth_gbps\":195.5,\"latency_us\":null}\n{\"src\":\"a\"}\n{\"src\":\"b\",\"dst\":\"a\"}\n", JSON, false,
			[]string{"a>b 195.50/-", "b>a -/-"}, []string{"f.jsonl:2: got a flow without src and dst"},
		},
		{
			"csv failed flow", "f.csv", "src,dst,bandwidth_gbps,latency_us\na,b,,\n", CSV, false, []string{"a>b -/-"}, nil,
		},
		{
			"csv damage", "f.csv", "src,dst,bandwidth_gbps,latency_us\na,b,fast,1\na\n,b,1,1\na,b,-1,\na,b,NaN,\na,b,1,Inf\na,\"b,1,1\nb,a,10,1\n", CSV, false,
			[]string{"b>a 10.00/1.00"},
			[]string{
				`f.csv:2: bandwidth_gbps: got "fast", want a number`, "f.csv:3: got 1 fields, want the field dst",
				"f.csv:4: got an empty name, want src and dst", "f.csv:5: bandwidth_gbps: got -1, want a number above 0",
				"f.csv:6: bandwidth_gbps: got NaN, want a number above 0", "f.csv:7: latency_us: got +Inf, want a number above 0",
				"f.csv:8: invalid quotation marks",
			},
		},
		{
			"csv control characters", "f.csv", "src,dst,bandwidth_gbps\na\x1b[31m,b,1\n", CSV, false, []string{"a?[31m>b 1.00/-"}, nil,
		},
		{
			// 22,000 MB/s of 2^20 bytes are 184.55 Gbit/s; the sender measured 11,000 and
			// the receiver 13,000 for the flow from a to c.
			"mpiGraph", "m.out", mpiGraphText, MPIGraph, false,
			[]string{"a>b 184.55/-", "a>c 100.66/-", "b>a 184.55/-", "b>c 184.55/-", "c>a 184.55/-", "c>b 184.55/-"}, nil,
		},
		{
			"mpiGraph cut off", "m.out", "Send\ta:0\tb:1\t\na:0 to\t0.000\t22000.000\t\nb:1 to\t22x", MPIGraph, false,
			[]string{"a>b 184.55/-"},
			[]string{`m.out:3: got "22x", want a number`, "m.out:3: the file ends without the line END mpiGraph"},
		},
		{
			"mpiGraph rows of other sizes", "m.out", "Send\ta:0\tb:1\t\na:0 to\t0.000\t22000.000\t1.000\t\nb:1\t1\nb:1 to\t22000.000\t\n\nEND mpiGraph\n", MPIGraph, false,
			[]string{"b>a 184.55/-"},
			[]string{"m.out:2: got 3 figures, want 2", `m.out:3: got "b:1", want HOST:RANK to or HOST:RANK from`, "m.out:4: got 1 figures, want 2"},
		},
		{
			"SuperBench", "s.jsonl", `{"node": "n", "ib-traffic/ib_write_bw_8388608_0_0:srv_cli:0": 24.5, "ib-traffic/ib_read_bw_8388608_0_1:a-1_b-2:0": 20, "gpu/x": 3}` + "\n" +
				`{"ib-traffic/ib_send_lat_2_0_0:h_1_h_2": 1.5, "ib-traffic/ib_write_bw_8_1_0:a_b": -1, "ib-traffic/return_code": 0}` + "\n", SuperBench, false,
			[]string{"cli>srv 196.00/-", "a-1>b-2 160.00/-", "h_2>h_1 -/1.50", "b>a -/-"}, nil,
		},
		{
			"SuperBench ranks", "s.json", `{"ib-traffic": {"ib-traffic/0-1,2": 20, "ib-traffic/3-0,1": [10, 11]}}`, SuperBench, false,
			[]string{"2>1 160.00/-", "1>0 88.00/-"}, nil,
		},
		{
			"SuperBench damage", "s.jsonl", `{"ib-traffic/ib_write_bw_8_0_0:a_b": 20}` + "\n" + `{"ib-traffic/ib_write_bw_8_0_0:c_d": 20` + "\n" +
				`{"ib-traffic/ib_write_bw_8_0_0:e": 20, "ib-traffic/ib_write_bw_8_0_0:g_h": "x"}` + "\n", SuperBench, false,
			[]string{"b>a 160.00/-", "d>c 160.00/-"},
			[]string{
				"s.jsonl:2: invalid JSON: unexpected EOF", `s.jsonl:3: got the metric "ib-traffic/ib_write_bw_8_0_0:e", want SERVER_CLIENT after the colon`,
				`s.jsonl:3: metric "ib-traffic/ib_write_bw_8_0_0:g_h": got no number`,
			},
		},
		{
			// A figure is for both directions: each pair has a single one.
			"ClusterKit matrix", "bandwidth.json", "{\"nodes\": [\"a\", \"b\", \"c\"],\n\"bandwidth\": [[0, 24000, 23000],\n[24000, 0, null],\n[23000, 0, 0]]}", ClusterKit, true,
			[]string{"a>b 192.00/-", "a>c 184.00/-"}, nil,
		},
		{
			"ClusterKit one-way matrix", "bandwidth.json", `{"hosts": ["a", "b"], "unit": "Gb/s", "data": [[0, 190], [180, 0]]}`, ClusterKit, false,
			[]string{"a>b 190.00/-", "b>a 180.00/-"}, nil,
		},
		{
			"ClusterKit pairs", "latency.json", `{"latency": [{"node1": "a", "node2": "b", "value": 1.5}, {"node_1": "b", "node_2": "c", "latency": 1.7}]}`, ClusterKit, true,
			[]string{"a>b -/1.50", "b>c -/1.70"}, nil,
		},
		{
			"ClusterKit cut off", "bandwidth.json", "{\"nodes\": [\"a\", \"b\"],\n\"bandwidth\": [[0, 24000],\n[24000, ", ClusterKit, true,
			[]string{"a>b 192.00/-"},
			[]string{"bandwidth.json:3: invalid JSON: unexpected EOF", "bandwidth.json:3: got a row with 1 figures, want 2"},
		},
		{
			"ibkit", "r.json", `{"schema":"ibkit/mesh-results/1","flows":[{"src":"a","dst":"b","bandwidth_gbps":190,"latency_us":null},` + "\n" + `{"src":"a","bandwidth_gbps":1},{"src":"b","dst":"a","bandwidth_gbps":-3}]}`, JSON, false,
			[]string{"a>b 190.00/-"},
			[]string{"r.json:2: got a flow without src and dst", "r.json:2: bandwidth_gbps: got -3, want a number above 0"},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := parse(t, test.file, test.text)
			var damage []string
			for _, err := range r.Damage {
				damage = append(damage, err.Error())
			}
			if got := flowTexts(r); !slices.Equal(got, test.want) || r.Format != test.format || r.Mutual != test.mutual {
				t.Errorf("got %v %q, mutual %v; want %v %q, %v", r.Format, got, r.Mutual, test.format, test.want, test.mutual)
			}
			if !slices.Equal(damage, test.damage) || r.Damaged != len(test.damage) {
				t.Errorf("got damage %q, want %q", damage, test.damage)
			}
		})
	}
}

func TestParse_Errors(t *testing.T) {
	for _, test := range []struct{ name, text, want string }{
		{"empty", "", "read results: f: got an empty file, want the header src,dst,bandwidth_gbps,latency_us"},
		{"no flows", "src,dst,latency_us\n", "read results: f: no flow between two endpoints"},
		{"another file", "hello\n", `read results: f:1: got "hello", want the header src,dst,bandwidth_gbps,latency_us, or a file of ClusterKit, mpiGraph or SuperBench`},
		{"no figures", "src,dst\n", "read results: f:1: got a header without bandwidth_gbps and latency_us, want either"},
		{"damage only", "src,dst,latency_us\na,b,x\n", `read results: f:2: latency_us: got "x", want a number`},
		{"other JSON", `{"a": 1}`, "read results: f: no flow between two endpoints"},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := Parse(strings.NewReader(test.text), "f")
			if err == nil || err.Error() != test.want {
				t.Errorf("got %v, want %s", err, test.want)
			}
		})
	}
}

// Any input is read without a panic, and figures are positive.
func FuzzParse(f *testing.F) {
	f.Add("src,dst,bandwidth_gbps,latency_us\na,b,195.5,1.25\n")
	f.Add(mpiGraphText)
	f.Add(`{"nodes": ["a", "b"], "bandwidth": [[0, 1], [1, 0]]}`)
	f.Add(`{"ib-traffic/ib_write_bw_8_0_0:a_b": 20}`)
	f.Add(`{"schema":"ibkit/mesh-results/1","flows":[{"src":"a","dst":"b","bandwidth_gbps":190,"latency_us":null}]}`)
	f.Fuzz(func(t *testing.T, text string) {
		r, err := Parse(strings.NewReader(text), "f")
		if err != nil {
			return
		}
		for _, flow := range r.Flows {
			for _, v := range []float32{flow.Gbps, flow.Micros} {
				if !isNone(v) && !(v > 0 && v <= math.MaxFloat32) {
					t.Errorf("got the figure %v, want one above 0", v)
				}
			}
		}
	})
}
