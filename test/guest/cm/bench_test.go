//go:build guest

package cm_test

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ibkit/ibkit/rdmacm"
	"github.com/ibkit/ibkit/test/guest"
)

const (
	// benchRounds is the number of runs for each program, in turn.
	benchRounds = 5

	// benchConnections is the number of connections in a run, all at a time.
	benchConnections = 1000

	// benchPings is the number of round trips in an rping run.
	benchPings = 1000
)

// A contest is a client with a server.
type contest struct {
	name           string
	server, client string
	count          int
	group          string // compared with the last contest in the same group
}

func contests(host string) []contest {
	count, pings := strconv.Itoa(benchConnections), " -C "+strconv.Itoa(benchPings)
	n, many := " -c "+count, " --count "+count+" --parallel "+count
	var all []contest
	// With taskset, each process has a separate processor.
	for _, own := range []struct{ server, client string }{{}, {"taskset 2 ", "taskset 1 "}} {
		add := func(name, server, client, group string) {
			all = append(all, contest{"`" + own.client + name, own.server + server, own.client + client, benchConnections, own.client + group})
		}
		add("ibkit cm"+many+"`", "ibkit cm --serve", "ibkit cm --step-timeout 1m"+many+" "+host, "cmtime")
		add("cmtime"+n+"` of ibkit", "ibkit cmtime", "ibkit cmtime -s "+host+n, "cmtime")
		add("cmtime"+n+"`", "cmtime", "cmtime -s "+host+n, "cmtime")
		add("ucmatose"+n+"` of ibkit", "ibkit ucmatose"+n, "ibkit ucmatose -s "+host+n, "ucmatose")
		add("ucmatose"+n+"`", "ucmatose"+n, "ucmatose -s "+host+n, "ucmatose")
	}
	return append(all,
		contest{"`rping" + pings + "` of ibkit", "ibkit rping -s", "ibkit rping -c -a " + host + pings, benchPings, "rping"},
		contest{"`rping" + pings + "`", "rping -s", "rping -c -a " + host + pings, benchPings, "rping"})
}

// runContest runs a client and a server once.
func runContest(b *testing.B, g *guest.Guest, c contest) guest.Result {
	b.Helper()
	p := g.MustStart(b, strings.Fields(c.server)...)
	if err := g.Await(b.Context(), "sh", "-c", listens); err != nil {
		b.Fatal(err)
	}
	r := g.MustRun(b, strings.Fields(c.client)...)
	if r.Code != 0 {
		b.Fatalf("%s: got exit code %d:\n%s%s", c.client, r.Code, r.Stdout, r.Stderr)
	}
	if err := p.Signal(unix.SIGTERM); err != nil {
		b.Fatal(err)
	}
	if _, err := p.Wait(b.Context()); err != nil {
		b.Fatal(err)
	}
	return r
}

// stepTimes are the connection times in cmtime's table, in µs, by step.
func stepTimes(out string) map[string]float64 {
	times := map[string]float64{}
	for _, m := range regexp.MustCompile(`(?m)^(\w+ ?\w+) *: .* ([\d.]+)$`).FindAllStringSubmatch(out, -1) {
		times[m[1]], _ = strconv.ParseFloat(m[2], 64)
	}
	return times
}

func median[T float64 | time.Duration](all []T) T {
	all = slices.Clone(all)
	slices.Sort(all)
	return all[len(all)/2]
}

// BenchmarkConnections compares connections per second with Debian's cmtime and
// ucmatose, and round trips with Debian's rping. It prints medians.
func BenchmarkConnections(b *testing.B) {
	s := spec(guest.Dummy)
	s.Timeout = time.Hour
	g := guest.New(b, s)
	host := g.Ports[0].Addr.String()
	for b.Loop() {
		elapsed, cpu := map[string][]time.Duration{}, map[string][]time.Duration{}
		steps := map[string]map[string][]float64{}
		for range benchRounds {
			for _, c := range contests(host) {
				r := runContest(b, g, c)
				b.Logf("%s: %.1f s", c.client, r.Elapsed.Seconds())
				elapsed[c.name], cpu[c.name] = append(elapsed[c.name], r.Elapsed), append(cpu[c.name], r.CPU)
				for step, v := range stepTimes(r.Stdout) {
					if steps[step] == nil {
						steps[step] = map[string][]float64{}
					}
					steps[step][c.name] = append(steps[step][c.name], v)
				}
			}
			v := measureUnder(b, g, host)
			for step, median := range v {
				if steps[step] == nil {
					steps[step] = map[string][]float64{}
				}
				steps[step]["cm"] = append(steps[step]["cm"], median)
			}
		}
		b.Log(contestTable(contests(host), elapsed, cpu))
		b.Log(stepTable(steps))
	}
}

// measureUnder returns the median step times for ibkit cm, in µs.
func measureUnder(b *testing.B, g *guest.Guest, host string) map[string]float64 {
	b.Helper()
	names := map[rdmacm.Step]string{
		rdmacm.StepAddress: "resolve addr", rdmacm.StepRoute: "resolve route", rdmacm.StepSetup: "create qp",
		rdmacm.StepConnect: "connect", rdmacm.StepDisconnect: "disconnect",
	}
	p := g.MustStart(b, "ibkit", "cm", "--serve")
	if err := g.Await(b.Context(), "sh", "-c", listens); err != nil {
		b.Fatal(err)
	}
	medians := map[string]float64{}
	for _, s := range measure(b, g, 0, "--count", "200", host).Steps {
		if name := names[s.Step]; name != "" && s.Median != nil {
			medians[name] = float64(*s.Median) / 1000
		}
	}
	if err := p.Signal(unix.SIGTERM); err != nil {
		b.Fatal(err)
	}
	if _, err := p.Wait(b.Context()); err != nil {
		b.Fatal(err)
	}
	return medians
}

func contestTable(all []contest, elapsed, cpu map[string][]time.Duration) string {
	base := map[string]time.Duration{}
	for _, c := range all {
		base[c.group] = median(elapsed[c.name])
	}
	var t strings.Builder
	t.WriteString("| client | per second | ratio | processor time, s |\n| --- | ---: | ---: | ---: |\n")
	for _, c := range all {
		e := median(elapsed[c.name])
		fmt.Fprintf(&t, "| %s | %.0f | %.2f | %.2f |\n", c.name, float64(c.count)/e.Seconds(), float64(base[c.group])/float64(e), median(cpu[c.name]).Seconds())
	}
	return "\n" + t.String()
}

func stepTable(steps map[string]map[string][]float64) string {
	var t strings.Builder
	t.WriteString("| step, µs per connection | cmtime of ibkit | cmtime | one at a time: `ibkit cm` |\n| --- | ---: | ---: | ---: |\n")
	n := strconv.Itoa(benchConnections)
	for _, step := range []string{"create id", "resolve addr", "resolve route", "create qp", "connect", "disconnect", "destroy"} {
		fmt.Fprintf(&t, "| %s |", step)
		for _, name := range []string{"`cmtime -c " + n + "` of ibkit", "`cmtime -c " + n + "`", "cm"} {
			if v := steps[step][name]; v != nil {
				fmt.Fprintf(&t, " %.0f |", median(v))
			} else {
				t.WriteString(" - |")
			}
		}
		t.WriteString("\n")
	}
	return "\n" + t.String()
}
