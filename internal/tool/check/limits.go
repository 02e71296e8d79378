package check

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/internal/tool/counters"
	"github.com/ibkit/ibkit/internal/yamlfile"
	"github.com/ibkit/ibkit/report"
)

// LimitsSchema is the value for the key schema in files for [ReadLimits].
const LimitsSchema = "ibkit/check-thresholds/1"

// Limits decide which values are findings, and how severe these are.
type Limits struct {
	// Thresholds are the largest error counter values that are not findings: since the
	// counters were cleared, for a node also since the last check, and if they are Given
	// also in a fabric check's window.
	Thresholds counters.Thresholds

	MaxWait float64            // share of bandwidth lost by waiting, from 0 to 1
	BER     []counters.BERRule // of symbol errors

	// HWCounters are the largest driver counter increases between two checks on a node, by
	// the names in hw_counters.
	HWCounters map[string]uint64

	MinWidth ib.LinkWidth // of links; 0: any
	MinSpeed ib.Speed     // 0: any

	FlapCount  uint64        // times that a link went down in the window; 0: no finding
	FlapWindow time.Duration //

	SMWait   time.Duration // between two readings of a subnet manager's activity
	Topology string        // intended structure, as in [topology.Shape.Name]; "": any

	// Severity replaces finding severities, by "STAGE/KIND".
	Severity map[string]report.Severity
}

// DefaultLimits returns the limits without a file. The sources are in limitComments.
func DefaultLimits() Limits {
	return Limits{
		Thresholds: counters.RecommendedThresholds(),
		MaxWait:    counters.DefaultWait,
		BER:        slices.Clone(counters.BERRules),
		HWCounters: map[string]uint64{},
		FlapCount:  2,
		FlapWindow: 6 * time.Hour,
		SMWait:     time.Second,
		Severity:   map[string]report.Severity{},
	}
}

// limitComments are the comments on a file's keys, with each default's source.
var limitComments = map[string]string{
	"counters": "Largest values of error counters that are not findings. Without a window, counters\n" +
		"that are not in this file have these limits (comments in error_thresholds of\n" +
		"infiniband-diags):\n" + recommended() + "\nIn the window of check fabric, each of their increases is a finding.",
	"max_wait_percent": "Bandwidth lost by waiting for credits of the peer.\n" +
		"Source: ibdiagnet user manual: from 1 % a link is congested, from 5 % severely.",
	"ber": "Bit error rates of symbol errors, each with the window that proves it.\n" +
		"Source: PDR plugin of NVIDIA UFM (12 and 125 minutes).",
	"hw_counters": "Largest increases of counters of drivers between two runs of check node\n" +
		"(--state-file), by the names in hw_counters, for example local_ack_timeout_err: 100.",
	"min_width": "Smallest width and speed of links, for example 4X and HDR; any: no limit.\nSource: none; depends on the site.",
	"flap_count": "A port that was down so often within the window has a finding (--state-file).\n" +
		"Source: Azure's node health checks: two lost carriers in 6 hours.",
	"sm_wait":  "Time between two readings of the activity of subnet managers; 0s: one reading.\nSource: default of ibkit sm.",
	"topology": "Intended structure: fat-tree, torus, dragonfly, single-switch or any.",
	"severity": "Severities of findings by STAGE/KIND: error, warning or ignore, for example\n" +
		"names/duplicate-name: ignore. See ibkit check fabric --list.",
}

// recommended lists the counter limits without a file.
func recommended() string {
	t := counters.RecommendedThresholds()
	var lines []string
	for _, c := range counters.Counters() {
		if !c.IsTraffic() && !c.IsDetail() && c != counters.XmitWait {
			lines = append(lines, fmt.Sprintf("  %v: %d", c, t.Limit(c)))
		}
	}
	return strings.Join(lines, "\n")
}

// topologies are the structures that a file can select.
var topologies = []string{"fat tree", "torus", "dragonfly", "single switch"}

// topologyNames returns the structures as words.
func topologyNames() []string {
	names := slices.Clone(topologies)
	for i := range names {
		names[i] = strings.ReplaceAll(names[i], " ", "-")
	}
	return names
}

// ReadLimits reads limits from a YAML or JSON file. Keys that it lacks have the value from
// [DefaultLimits]. Errors in its content have type [*textfile.Error].
func ReadLimits(path string) (Limits, error) {
	data, err := yamlfile.Read(path)
	if err != nil {
		return Limits{}, fmt.Errorf("read thresholds: %w", err)
	}
	return ParseLimits(data, path)
}

// ParseLimits is [ReadLimits] for a file's content.
func ParseLimits(data []byte, file string) (Limits, error) {
	d := document{yamlfile.File(file)}
	l := DefaultLimits()
	root, err := d.Root(data)
	if err != nil {
		return l, err
	}
	err = d.Mapping(root, "thresholds", map[string]yamlfile.Field{
		"schema":           d.Schema(LimitsSchema),
		"counters":         func(n *yaml.Node) error { return d.thresholds(n, &l.Thresholds) },
		"max_wait_percent": yamlfile.Parsed(d.File, "max_wait_percent", &l.MaxWait, parsePercent),
		"ber":              func(n *yaml.Node) error { return d.berRules(n, &l.BER) },
		"hw_counters":      func(n *yaml.Node) error { return d.counts(n, "hw_counters", l.HWCounters) },
		"min_width":        yamlfile.Parsed(d.File, "min_width", &l.MinWidth, parseWidth),
		"min_speed":        yamlfile.Parsed(d.File, "min_speed", &l.MinSpeed, parseSpeed),
		"flap_count":       yamlfile.Parsed(d.File, "flap_count", &l.FlapCount, yamlfile.ParseCount),
		"flap_window":      yamlfile.Parsed(d.File, "flap_window", &l.FlapWindow, yamlfile.ParseTime),
		"sm_wait":          yamlfile.Parsed(d.File, "sm_wait", &l.SMWait, yamlfile.ParseTime),
		"topology":         yamlfile.Parsed(d.File, "topology", &l.Topology, parseTopology),
		"severity":         func(n *yaml.Node) error { return d.severity(n, l.Severity) },
	})
	return l, err
}

// parsePercent parses a percentage as a fraction.
func parsePercent(s string) (float64, error) {
	v, err := strconv.ParseFloat(s, 64)
	if err != nil || !(v >= 0 && v <= 100) {
		return 0, errors.New("want a percentage from 0 to 100")
	}
	return v / 100, nil
}

// anyValue stands for no limit.
const anyValue = "any"

// parseWidth parses a width such as "4X".
func parseWidth(s string) (ib.LinkWidth, error) {
	if s == anyValue {
		return 0, nil
	}
	for w := ib.LinkWidth(1); w != 0; w <<= 1 {
		if strings.EqualFold(w.String(), s) {
			return w, nil
		}
	}
	return 0, errors.New("want a width such as 4X, or any")
}

// parseSpeed parses a speed such as "HDR".
func parseSpeed(s string) (ib.Speed, error) {
	if s == anyValue {
		return 0, nil
	}
	for v := ib.SDR; v <= ib.XDR; v <<= 1 {
		if strings.EqualFold(v.String(), s) {
			return v, nil
		}
	}
	return 0, errors.New("want a speed such as HDR, or any")
}

// parseTopology parses a structure name.
func parseTopology(s string) (string, error) {
	if i := slices.Index(topologyNames(), s); i >= 0 {
		return topologies[i], nil
	}
	if s == anyValue {
		return "", nil
	}
	return "", fmt.Errorf("want %s or any", strings.Join(topologyNames(), ", "))
}

// thresholds reads the largest counter values.
func (d document) thresholds(n *yaml.Node, t *counters.Thresholds) error {
	return d.Entries(n, "counters", func(key string, k, value *yaml.Node) error {
		c, err := counters.ParseCounter(key)
		if err != nil || c.IsTraffic() || c.IsDetail() {
			return d.Errorf(k, "counters: %q is not an error counter", key)
		}
		var limit uint64
		if err := yamlfile.Parsed(d.File, key, &limit, yamlfile.ParseCount)(value); err != nil {
			return err
		}
		t.Set(c, limit)
		t.Given = append(t.Given, counters.Threshold{Counter: c, Limit: limit})
		return nil
	})
}

// counts reads numbers by name.
func (d document) counts(n *yaml.Node, what string, to map[string]uint64) error {
	return d.Entries(n, what, func(key string, _, value *yaml.Node) error {
		var v uint64
		err := yamlfile.Parsed(d.File, key, &v, yamlfile.ParseCount)(value)
		to[key] = v
		return err
	})
}

// berRules reads the rules for bit error rates.
func (d document) berRules(n *yaml.Node, to *[]counters.BERRule) error {
	*to = nil
	return d.List(n, "ber", func(n *yaml.Node) error {
		var r counters.BERRule
		err := d.Mapping(n, "ber", map[string]yamlfile.Field{
			"limit":  yamlfile.Parsed(d.File, "limit", &r.Limit, yamlfile.ParsePositive),
			"window": yamlfile.Parsed(d.File, "window", &r.Window, yamlfile.ParseTime),
		})
		if err == nil && (r.Limit == 0 || r.Window == 0) {
			err = d.Errorf(n, "ber: want a limit and a window")
		}
		*to = append(*to, r)
		return err
	})
}

// severity reads finding severities.
func (d document) severity(n *yaml.Node, to map[string]report.Severity) error {
	return d.Entries(n, "severity", func(key string, k, value *yaml.Node) error {
		if !isKnown(key) {
			return d.Errorf(k, "severity: unknown finding %q, want STAGE/KIND", key)
		}
		var s report.Severity
		err := yamlfile.Parsed(d.File, key, &s, func(text string) (report.Severity, error) {
			if !slices.Contains(severities, report.Severity(text)) {
				return "", errors.New("want error, warning or ignore")
			}
			return report.Severity(text), nil
		})(value)
		to[key] = s
		return err
	})
}

// isKnown reports whether a stage has a finding kind, both given as STAGE/KIND.
func isKnown(name string) bool {
	stage, kind, _ := strings.Cut(name, "/")
	has := func(name string, kinds []report.Kind) bool {
		return name == stage && slices.Contains(kinds, report.Kind(kind))
	}
	return slices.ContainsFunc(fabricStages, func(s FabricStage) bool { return has(s.Name, s.Kinds) }) ||
		slices.ContainsFunc(nodeStages, func(s NodeStage) bool { return has(s.Name, s.Kinds) })
}

// Write writes the limits as a file for [ReadLimits], with comments on the defaults'
// sources.
func (l *Limits) Write(w io.Writer) error {
	root := &mapping{}
	add := func(key string, value any) {
		root.add(key, value, true)
		root.Content[len(root.Content)-2].HeadComment = limitComments[key]
	}
	given := &mapping{}
	for _, g := range l.Thresholds.Given {
		given.add(g.Counter.String(), g.Limit, true)
	}
	rules := &yaml.Node{Kind: yaml.SequenceNode}
	for _, r := range l.BER {
		rule := &mapping{yaml.Node{Style: yaml.FlowStyle}}
		rule.add("limit", r.Limit, true)
		rule.add("window", r.Window.String(), true)
		rules.Content = append(rules.Content, &rule.Node)
	}
	add("schema", LimitsSchema)
	add("counters", &given.Node)
	add("max_wait_percent", 100*l.MaxWait)
	add("ber", rules)
	add("hw_counters", l.HWCounters)
	add("min_width", limitText(l.MinWidth == 0, l.MinWidth.String()))
	add("min_speed", limitText(l.MinSpeed == 0, l.MinSpeed.String()))
	add("flap_count", l.FlapCount)
	add("flap_window", l.FlapWindow.String())
	add("sm_wait", l.SMWait.String())
	add("topology", limitText(l.Topology == "", strings.ReplaceAll(l.Topology, " ", "-")))
	add("severity", l.Severity)
	return writeYAML(w, &root.Node)
}

// limitText returns "any" for no limit.
func limitText(none bool, text string) string {
	if none {
		return anyValue
	}
	return text
}
