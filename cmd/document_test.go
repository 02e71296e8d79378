package cmd

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"
)

// A document is the output of a command: decoded JSON, or metrics by their series.
type document struct {
	value   any
	metrics bool // of metrics
}

// parseDocument parses JSON, or else metrics.
func parseDocument(text string) (d document) {
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	if decoder.Decode(&d.value) == nil || text == "" {
		if top, ok := d.value.(map[string]any); ok {
			delete(top, "began")
		}
		orient(d.value)
		return d
	}
	series := map[string]any{}
	for line := range strings.Lines(text) {
		if at := strings.LastIndexByte(line, ' '); at > 0 && line[0] != '#' {
			series[line[:at]] = strings.TrimSpace(line[at:])
		}
	}
	return document{series, true}
}

// orient exchanges the ends of the links of ibkit top if necessary: their order depends on that
// of the scan.
func orient(v any) {
	top, _ := v.(map[string]any)
	links, _ := top["links"].([]any)
	for _, l := range links {
		l, _ := l.(map[string]any)
		if l["far"] != nil && identity(l["far"]) < identity(l["near"]) {
			l["near"], l["far"], l["transmit"], l["receive"] = l["far"], l["near"], l["receive"], l["transmit"]
		}
	}
}

// isPartial reports whether the document is marked as partial, or has no such mark.
func (d document) isPartial() bool {
	top, ok := d.value.(map[string]any)
	return d.metrics || ok && top["partial"] == true
}

// wrongIn returns the values of another document that differ from those of d or are not in d,
// except for allowed differences. Absent values, null and empty names are not wrong.
func (d document) wrongIn(other document, allowed *regexp.Regexp) []string {
	var diffs []string
	if other.metrics {
		diffs = wrongSeries(d, other)
	} else {
		diffs = wrongValues("", d.value, other.value)
	}
	return slices.DeleteFunc(diffs, allowed.MatchString)
}

// wrongSeries compares metrics. An empty label is absent.
func wrongSeries(d, other document) (diffs []string) {
	want, _ := d.value.(map[string]any)
	got := other.value.(map[string]any)
	all := slices.Sorted(maps.Keys(want))
	for _, name := range slices.Sorted(maps.Keys(got)) {
		if want[name] == got[name] {
			continue
		}
		if strings.Contains(name, `=""`) {
			pattern := wildcard(name)
			if slices.ContainsFunc(all, func(s string) bool { return want[s] == got[name] && pattern.MatchString(s) }) {
				continue
			}
		}
		diffs = append(diffs, fmt.Sprintf("%s: got %v, want %v", name, got[name], want[name]))
	}
	return diffs
}

// wildcard matches the series that differ from one in its empty labels.
func wildcard(series string) *regexp.Regexp {
	return regexp.MustCompile("^" + strings.ReplaceAll(regexp.QuoteMeta(series), `=""`, `="[^"]*"`) + "$")
}

// wrongValues compares JSON values at a path.
func wrongValues(path string, want, got any) (diffs []string) {
	switch g := got.(type) {
	case nil:
		return nil
	case map[string]any:
		w, ok := want.(map[string]any)
		if !ok {
			return []string{fmt.Sprintf("%s: extra %s", path, compact(got))}
		}
		for _, k := range slices.Sorted(maps.Keys(g)) {
			diffs = append(diffs, wrongValues(path+"."+k, w[k], g[k])...)
		}
		return diffs
	case []any:
		w, _ := want.([]any)
		return wrongElements(path+"[]", slices.Clone(w), g)
	}
	if want == got || got == "" || strings.HasSuffix(path, ".detail") && isBeginning(got, want) {
		return nil
	}
	return []string{fmt.Sprintf("%s: got %s, want %s", path, compact(got), compact(want))}
}

// isBeginning reports whether a sentence is the beginning of another, which also has the peer.
func isBeginning(got, want any) bool {
	g, _ := got.(string)
	w, _ := want.(string)
	return strings.HasPrefix(w, g+"; peer ")
}

// wrongElements compares arrays, whose elements may be missing.
func wrongElements(path string, want, got []any) (diffs []string) {
	if len(got) == len(want) { // most elements are equal
		same := func(i int) bool { return reflect.DeepEqual(want[i], got[i]) }
		var wantRest, gotRest []any
		for i := range got {
			if !same(i) {
				wantRest, gotRest = append(wantRest, want[i]), append(gotRest, got[i])
			}
		}
		want, got = wantRest, gotRest
	}
	for _, g := range got {
		at := slices.IndexFunc(want, func(w any) bool { return reflect.DeepEqual(w, g) })
		if at < 0 {
			at = slices.IndexFunc(want, func(w any) bool { return len(wrongValues(path, w, g)) == 0 })
		}
		if at < 0 {
			at = slices.IndexFunc(want, func(w any) bool { return identity(w) == identity(g) })
		}
		if at < 0 {
			diffs = append(diffs, fmt.Sprintf("%s: extra %s", path, compact(g)))
			continue
		}
		diffs = append(diffs, wrongValues(path, want[at], g)...)
		want = slices.Delete(want, at, at+1)
	}
	return diffs
}

// identity returns the members of an element that identify it.
func identity(v any) string {
	o, ok := v.(map[string]any)
	if !ok {
		return compact(v)
	}
	id := map[string]any{}
	for _, k := range []string{"guid", "node_guid", "port_guid", "number", "port", "first", "target", "kind", "subject"} {
		id[k] = o[k]
	}
	if o["near"] != nil {
		id["near"] = identity(o["near"])
	}
	if data, _ := o["data"].(map[string]any); data != nil {
		id["stage"] = data["stage"]
	}
	if _, isStage := o["about"]; isStage {
		id["name"] = o["name"]
	}
	return compact(id)
}

// compact returns a value as JSON.
func compact(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(b)
}
