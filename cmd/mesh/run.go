package mesh

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ibkit/ibkit/cmd/internal/buildinfo"
	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/internal/hostlist"
	"github.com/ibkit/ibkit/internal/tool/mesh/crew"
	"github.com/ibkit/ibkit/internal/tool/mesh/rendezvous"
)

// joinRun is one call of mesh run: a worker, the coordinator, or both.
type joinRun struct {
	coordinator
	hosts, ssh, remote string
	listen             string
	join, name         string
	rank, size         int
	device             string
	rendezvous         string
}

// newRun returns the command mesh run.
func newRun(env *cmdutil.Env) *cobra.Command {
	c := &joinRun{coordinator: coordinator{env: env, from: "ibkit mesh run", source: source{env: env}}}
	cmd := &cobra.Command{
		Use:   "run [flags]\n  ibkit mesh run --join HOST:PORT [flags]",
		Short: "Measure between all hosts of a cluster and judge the figures",
		Long: strings.TrimSpace(`
mesh run joins a worker on each host to a coordinator, which runs the rounds of
a schedule and prints the verdict of mesh analyze. Workers measure over their
active RDMA ports as ibkit perf does, first latencies, then bandwidths. The
flows of a suspect are measured again without others, and counters that
increased meanwhile are printed.

The fabric is scanned if all ports are InfiniBand; --from selects another
source. Without a fabric, as with RoCE, hosts are judged, links are not. With
--sim, figures are calculated for a simulated fabric, and need no RDMA device.

Slurm (srun), MPICH and Intel MPI start all workers; that of rank 0 coordinates.
Open MPI needs --rendezvous, an address of rank 0 with a free port. With
--hosts, this process coordinates and starts the workers over ssh. With --join,
it is a worker of ibkit mesh serve or of another coordinator.

In an Indexed Job of Kubernetes, --ranks is the number of pods and --rendezvous
the address of index 0; a LeaderWorkerSet sets both. IBKIT_MESH_NODE is the node
name, from the field spec.nodeName.

A worker that does not join, cannot measure, hangs or dies is a finding, the
rest of the run is valid, and the exit code is 4. Workers exit with 0 once they
have joined: the exit code of the coordinator counts. In a simulation, workers
with the names of hosts in the fabric have their figures; otherwise they have
those of its first hosts in their order.

Workers prove a token: that in IBKIT_MESH_TOKEN, or with --join a line on the
standard input. --hosts and PMI distribute a random token. Without the variable,
the token of Slurm's tasks follows from the job, and other users can compute it.`),
		Example: strings.Trim(`
  # a worker per node of a Slurm job
  export IBKIT_MESH_TOKEN=$(openssl rand -hex 16)
  srun -N4 ibkit mesh run

  # hosts over ssh, two rails, the figures in a file
  ibkit mesh run --hosts 'node[01-16]' --device mlx5_0,mlx5_1 --results run.csv

  # drain slow nodes, and start the job on the others
  srun ibkit mesh run --apply slurm --exclude-file ./bad
  srun --exclude ./bad ./job

  # the container of an Indexed Job in Kubernetes
  ibkit mesh run --ranks 64 --rendezvous mesh-0.mesh:18600 --apply kubernetes

  # a worker for ibkit mesh serve
  ibkit mesh run --join head:18600 < token

  # how a launcher starts workers, without hardware
  srun -N4 ibkit mesh run --sim fat-tree`, "\n"),
		Args: cmdutil.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return c.execute(cmd.Context(), cmd.Flags())
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&c.hosts, "hosts", "", "start workers over ssh on a `LIST` such as 'node[01-16],login1'")
	flags.StringVar(&c.ssh, "ssh", "ssh -o BatchMode=yes", "with --hosts: `COMMAND` in front of a host")
	flags.StringVar(&c.remote, "remote", "ibkit", "with --hosts: `PROGRAM` on the hosts")
	flags.StringVar(&c.listen, "bind", "", "`ADDRESS` and port of the coordinator (default: any free port,\nor with Slurm a port that follows from the job)")
	flags.StringVar(&c.join, "join", "", "join the coordinator at `HOST:PORT`")
	flags.StringVar(&c.name, "name", "", "`NAME` of this worker (default: from the launcher, or the host)")
	flags.IntVar(&c.rank, "rank", 0, "`NUMBER` of this worker, from 0")
	flags.IntVar(&c.size, "ranks", 0, "`NUMBER` of all workers, with --rank or in a Job of Kubernetes")
	flags.StringVar(&c.rendezvous, "rendezvous", "", "address `HOST:PORT` of rank 0")
	flags.StringVar(&c.device, "device", "", "measure on a `DEVICE`, or a list such as mlx5_0,mlx5_1/2\n(default: all active ports)")
	c.define(cmd)
	return cmd
}

// runRules are the relations between the flags.
var runRules = cmdutil.FlagRules{
	Clashes: []cmdutil.Clash{
		{Flags: []string{"join"}, Others: append([]string{"hosts", "rank", "ranks", "rendezvous", "bind", "sim", "results", "termination-log"}, hostFlagNames...)},
		{Flags: []string{"hosts"}, Others: []string{"rank", "ranks", "rendezvous", "name"}},
	},
	Needs: []cmdutil.Need{
		{Flags: []string{"ssh", "remote"}, Others: []string{"hosts"}},
		{Flags: []string{"rank"}, Others: []string{"ranks"}},
		{Flags: []string{"rank"}, Others: []string{"rendezvous"}},
	},
}

func (c *joinRun) execute(ctx context.Context, flags *pflag.FlagSet) error {
	if err := runRules.Check(flags); err != nil {
		return err
	}
	if err := c.complete(flags); err != nil {
		return err
	}
	if err := c.checkDevice(); err != nil {
		return err
	}
	if flags.Changed("join") {
		return c.work(ctx)
	}
	if err := c.completeSource(ctx, flags); err != nil {
		return err
	}
	if flags.Changed("hosts") {
		return c.launch(ctx)
	}
	return c.launched(ctx, flags)
}

// worker returns the options of a worker.
func (c *joinRun) worker(token, name string, coordinators []string) crew.WorkerOptions {
	return crew.WorkerOptions{Token: token, Version: buildinfo.Version(), Name: name, Coordinators: coordinators, Within: c.within}
}

// placed returns the options of a worker with a place. A pod may wait for minutes until the
// coordinator has a name.
func (c *joinRun) placed(p *rendezvous.Place) crew.WorkerOptions {
	o := c.worker(p.Token, p.Name, p.Coordinators)
	if o.Index = p.Index; o.Index != nil {
		o.Waiting = func(err error) {
			cmdutil.PrintError(c.env, c.from, fmt.Errorf("wait up to %v: %w", c.within, err))
		}
	}
	return o
}

// work joins the coordinator of --join.
func (c *joinRun) work(ctx context.Context) error {
	if _, _, err := net.SplitHostPort(c.join); err != nil {
		return cmdutil.UsageErrorf("invalid --join %q: want HOST:PORT", c.join)
	}
	token, err := c.token(ctx)
	if err != nil {
		return err
	}
	name := c.name
	if name == "" {
		if name, err = rendezvous.WorkerName(c.environment()); err != nil {
			return err
		}
	}
	return c.joined(c.serve(ctx, c.worker(token, name, []string{c.join})))
}

// serve runs a worker with the ports of this host.
func (c *joinRun) serve(ctx context.Context, o crew.WorkerOptions) error {
	if c.isSimulated() {
		_, err := crew.Work(ctx, o)
		return err
	}
	engine := c.engine()
	o.Engine = engine
	_, err := crew.Work(ctx, o)
	if closed := engine.Close(); err == nil {
		err = closed
	}
	return err
}

// joined returns the error of a worker that did not join. After joining, the coordinator
// judges, and a launcher must not end the other workers.
func (c *joinRun) joined(err error) error {
	if end, ok := errors.AsType[*crew.EndError](err); ok {
		cmdutil.PrintError(c.env, c.from, end)
		return nil
	}
	return err
}

func (c *joinRun) environment() rendezvous.Environment {
	return rendezvous.Environment{Getenv: c.env.Getenv, Hostname: os.Hostname, UserID: os.Getuid()}
}

// maxToken limits a token on the standard input.
const maxToken = 4096

// token returns the token of the environment or of the standard input. A launcher may leave this
// open without a line.
func (c *joinRun) token(ctx context.Context) (string, error) {
	if token := c.env.Getenv(rendezvous.TokenVariable); token != "" {
		return token, nil
	}
	var line string
	read := make(chan error, 1)
	go func() {
		var err error
		line, err = bufio.NewReader(io.LimitReader(c.env.In, maxToken)).ReadString('\n')
		read <- err
	}()
	ctx, cancel := context.WithTimeoutCause(ctx, c.within, fmt.Errorf("no line on the standard input within %v", c.within))
	defer cancel()
	select {
	case err := <-read:
		if token := strings.TrimSpace(line); token != "" {
			return token, nil
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return "", fmt.Errorf("read the token: %w", err)
		}
	case <-ctx.Done():
		return "", cmdutil.WithHint(fmt.Errorf("read the token: %w", context.Cause(ctx)), "set "+rendezvous.TokenVariable+": pdsh does not pass its standard input on")
	}
	return "", cmdutil.UsageErrorf("no token: set %s, or write it to the standard input", rendezvous.TokenVariable)
}

// launched runs the part of this process that a launcher, or --rank, selects.
func (c *joinRun) launched(ctx context.Context, flags *pflag.FlagSet) error {
	r := rendezvous.Request{Ranked: flags.Changed("rank"), Rank: c.rank, Size: c.size, Rendezvous: c.rendezvous, Name: c.name, Listen: c.listen}
	if flags.Changed("ranks") && !r.Ranked && c.env.Getenv("JOB_COMPLETION_INDEX") == "" {
		return cmdutil.UsageErrorf("--ranks requires --rank, or an Indexed Job of Kubernetes")
	}
	if r.Ranked && (c.size < 1 || c.rank < 0 || c.rank >= c.size) {
		return cmdutil.UsageErrorf("invalid --rank %d with --ranks %d: want 0 to below --ranks", c.rank, c.size)
	}
	limited, cancel := context.WithTimeoutCause(ctx, c.within, errors.New("not all processes have started in time"))
	defer cancel()
	p, err := rendezvous.Find(limited, c.environment(), r)
	if errors.Is(err, rendezvous.ErrNoLauncher) {
		return cmdutil.WithHint(&cmdutil.UsageError{Err: err}, "srun ibkit mesh run …, or --hosts LIST, --join HOST:PORT, or --rank")
	}
	if err != nil {
		return err
	}
	if p.Token == "" {
		return errors.Join(cmdutil.UsageErrorf("no token: set %s to the same secret in all processes", rendezvous.TokenVariable), p.Close())
	}
	if p.Rank != 0 {
		return errors.Join(c.joined(c.serve(ctx, c.placed(p))), p.Close())
	}
	return c.lead(ctx, p)
}

// lead coordinates in the process of rank 0, and runs its worker.
func (c *joinRun) lead(ctx context.Context, p *rendezvous.Place) error {
	l, err := p.Listen()
	if err != nil {
		return errors.Join(err, p.Close())
	}
	if p.Derived {
		fmt.Fprintf(c.env.ErrOut, "%s: other users can compute the token of this job; set %s to a secret\n", c.from, rendezvous.TokenVariable)
	}
	done := make(chan struct{})
	own, cancel := context.WithCancel(context.WithoutCancel(ctx)) // an interrupt ends it with the run
	defer cancel()
	go func() {
		defer close(done)
		if err := c.serve(own, c.placed(p)); err != nil && own.Err() == nil {
			cmdutil.PrintError(c.env, c.from, err)
		}
	}()
	o := c.options(p.Token)
	o.Expect, o.Count = p.Expect, p.Size
	err = c.coordinator.run(ctx, l, o)
	if _, verdict := errors.AsType[*cmdutil.ExitError](err); err != nil && !verdict {
		cancel() // otherwise a pod's worker waits for another coordinator
	}
	<-done
	if closed := p.Close(); err == nil {
		err = closed
	}
	return err
}

// launch starts workers over ssh and coordinates.
func (c *joinRun) launch(ctx context.Context) error {
	hosts, err := hostlist.Expand(c.hosts)
	if err != nil || len(hosts) == 0 {
		return cmdutil.UsageErrorf("invalid --hosts: %w", cmp.Or(err, errors.New("the list is empty")))
	}
	shell := strings.Fields(c.ssh)
	if len(shell) == 0 {
		return cmdutil.UsageErrorf("invalid --ssh: the command is empty")
	}
	l, err := net.Listen("tcp", cmp.Or(c.listen, ":0"))
	if err != nil {
		return cmdutil.WithHint(fmt.Errorf("listen for workers: %w", err), bindHint)
	}
	address, err := c.reachable(l)
	if err != nil {
		return errors.Join(err, l.Close())
	}
	token := c.env.Getenv(rendezvous.TokenVariable)
	if token == "" {
		token = crew.NewToken()
	}
	o, absent := c.options(token), make(chan string, len(hosts))
	o.Expect, o.Absent = rendezvous.HostNames(hosts), absent
	var hinted sync.Once
	started := rendezvous.Start(context.WithoutCancel(ctx), rendezvous.LaunchOptions{
		Hosts: hosts, Shell: shell, Input: token + "\n",
		Remote: append([]string{c.remote, "mesh", "run", "--join", address, "--name", "%h", "--join-timeout", c.within.String()}, c.deviceArguments()...),
		Output: func(host, line string) { fmt.Fprintf(c.env.ErrOut, "%s: %s\n", host, cmdutil.Message(line)) },
		Failed: func(host string, err error) {
			hinted.Do(func() { err = cmdutil.WithHint(err, sshHint) })
			cmdutil.PrintError(c.env, c.from, err)
			absent <- host
		},
	})
	defer started.Stop(launchEnd)
	return c.coordinator.run(ctx, l, o)
}

// sshHint is the advice for a worker that did not start.
const sshHint = "--hosts are names that ssh reaches without a password, and where ibkit is in the PATH (--remote PROGRAM); names in a file: --hosts \"$(paste -sd, FILE)\""

// bindHint is the advice for an address at which the coordinator cannot listen.
const bindHint = "an address of this host, and a port: --bind :18600"

// launchEnd is the time in which remote programs end after the run.
const launchEnd = 3 * time.Second

// reachable returns the address at which hosts reach a listener.
func (c *joinRun) reachable(l net.Listener) (string, error) {
	host, port, err := net.SplitHostPort(l.Addr().String())
	if err != nil {
		return "", err
	}
	if ip := net.ParseIP(host); ip == nil || ip.IsUnspecified() {
		if host, err = os.Hostname(); err != nil {
			return "", fmt.Errorf("read host name: %w", err)
		}
	}
	return net.JoinHostPort(host, port), nil
}
