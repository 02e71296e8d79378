package mesh

import (
	"slices"
	"strings"

	"github.com/ibkit/ibkit/internal/hostlist"
	"github.com/ibkit/ibkit/report"
)

// An Action is the action on a [BadHost].
type Action string

// Actions on hosts. A host is drained only if a finding blames it alone.
const (
	Avoid         Action = "avoid"          // no jobs, but no reason to drain it
	Drain         Action = "drain"          // to be drained
	Withheld      Action = "withheld"       // too many hosts to drain
	Drained       Action = "drained"        // by this run
	DrainedBefore Action = "drained-before" // by someone else
	DrainFailed   Action = "failed"
)

// A BadHost is a host that a finding blames, or that was not measured.
type BadHost struct {
	Host   string      `json:"host"`
	Kind   report.Kind `json:"kind"`
	Detail string      `json:"detail"`
	Action Action      `json:"action"`
	Error  string      `json:"error,omitempty"` // of DrainFailed
}

// drainKinds are the kinds of findings that drain their only host. A slow cable, link or pair
// is not among them.
var drainKinds = []report.Kind{report.SlowNode, report.Hung, report.Unreachable}

// NewHostData returns the data of a finding about a host as a whole.
func NewHostData(host string) *FindingData {
	return &FindingData{Candidates: []string{}, Evidence: []Evidence{}, Hosts: []string{host}, certain: true}
}

// ListHosts sets BadHosts by the findings, in the order of the names.
func (r *Result) ListHosts() {
	bad := map[string]BadHost{}
	for _, f := range r.Findings {
		data, ok := f.Data.(*FindingData)
		if !ok || f.Severity == report.Warning || f.Severity == report.Info {
			continue
		}
		action := Avoid
		if data.certain && slices.Contains(drainKinds, f.Kind) {
			action = Drain
		}
		detail, _, _ := strings.Cut(f.Detail, "; ")
		for _, host := range data.Hosts {
			if old, ok := bad[host]; !ok || old.Action == Avoid && action == Drain {
				bad[host] = BadHost{Host: host, Kind: f.Kind, Detail: detail, Action: action}
			}
		}
	}
	r.BadHosts = []BadHost{}
	for _, b := range bad {
		r.BadHosts = append(r.BadHosts, b)
	}
	slices.SortFunc(r.BadHosts, func(a, b BadHost) int { return hostlist.Compare(a.Host, b.Host) })
}

// GoodHosts returns the measured hosts that are not among BadHosts, in the order of their
// names.
func (r *Result) GoodHosts() []string {
	j, seen := r.judge, map[string]bool{}
	for _, b := range r.BadHosts {
		seen[b.Host] = true
	}
	good := []string{}
	for i := range j.results.Flows {
		f := &j.results.Flows[i]
		for _, end := range []int32{f.From, f.To} {
			if host := j.hostName(int(end)); !f.Failed() && !seen[host] {
				seen[host] = true
				good = append(good, host)
			}
		}
	}
	slices.SortFunc(good, hostlist.Compare)
	return good
}

// blameHosts sets the hosts among the places of a blame.
func (j *judge) blameHosts(data *FindingData, places []place) {
	data.Hosts, data.certain = []string{}, true
	for _, p := range places {
		ends := j.endpointsOf(p)
		if len(ends) == 0 {
			data.certain = false
			if sole := j.soleEnd(p); sole >= 0 {
				ends = []int32{int32(sole)}
			} else {
				continue
			}
		}
		if host := j.hostName(int(ends[0])); !slices.Contains(data.Hosts, host) {
			data.Hosts = append(data.Hosts, host)
		}
	}
	data.certain = data.certain && len(data.Hosts) == 1
}

// soleEnd returns the only endpoint at a leaf switch, which flows do not distinguish from it. It
// returns -1 for other places.
func (j *judge) soleEnd(p place) int {
	sole := -1
	for i, at := range j.elements.at {
		if p.kind != switchElement || at < 0 || j.elements.wiring.channels.At(int(at)) != p.id {
			continue
		}
		if sole >= 0 {
			return -1
		}
		sole = i
	}
	return sole
}

// hostName returns the name of an endpoint's host.
func (j *judge) hostName(endpoint int) string {
	name := j.endpoints[endpoint]
	if host := j.options.Hosts[name]; host != "" {
		return host
	}
	if at := j.elements.at[endpoint]; at >= 0 {
		w := j.elements.wiring
		return w.hosts[w.ends[at].host].name
	}
	host, _, _ := strings.Cut(name, " ")
	return host
}
