package mesh

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/internal/tool/mesh"
)

// modelFlags are the flags of simulated figures.
type modelFlags struct {
	schedule scheduleFlag
	faults   []string
	plant    int
	noise    float64
	seed     uint64
	alone    bool
}

func (m *modelFlags) define(env *cmdutil.Env, cmd *cobra.Command) {
	flags := cmd.Flags()
	m.schedule.define(env, cmd, "`SCHEDULE` of the measurement: see ibkit mesh plan")
	flags.StringArrayVar(&m.faults, "fault", nil, "plant a `FAULT`: SUBJECT=60%, =+2us, =hang or =missing")
	flags.IntVar(&m.plant, "plant", 0, "plant `N` faults of 30 to 85 % at random places")
	flags.Float64Var(&m.noise, "noise", 1.5, "standard deviation of figures in `PERCENT`")
	flags.Uint64Var(&m.seed, "seed", 1, "`NUMBER` that determines noise and random places")
	flags.BoolVar(&m.alone, "alone", false, "calculate each flow without the others in its round")
}

// maxNoise is the highest value of --noise.
const maxNoise = 50

func (m *modelFlags) complete() error {
	switch {
	case m.plant < 0:
		return cmdutil.UsageErrorf("invalid --plant %d: want at least 0", m.plant)
	case !(m.noise >= 0 && m.noise <= maxNoise):
		return cmdutil.UsageErrorf("invalid --noise %v: want 0 to %d", m.noise, maxNoise)
	}
	return m.schedule.complete()
}

// options returns the simulation with the faults on a fabric, --fault first.
func (m *modelFlags) options(w *mesh.Wiring) (mesh.SimulateOptions, error) {
	o := mesh.SimulateOptions{Schedule: m.schedule.value, Noise: m.noise / 100, Seed: m.seed, Alone: m.alone}
	for _, text := range m.faults {
		f, err := w.ParseFault(text)
		if err != nil {
			return o, cmdutil.WithHint(cmdutil.UsageErrorf("invalid --fault: %w", err), "for example 'leaf1[3]=60%' or node01=hang; list all nodes: ibkit topology --nodes")
		}
		o.Faults = append(o.Faults, f)
	}
	o.Faults = append(o.Faults, w.Plant(m.plant, m.seed)...)
	return o, nil
}

// scheduleFlag is --schedule.
type scheduleFlag struct {
	text  string
	value mesh.Schedule
}

func (s *scheduleFlag) define(env *cmdutil.Env, cmd *cobra.Command, usage string) {
	cmd.Flags().StringVar(&s.text, "schedule", "aware", usage)
	cmdutil.CompleteFlag(env, cmd, "schedule", cmdutil.Constant(mesh.Schedules()...))
}

func (s *scheduleFlag) complete() (err error) {
	if s.value, err = mesh.ParseSchedule(s.text); err != nil {
		err = cmdutil.UsageErrorf("invalid --schedule: %w", err)
		if name, _, _ := strings.Cut(s.text, ":"); !slices.Contains(mesh.ScheduleNames(), name) {
			return cmdutil.WithHint(err, cmdutil.SimilarHint(name, mesh.ScheduleNames()))
		} else if name == "file" {
			return cmdutil.WithFileHint(err, "lines of ROUND SENDER RECEIVER, as ibkit mesh plan --csv prints them")
		}
		return err
	}
	return nil
}
