package check

import (
	"os"
	"strings"
	"testing"

	"github.com/ibkit/ibkit/fabric/fabricfile"
)

// stored checks the output of ibnetdiscover with a stage.
func checkStored(t *testing.T, text, stage string) *Report {
	t.Helper()
	d, err := fabricfile.Parse([]byte(text), "file")
	if err != nil {
		t.Fatal(err)
	}
	r, err := Fabric(t.Context(), FabricOptions{Stored: d, Limits: DefaultLimits(), Only: []string{stage}})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// Hosts are compared with hosts that have the same adapters. In the file, the cables of h4 are
// exchanged, and ufm01 has other adapters than h1 to h4.
func TestRails(t *testing.T) {
	data, err := os.ReadFile("../../../test/topologies/rails.topo")
	if err != nil {
		t.Fatal(err)
	}
	const others = "; not compared: 1 host with adapters that no other host has"
	for name, test := range map[string]struct {
		rename  []string
		want    string // subjects
		status  Status
		comment string
	}{
		"cables of a host exchanged": {nil, "h4 mlx5_5[1] h4 mlx5_4[1]", Failed, "2 rails on 2 leaf switches" + others},
		"sound":                      {[]string{"h4 mlx5_4", "h4 mlx5_5", "h4 mlx5_5", "h4 mlx5_4"}, "", Passed, "2 rails on 2 leaf switches" + others},
		"a second group of hosts, with its rails exchanged": {
			[]string{"h3 mlx5_4", "s1 HCA-2", "h3 mlx5_5", "s1 HCA-1", "h4 mlx5_4", "s2 HCA-1", "h4 mlx5_5", "s2 HCA-2"},
			"", Passed, "4 rails on 2 leaf switches" + others,
		},
		"no two hosts with the same adapters": {
			[]string{"h2 mlx5_4", "h2 mlx5_6", "h3 mlx5_5", "h3 mlx5_7", "h4 mlx5_5", "h4 mlx5_8"},
			"", Skipped, "no hosts with the same adapters",
		},
		"single adapters":    {[]string{"mlx5_4", "a", "mlx5_5", "a", "mlx5_0", "a", "mlx5_1", "a"}, "", Skipped, "no hosts with several adapters"},
		"default names":      {[]string{"h1 ", "MT4129 ConnectX7 ", "h2 ", "localhost ", "h3 ", "localhost ", "h4 ", "(none) ", "ufm01 ", "localhost "}, "", Skipped, "no hosts with several adapters"},
		"adapters at random": {[]string{"h1 mlx5_4", "h1 mlx5_5", "h1 mlx5_5", "h1 mlx5_4"}, "", Skipped, "not rail-optimized: leaf switches connect several adapters of a host"},
	} {
		t.Run(name, func(t *testing.T) {
			r := checkStored(t, strings.NewReplacer(test.rename...).Replace(string(data)), "rails")
			var subjects []string
			for _, f := range r.Findings {
				subjects = append(subjects, f.Subject)
			}
			s := stage(t, r, "rails")
			if got := strings.Join(subjects, " "); got != test.want || s.Status != test.status || s.Comment != test.comment {
				t.Errorf("got findings %q, status %s, %q\nwant %q, %s, %q", got, s.Status, s.Comment, test.want, test.status, test.comment)
			}
		})
	}
}
