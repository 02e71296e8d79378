package mesh

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/internal/fileout"
	"github.com/ibkit/ibkit/internal/hostlist"
	"github.com/ibkit/ibkit/internal/plural"
	"github.com/ibkit/ibkit/internal/tool/mesh"
	"github.com/ibkit/ibkit/internal/tool/mesh/drain"
)

// hostFlags are the flags of actions on bad hosts.
type hostFlags struct {
	exclude, good string // files
	apply         string
	maxDrain      string

	number  float64 // of maxDrain
	percent bool
}

// Values of --apply.
const (
	applyNone       = "none"
	applySlurm      = "slurm"
	applyKubernetes = "kubernetes"
)

// hostFlagNames are the flags of hostFlags.
var hostFlagNames = []string{"exclude-file", "good-hosts", "apply", "max-drain"}

// hostRules are the relations between the flags.
var hostRules = cmdutil.FlagRules{Needs: []cmdutil.Need{{Flags: []string{"max-drain"}, Others: []string{"apply"}}}}

func (o *hostFlags) define(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&o.exclude, "exclude-file", "", "write the bad hosts to `FILE` as a Slurm host list")
	flags.StringVar(&o.good, "good-hosts", "", "write the other measured hosts to `FILE`, a name per line")
	cmdutil.EnumFlag(cmd, &o.apply, "apply", applyNone, []string{applyNone, applySlurm, applyKubernetes}, "take bad hosts out of service with a `SCHEDULER`")
	flags.StringVar(&o.maxDrain, "max-drain", "5%", "with --apply: drain at most `N` hosts, or a percentage; above: none")
}

func (o *hostFlags) complete(env *cmdutil.Env, flags *pflag.FlagSet) (err error) {
	if err := hostRules.Check(flags); err != nil {
		return err
	}
	if o.apply == applyKubernetes && env.Getenv(drain.InPod) == "" {
		return cmdutil.WithHint(cmdutil.UsageErrorf("--apply %s requires a pod: %s is not set", applyKubernetes, drain.InPod), "outside: kubectl taint nodes NODE "+drain.TaintKey+"=slow-node:NoSchedule")
	}
	text, percent := strings.CutSuffix(o.maxDrain, "%")
	o.percent = percent
	if o.number, err = strconv.ParseFloat(text, 64); err != nil || !(o.number >= 0) || percent && o.number > 100 || !percent && o.number != math.Trunc(o.number) {
		return cmdutil.UsageErrorf("invalid --max-drain %q: want a number of hosts, or 0%% to 100%%", o.maxDrain)
	}
	for _, file := range []string{o.exclude, o.good} {
		if file == "" {
			continue
		}
		if err := fileout.Check(file); err != nil {
			return &cmdutil.UsageError{Err: err}
		}
	}
	return nil
}

// most returns how many of the hosts may be drained: a percentage is at least a host.
func (o *hostFlags) most(hosts int) int {
	switch {
	case !o.percent:
		return int(min(o.number, hostlist.Most))
	case o.number == 0:
		return 0
	}
	return int(max(1, o.number/100*float64(hosts)))
}

// scheduler returns the scheduler that the drain commands are for.
func (o *hostFlags) scheduler(env *cmdutil.Env) drain.Scheduler {
	if o.apply == applyKubernetes || o.apply != applySlurm && env.Getenv(drain.InPod) != "" {
		return &drain.Kubernetes{Getenv: env.Getenv, Account: drain.ServiceAccount}
	}
	return drain.Slurm{}
}

// act lists the hosts, writes the files and drains. Only errors of files are returned: the exit
// code is that of the verdict.
func (o *hostFlags) act(ctx context.Context, env *cmdutil.Env, from string, r *mesh.Result) error {
	r.ListHosts()
	good, bad := r.GoodHosts(), []string{}
	for _, b := range r.BadHosts {
		bad = append(bad, b.Host)
	}
	err := errors.Join(writeHosts(env, o.exclude, hostlist.Compress(bad), len(bad)), writeHosts(env, o.good, strings.Join(good, "\n"), len(good)))
	if o.apply != applyNone {
		s := o.scheduler(env)
		if err := drain.Apply(ctx, s, r.BadHosts, o.most(len(good)+len(bad))); err != nil {
			cmdutil.PrintError(env, from, cmdutil.WithHint(err, "many bad hosts are a sign of a bad fabric; otherwise: --max-drain"))
		}
		failures := cmdutil.NewFailures(env, from, true)
		for _, b := range r.BadHosts {
			if b.Error != "" {
				failures.Print(cmdutil.WithHint(fmt.Errorf("drain %s: %s", b.Host, b.Error), s.Hint()))
			}
		}
	}
	return err
}

// writeHosts writes a line of names, or lines, to a file unless its name is empty, and reports
// the host count.
func writeHosts(env *cmdutil.Env, file, text string, hosts int) error {
	if file == "" {
		return nil
	}
	if text != "" {
		text += "\n"
	}
	err := fileout.Write(file, func(w io.Writer) error { _, err := io.WriteString(w, text); return err })
	if err == nil {
		fmt.Fprintf(env.ErrOut, "wrote %s: %s\n", cmdutil.Visible(file), plural.Count(hosts, "host", "hosts"))
	}
	return err
}
