package rendezvous

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ibkit/ibkit/internal/textfile"
)

// LaunchOptions are workers that a launcher starts on hosts.
type LaunchOptions struct {
	Hosts  []string // HOST or USER@HOST
	Shell  []string // the command in front of the host: ssh with options
	Remote []string // program and arguments; "%h" stands for the host's name
	Input  string   // for each program's standard input

	// Output is called for each line that a program prints, from several goroutines.
	Output func(host, line string)

	// Failed, unless nil, is called for each program that fails.
	Failed func(host string, err error)
}

// A Launch is running remote programs.
type Launch struct {
	cancel  context.CancelFunc
	running sync.WaitGroup
}

// hostOf returns the name of USER@HOST.
func hostOf(host string) string {
	if _, name, ok := strings.Cut(host, "@"); ok {
		return name
	}
	return host
}

// HostNames returns the names of hosts without users.
func HostNames(hosts []string) (names []string) {
	for _, h := range hosts {
		names = append(names, hostOf(h))
	}
	return names
}

// Start starts a program on each host.
func Start(ctx context.Context, o LaunchOptions) *Launch {
	ctx, cancel := context.WithCancel(ctx)
	l := &Launch{cancel: cancel}
	for _, host := range o.Hosts {
		l.running.Go(func() {
			if err := o.run(ctx, host); err != nil && ctx.Err() == nil && o.Failed != nil {
				o.Failed(hostOf(host), err)
			}
		})
	}
	return l
}

// Stop waits a while for the programs, which end with the run, and ends the rest.
func (l *Launch) Stop(within time.Duration) {
	timer := time.AfterFunc(within, l.cancel)
	defer timer.Stop()
	l.running.Wait()
	l.cancel()
}

// run runs the program on a host.
func (o LaunchOptions) run(ctx context.Context, host string) error {
	args := append(slices.Clone(o.Shell), host)
	for _, a := range o.Remote {
		args = append(args, textfile.ShellWord(strings.ReplaceAll(a, "%h", hostOf(host))))
	}
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Stdin = strings.NewReader(o.Input)
	cmd.WaitDelay = time.Second
	lines, to := io.Pipe()
	cmd.Stdout, cmd.Stderr = to, to
	done := make(chan struct{})
	go func() {
		defer close(done)
		for in := bufio.NewScanner(lines); in.Scan(); {
			o.Output(hostOf(host), in.Text())
		}
		_, _ = io.Copy(io.Discard, lines) // after a line that is too long
	}()
	err := cmd.Run()
	_ = to.Close()
	<-done
	if err != nil {
		err = fmt.Errorf("%s %s: %w", args[0], host, err)
	}
	return err
}
