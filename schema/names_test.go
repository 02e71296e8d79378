package schema

import (
	"encoding/json"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"testing"
)

// A convention is the spelling of a concept in all documents.
type convention struct {
	want     string         // names, or forms of the value
	concerns *regexp.Regexp // member names
	accepts  func(name string, types []string) bool
}

func named(names ...string) func(string, []string) bool {
	return func(name string, _ []string) bool { return slices.Contains(names, name) }
}

var unit = regexp.MustCompile(`(^|_)(seconds|[mun]s|nm|[kmg]?bps|bits|bytes|per_second|percent|celsius|dbm|volts|ma|metres|ber|ratio|share)(_|$)`)

var conventions = []convention{
	{"node_guid, port_guid or system_guid", regexp.MustCompile(`guid$`), named("node_guid", "port_guid", "system_guid")},
	{"port", regexp.MustCompile(`^(number|portnum|port_(num|number)|.*_port)$`), named("port", "external_port")},
	{"an integer", regexp.MustCompile(`^(port|[a-z_]*lid)$`), func(_ string, types []string) bool { return !slices.Contains(types, "string") }},
	{"name, node_guid and port in an object peer", regexp.MustCompile(`^(peer|near|far|remote)_(name|guid|port|lid)$`), named()},
	{"type", regexp.MustCompile(`^node_?type$`), named("type")},
	{"description", regexp.MustCompile(`^(node_?)?desc(ription)?(_hex)?$`), named("description", "description_hex")},
	{"num_ports", regexp.MustCompile(`^(n_?ports|port_count)$`), named("num_ports")},
	{"a list", regexp.MustCompile(`^ports$`), func(_ string, types []string) bool { return !slices.Contains(types, "integer") }},
	{"a word", regexp.MustCompile(`(^|_)state$`), func(_ string, types []string) bool {
		return !slices.Contains(types, "integer") && !slices.Contains(types, "object")
	}},
	{"old and new", regexp.MustCompile(`^(from|to|before|after|now|previous|current)$`), named()},
	{"a unit as suffix", regexp.MustCompile(`^(window|interval|timeout|elapsed|duration|latency|rtt|uptime|period|delay|.*_(time|timeout|interval))$`),
		func(_ string, types []string) bool { return !slices.Contains(types, "integer") }},
	{"a unit as suffix", regexp.MustCompile(`.`), func(name string, types []string) bool {
		return !slices.Contains(types, "number") || unit.MatchString(name)
	}},
}

// exceptions are patterns of members with another spelling, and the reason.
var exceptions = map[string]string{
	"linkinfo/*_info/*":            "attribute with the names and values of the specification",
	"linkinfo/node/duplicate_guid": "a boolean",
	"linkinfo/system/number":       "chassis number",
	"topology/system/number":       "chassis number",
	"phy/fan/number":               "fan number",
	"phy/end/local_port":           "port number in registers",
	"*/summary/ports":              "count, as all members of a summary",
	"*/*/transmit":                 "share of the bandwidth, 0 to 1",
	"*/*/receive":                  "share of the bandwidth, 0 to 1",
	"*/*/wait":                     "share of the bandwidth, 0 to 1",
	"*/*/lost_bandwidth":           "share of the bandwidth, 0 to 1",
	"page//links_by_state":         "counts",
	"perf/test/rate":               "limit in messages per second",
	"perf/test/qp_timeout":         "exponent of the specification",
	"perf/result/client_port":      "an object",
	"perf/result/server_port":      "an object",
	"linkinfo/stats/window":        "count of requests in flight",
	"port/ports/after":             "an object, without a counterpart",
	"sm/change/after":              "state read back; the request has the new state",
	"*/path/from":                  "path end",
	"*/path/to":                    "path end",
	"*/balance/to":                 "neighbour, for a direction",
	"*/*/mean_*":                   "mean count",
	"check/value/value":            "its member unit has the unit",
	"counters/measured_ber/*":      "error rate without a unit",
	"counters/ber/rate":            "error rate without a unit",
	"counters/rules/limit":         "error rate without a unit",
	"counters/rules/allowed":       "error count",
	"mesh-analyze/baseline/*":      "relative to the earlier run",
	"mesh-analyze/level/*":         "10^9 bits per second for bandwidth, microseconds for latency",
	"mesh-analyze/evidence/median": "as in a level",
	"mesh-analyze/impact/*":        "as in a level",
	"mesh-results//noise":          "relative",
}

// TestNames checks that a concept has the same name and form in all documents.
func TestNames(t *testing.T) {
	files, err := filepath.Glob("*.json")
	if err != nil {
		t.Fatal(err)
	}
	unused := maps.Clone(exceptions)
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var root any
		if err := json.Unmarshal(text, &root); err != nil {
			t.Fatal(err)
		}
		base := file[:len(file)-len(".json")]
		forEachMember(root, "", func(parent, name string, member any) {
			where := base + "/" + parent + "/" + name
			for _, c := range conventions {
				if !c.concerns.MatchString(name) || c.accepts(name, typesOf(member, root)) {
					continue
				}
				excepted := false
				for pattern := range exceptions {
					if ok, _ := path.Match(pattern, where); ok {
						delete(unused, pattern)
						excepted = true
					}
				}
				if !excepted {
					t.Errorf("%s: got %v, want %s", where, typesOf(member, root), c.want)
				}
			}
		})
	}
	for pattern, reason := range unused {
		t.Errorf("got no member for the exception %s (%s)", pattern, reason)
	}
}

// forEachMember calls visit for each member with the name of the member or definition that
// contains it, "" for the document.
func forEachMember(schema any, parent string, visit func(parent, name string, member any)) {
	switch s := schema.(type) {
	case []any:
		for _, v := range s {
			forEachMember(v, parent, visit)
		}
	case map[string]any:
		for key, v := range s {
			named, _ := v.(map[string]any)
			switch key {
			case "properties":
				for name, member := range named {
					visit(parent, name, member)
					forEachMember(member, name, visit)
				}
			case "$defs":
				for name, definition := range named {
					forEachMember(definition, name, visit)
				}
			default:
				forEachMember(v, parent, visit)
			}
		}
	}
}

// typesOf returns the JSON types that a member may have.
func typesOf(member, root any) []string {
	var types []string
	m, _ := member.(map[string]any)
	switch t := m["type"].(type) {
	case string:
		types = append(types, t)
	case []any:
		for _, v := range t {
			types = append(types, v.(string))
		}
	}
	if name, ok := m["$ref"].(string); ok {
		definitions := root.(map[string]any)["$defs"].(map[string]any)
		types = append(types, typesOf(definitions[path.Base(name)], root)...)
	}
	for _, key := range []string{"anyOf", "oneOf"} {
		choices, _ := m[key].([]any)
		for _, v := range choices {
			types = append(types, typesOf(v, root)...)
		}
	}
	return types
}
