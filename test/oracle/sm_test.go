//go:build oracle

package oracle

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/ibkit/ibkit/internal/outcome"
	"github.com/ibkit/ibkit/internal/tool/sm"
	"github.com/ibkit/ibkit/test/ibsimtest"
)

// smReport is the ibkit sm output.
type smReport struct {
	Partial  bool
	Findings []struct{ Kind string }
	Managers []struct {
		LID, Priority int
		State         string
		Advances      *bool
		Findings      []string
	}
}

// querySM runs ibkit sm, and returns the report and the kinds of all findings.
func querySM(t *testing.T, s *ibsimtest.Sim, code int, args ...string) (r smReport, kinds string) {
	t.Helper()
	got := s.MustRun(t, "Hca1", ibkit(), append([]string{"sm", "--json", "--sm-wait", "20ms"}, args...)...)
	if err := json.Unmarshal([]byte(got.Stdout), &r); err != nil || got.Code != code {
		t.Fatalf("sm: got exit code %d, want %d: %v\n%s%s", got.Code, code, err, got.Stdout, got.Stderr)
	}
	schema, err := jsonschema.NewCompiler().Compile("../../schema/sm.json")
	if err != nil {
		t.Fatal(err)
	}
	document, err := jsonschema.UnmarshalJSON(strings.NewReader(got.Stdout))
	if err == nil {
		err = schema.Validate(document)
	}
	if err != nil {
		t.Errorf("%v\n%s", err, got.Stdout)
	}
	for _, f := range r.Findings {
		kinds += f.Kind + " "
	}
	return r, strings.TrimSpace(kinds)
}

// TestSM runs a master and a standby opensm in ibsim, and compares ibkit sm with sminfo.
func TestSM(t *testing.T) {
	t.Parallel()
	s := ibsimtest.New(t, "/usr/share/doc/ibsim-utils/net-examples/net.2sw2path4hca2port")
	s.NewSM(t, "Hca1", "sm_priority 9", "sweep_interval 1")
	standby, err := s.StartStandby("Hca2", "sm_priority 4")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := standby.Stop(); err != nil {
			t.Error(err)
		}
	})
	// The master knows the standby's state after its next sweep.
	within(t, time.Minute, "the master knows the standby", func() bool {
		return s.MustRun(t, "Hca1", ibkit(), "sm", "--sm-wait", "20ms").Code == 0
	})
	report, kinds := querySM(t, s, 0)
	if len(report.Managers) != 2 || kinds != "" || report.Partial {
		t.Fatalf("got %+v, want two managers without findings", report)
	}
	names := map[string]string{"Master": "3 SMINFO_MASTER", "Standby": "2 SMINFO_STANDBY"}
	for _, m := range report.Managers {
		want := fmt.Sprintf("priority %d state %s", m.Priority, names[m.State])
		r := s.MustRunC(t, "Hca1", "sminfo", fmt.Sprint(m.LID))
		if !strings.Contains(r.Stdout, want) || m.Advances == nil || !*m.Advances {
			t.Errorf("got %+v, want as in sminfo:\n%s", m, r.Stdout)
		}
	}
	for _, source := range []string{"sa", "nodes"} {
		if r, kinds := querySM(t, s, 0, "--source", source); len(r.Managers) != 2 || kinds != "" {
			t.Errorf("--source %s: got %+v, want two managers", source, r)
		}
	}

	// A standby that hangs.
	if err := standby.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	if _, kinds := querySM(t, s, 4, "-t", "200"); kinds != "no-reply" {
		t.Errorf("hanging standby: got findings %s, want no-reply", kinds)
	}
	if err := standby.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	within(t, time.Minute, "the standby replies", func() bool {
		r := s.MustRun(t, "Hca1", ibkit(), "sm", "--sm-wait", "0")
		return r.Code == 0
	})
}

// TestSMOperations sends operations to a subnet manager with ibkit and with sminfo. The
// replies must be equal.
func TestSMOperations(t *testing.T) {
	t.Parallel()
	s := ibsimtest.New(t, "/usr/share/doc/ibsim-utils/net-examples/net.2sw2path4hca2port")
	s.NewSM(t, "Hca1", "sm_priority 9")
	lid := lidOf(t, s, "Hca1")
	for operation, number := range map[string]string{"handover": "1", "acknowledge": "2", "disable": "3", "standby": "4", "discover": "5"} {
		t.Run(operation, func(t *testing.T) {
			want := s.MustRunC(t, "Hca2", "sminfo", "-t", "200", "-p", "3", lid, number)
			classic := s.MustRun(t, "Hca2", ibkit(), "sminfo", "-t", "200", "-p", "3", lid, number)
			if maskRun(classic.Stdout) != maskRun(want.Stdout) || classic.Code != want.Code {
				t.Errorf("got %d\n%s%s\nwant, from sminfo: %d\n%s%s", classic.Code, classic.Stdout, classic.Stderr, want.Code, want.Stdout, want.Stderr)
			}
		})
	}
}

// setSM runs ibkit sm --set, and returns the change report.
func setSM(t *testing.T, s *ibsimtest.Sim, code int, args ...string) *sm.ReportChange {
	t.Helper()
	r := s.MustRun(t, "Hca1", ibkit(), append([]string{"sm", "--json", "--yes", "--log", "-", "--set"}, args...)...)
	var report sm.Report
	if err := json.Unmarshal([]byte(r.Stdout), &report); err != nil || r.Code != code || report.Change == nil {
		t.Fatalf("sm --set %q: got exit code %d, want %d: %v\n%s%s", args, r.Code, code, err, r.Stdout, r.Stderr)
	}
	return report.Change
}

// TestSMSet changes the state of a standby opensm beside a master.
func TestSMSet(t *testing.T) {
	t.Parallel()
	s := ibsimtest.New(t, "/usr/share/doc/ibsim-utils/net-examples/net.2sw2path4hca2port")
	first, err := s.StartSM("Hca1", "sm_priority 9")
	if err != nil {
		t.Fatal(err)
	}
	standby, err := s.StartStandby("Hca2", "sm_priority 4")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(first.Stop(), standby.Stop()); err != nil {
			t.Error(err)
		}
	})
	master, lid := lidOf(t, s, "Hca1"), lidOf(t, s, "Hca2")
	for _, test := range []struct {
		args    []string
		code    int
		outcome outcome.Outcome
		after   string
	}{
		{[]string{"disable", lid}, 0, outcome.Changed, "NotActive"},
		{[]string{"disable", lid}, 0, outcome.Unneeded, "NotActive"},
		{[]string{"handover", "--force", "second-master", lid}, 1, outcome.Rejected, "NotActive"},
		{[]string{"standby", "--request-state", "2", lid}, 1, outcome.Rejected, "NotActive"},
		{[]string{"standby", lid}, 0, outcome.Changed, "Standby"},
		{[]string{"disable", "--force", "master-leaves", master}, 1, outcome.Rejected, "Master"},
		{[]string{"handover", "--force", "second-master", lid}, 0, outcome.Changed, "Master"},
	} {
		t.Run(strings.Join(test.args, " "), func(t *testing.T) {
			if test.after == "Master" && test.outcome == outcome.Changed {
				// A new master finds the first one, which has a higher priority, and is
				// a standby again within half a second, unless the first is silent.
				if err := first.Signal(syscall.SIGSTOP); err != nil {
					t.Fatal(err)
				}
			}
			c := setSM(t, s, test.code, test.args...)
			after := ""
			if c.After != nil {
				after = *c.After
			}
			if *c.Outcome != test.outcome || after != test.after {
				t.Errorf("got %v, %s, want %v, %s", *c.Outcome, after, test.outcome, test.after)
			}
		})
	}
}
