package pma

import (
	"bytes"
	"context"
	"errors"
	"iter"

	"github.com/ibkit/ibkit/cmd/internal/getopt"
	"github.com/ibkit/ibkit/umad"
)

// A Job is one of many functions that send requests.
type Job struct {
	Index       int
	Out, ErrOut bytes.Buffer // output, in the order of the jobs
	Caller      *Caller

	next   func() (*umad.Request, bool)
	stop   func()
	reply  *umad.Reply
	ended  bool
	broken bool // stop was called
}

const (
	// maxJobs is the maximum number of jobs that have begun and not ended.
	maxJobs = 512

	// maxOutput is the maximum number of jobs whose output waits for an earlier job.
	maxOutput = 8192
)

var errStopped = errors.New("stopped")

// A Pool runs jobs. Each job sends one request at a time and waits for its reply; the
// requests of many jobs are in flight.
type Pool struct {
	Diag   *getopt.Diag
	Client *umad.Client

	// Work is a job.
	Work func(*Job)
	// Done is called after the end of each job, in the order of the jobs.
	Done func(*Job)

	ctx     context.Context
	count   int
	jobs    []*Job // from the first whose Done was not called
	first   int    // index of that job
	running int
}

// Run runs a number of jobs. If ctx ends or the port breaks before, it returns that error
// after the output of the jobs that had ended.
func (p *Pool) Run(ctx context.Context, count int) error {
	p.ctx, p.count = ctx, count
	p.start()
	if err := p.Client.Run(ctx); err != nil {
		for _, j := range p.jobs {
			if !j.ended {
				j.broken = true
				j.stop()
			}
		}
		return err
	}
	return nil
}

// start begins as many jobs as the limits permit.
func (p *Pool) start() {
	for p.ctx.Err() == nil && p.running < maxJobs && len(p.jobs) < maxOutput && p.first+len(p.jobs) < p.count {
		j := &Job{Index: p.first + len(p.jobs)}
		j.Caller = &Caller{Diag: p.Diag, ErrOut: &j.ErrOut}
		j.next, j.stop = iter.Pull(func(yield func(*umad.Request) bool) {
			j.Caller.Call = func(r *umad.Request) umad.Reply {
				if j.broken || !yield(r) {
					return umad.Reply{Err: errStopped}
				}
				return *j.reply
			}
			p.Work(j)
		})
		p.jobs = append(p.jobs, j)
		p.running++
		p.step(j)
	}
}

// step resumes a job up to its next request or its end.
func (p *Pool) step(j *Job) {
	r, ok := j.next()
	if ok {
		r.Done = func(_ *umad.Request, reply *umad.Reply) {
			if j.broken {
				return
			}
			j.reply = reply
			p.step(j)
			if j.ended {
				p.start()
			}
		}
		p.Client.Submit(r)
		return
	}
	j.ended = true
	p.running--
	if p.ctx.Err() != nil {
		return // the job ended early
	}
	for len(p.jobs) > 0 && p.jobs[0].ended {
		p.Done(p.jobs[0])
		p.jobs[0] = nil
		p.jobs = p.jobs[1:]
		p.first++
	}
}
