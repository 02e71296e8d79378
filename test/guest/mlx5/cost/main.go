// Program cost measures the processor time that package verbs takes to post writes of 64
// bytes, to post receives and to poll, in ns per message. It prints "name batch ns" for
// the median over all rounds. On an adapter that has datagrams only (efa), it sends datagrams,
// which the peer drops. Program testdata/cost.c does the same with the C library.
package main

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"time"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/verbs"
)

// The same as in cost.c.
const (
	depth  = 1024
	rounds = 40
	size   = 64
	qkey   = 1
)

var errStatus = errors.New("completion: got an error")

func main() {
	runtime.LockOSThread()
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// A pair is two connected queue pairs in a process.
type pair struct {
	qps [2]*verbs.QP
	cqs [2]*verbs.CQ
	mr  *verbs.MR
	ah  *verbs.AH // of datagrams

	context *verbs.Context
	pd      *verbs.PD
	path    verbs.Path
}

func run() error {
	devices, err := verbs.Devices()
	if err != nil || len(devices) == 0 {
		return fmt.Errorf("got %d devices, %w", len(devices), err)
	}
	c, err := devices[0].Open()
	if err != nil {
		return err
	}
	defer c.Close()
	p, err := newPair(c)
	if err != nil {
		return err
	}
	for _, batch := range []int{1, 16, 64} {
		if err := p.sends(batch); err != nil {
			return err
		}
	}
	for _, batch := range []int{1, 16, 64} {
		if err := p.receives(batch); err != nil {
			return err
		}
	}
	return nil
}

func newPair(c *verbs.Context) (*pair, error) {
	port, err := c.QueryPort(1)
	if err != nil {
		return nil, err
	}
	pd, err := c.AllocPD()
	if err != nil {
		return nil, err
	}
	m, err := c.NewMemory(2*size, verbs.MemoryOptions{})
	if err != nil {
		return nil, err
	}
	p := &pair{context: c, pd: pd, path: verbs.Path{DLID: port.LID, Port: 1}}
	if port.LinkLayer != ib.LinkLayerInfiniBand {
		index := uint8(0)
		if port.LinkLayer == ib.LinkLayerEthernet {
			index = 1
		}
		gid, err := c.GID(1, uint32(index))
		if err != nil {
			return nil, err
		}
		p.path = verbs.Path{DGID: gid.GID, SGIDIndex: index, HopLimit: 1, Port: 1}
	}
	if port.LinkLayer == ib.LinkLayerUnspecified {
		if p.ah, err = pd.CreateAH(p.path); err != nil {
			return nil, err
		}
	}
	if p.mr, err = pd.RegisterMR(m, verbs.AccessLocalWrite|verbs.AccessRemoteWrite); err != nil {
		return nil, err
	}
	return p, p.open()
}

// open creates the queue pairs and connects them.
func (p *pair) open() (err error) {
	for i := range p.qps {
		if p.cqs[i], err = p.context.CreateCQ(verbs.CQInit{Entries: 2 * depth}); err != nil {
			return err
		}
		kind := verbs.QPTypeRC
		if p.ah != nil {
			kind = verbs.QPTypeUD
		}
		p.qps[i], err = p.pd.CreateQP(verbs.QPInit{Type: kind, SendCQ: p.cqs[i], RecvCQ: p.cqs[i], Cap: verbs.QPCap{
			MaxSendWR: depth, MaxRecvWR: depth, MaxSendSGE: 1, MaxRecvSGE: 1,
		}})
		if err != nil {
			return err
		}
	}
	return p.connect()
}

// reopen is open after the end of the earlier queue pairs.
func (p *pair) reopen() error {
	for i := range p.qps {
		if err := errors.Join(p.qps[i].Close(), p.cqs[i].Close()); err != nil {
			return err
		}
	}
	return p.open()
}

// connect moves both queue pairs to RTS.
func (p *pair) connect() error {
	param := verbs.ConnParam{Access: verbs.AccessRemoteWrite, QKey: qkey, Timeout: 18, RetryCount: 7, RNRRetry: 7, MinRNRTimer: 1, MaxDestRdAtomic: 1}
	for i, qp := range p.qps {
		peer := verbs.RemoteQP{QPN: p.qps[1-i].Number(), Path: p.path, MTU: ib.MTU1024}
		if err := errors.Join(qp.Modify(verbs.QPStateReset, verbs.QPAttr{}), qp.Connect(peer, param)); err != nil {
			return err
		}
	}
	return nil
}

// sends measures posting and polling.
func (p *pair) sends(batch int) error {
	wrs := make([]verbs.SendWR, batch)
	into := make([]verbs.Completion, 64)
	for i := range wrs {
		wrs[i] = verbs.SendWR{
			ID: uint64(i), Opcode: verbs.OpWrite, Flags: verbs.SendSignaled, SGEs: []verbs.SGE{p.mr.SGE(0, size)},
			RemoteAddr: p.mr.Addr() + size, RKey: p.mr.RKey(),
		}
		if p.ah != nil {
			wrs[i].Opcode, wrs[i].AH, wrs[i].RemoteQPN, wrs[i].QKey = verbs.OpSend, p.ah.Destination(), p.qps[1].Number(), qkey
		}
	}
	var post, poll []float64
	for len(post) < rounds {
		begin := time.Now()
		for n := 0; n < depth; n += batch {
			if _, err := p.qps[0].PostSend(wrs); err != nil {
				return err
			}
		}
		posted := time.Since(begin)
		time.Sleep(20 * time.Millisecond) // the adapter executes all
		done := 0
		begin = time.Now()
		for n := 0; n < depth; n += batch {
			got, err := p.cqs[0].Poll(into[:batch])
			if err != nil {
				return err
			}
			for i := range got {
				if into[i].Status != verbs.StatusOK {
					return errStatus
				}
			}
			done += got
		}
		polled := time.Since(begin)
		if done == depth { // otherwise the adapter was late
			post = append(post, float64(posted.Nanoseconds())/depth)
			poll = append(poll, float64(polled.Nanoseconds())/depth)
		}
		for done < depth {
			got, err := p.cqs[0].Poll(into)
			if err != nil {
				return err
			}
			done += got
		}
	}
	report("PostSend", batch, post)
	report("Poll", batch, poll)
	return nil
}

// receives measures posting receives.
func (p *pair) receives(batch int) error {
	wrs := make([]verbs.RecvWR, batch)
	for i := range wrs {
		wrs[i] = verbs.RecvWR{ID: uint64(i), SGEs: []verbs.SGE{p.mr.SGE(0, size)}}
	}
	var post []float64
	for range rounds {
		if err := p.reopen(); err != nil {
			return err
		}
		begin := time.Now()
		for n := 0; n < depth; n += batch {
			if _, err := p.qps[0].PostRecv(wrs); err != nil {
				return err
			}
		}
		post = append(post, float64(time.Since(begin).Nanoseconds())/depth)
	}
	report("PostRecv", batch, post)
	return nil
}

// report prints the median.
func report(name string, batch int, ns []float64) {
	slices.Sort(ns)
	fmt.Printf("%s %d %.1f\n", name, batch, ns[len(ns)/2])
}
