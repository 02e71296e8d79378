//go:build linux

// Command objects uses features that no other test program uses on the first device: queue
// pairs in XRC domains that two contexts share, moderated completion queues, and dma-bufs.
// With the argument "removal", it posts until the device is removed.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/verbs"
)

const depth = 16

func must[T any](v T, err error) T {
	check(err)
	return v
}

func check(err error) {
	if err != nil {
		fatal(err)
	}
}

func fatal(v ...any) {
	fmt.Fprintln(os.Stderr, append([]any{"objects:"}, v...)...)
	os.Exit(1)
}

// expect ends the program unless an error is the expected error.
func expect(what string, err, want error) {
	if !errors.Is(err, want) {
		fatal(fmt.Sprintf("%s: got error %v, want %v", what, err, want))
	}
	fmt.Println(what+":", err)
}

// A pair is two connected queue pairs. Completions for the second queue pair are ignored.
type pair struct {
	cq *verbs.CQ
	qp [2]*verbs.QP
	mr *verbs.MR
}

func newPair(c *verbs.Context, channel *verbs.CompChannel) *pair {
	pd := must(c.AllocPD())
	memory, access := must(c.NewMemory(4096, verbs.MemoryOptions{})), verbs.AccessLocalWrite|verbs.AccessRemoteWrite
	p := &pair{cq: must(c.CreateCQ(verbs.CQInit{Entries: 2 * depth, Channel: channel})), mr: must(pd.RegisterMR(memory, access))}
	for i := range p.qp {
		p.qp[i] = must(pd.CreateQP(verbs.QPInit{Type: verbs.QPTypeRC, SendCQ: p.cq, RecvCQ: p.cq, Cap: verbs.QPCap{MaxSendWR: depth, MaxSendSGE: 1}}))
	}
	param := verbs.DefaultParam
	param.Access = access
	path := verbs.Path{DLID: must(c.QueryPort(1)).LID, Port: 1}
	for i, qp := range p.qp {
		check(qp.Connect(verbs.RemoteQP{QPN: p.qp[1-i].Number(), Path: path, MTU: ib.MTU1024}, param))
	}
	return p
}

// write posts writes of 8 bytes.
func (p *pair) write(count int) error {
	wrs := make([]verbs.SendWR, count)
	for i := range wrs {
		wrs[i] = verbs.SendWR{Opcode: verbs.OpWrite, Flags: verbs.SendSignaled, SGEs: []verbs.SGE{p.mr.SGE(0, 8)}, RemoteAddr: p.mr.Addr() + 64, RKey: p.mr.RKey()}
	}
	_, err := p.qp[0].PostSend(wrs)
	return err
}

// drain polls completions.
func (p *pair) drain(count int) error {
	into := make([]verbs.Completion, depth)
	for count > 0 {
		n, err := p.cq.Poll(into)
		if err != nil {
			return err
		}
		for _, c := range into[:n] {
			if c.Status != verbs.StatusOK {
				return fmt.Errorf("completion: %v", c.Status)
			}
		}
		count -= n
	}
	return nil
}

// domains opens a queue pair that another context has created.
func domains(first, second *verbs.Context) {
	file := must(os.CreateTemp("", "domain"))
	x := must(first.OpenXRCD(verbs.XRCDInit{File: file, MustCreate: true}))
	_, err := second.OpenXRCD(verbs.XRCDInit{File: file, MustCreate: true})
	expect("create an existing domain", err, unix.EINVAL)
	y := must(second.OpenXRCD(verbs.XRCDInit{File: file, MustExist: true}))
	qp := must(x.CreateQP())
	check(qp.Modify(verbs.QPStateInit, verbs.QPAttr{PKeyIndex: new(uint16(0)), Port: new(uint8(1)), Access: new(verbs.AccessRemoteWrite)}))
	opened := must(y.OpenQP(qp.Number(), verbs.QPStateInit))
	_, err = y.OpenQP(qp.Number()+1, verbs.QPStateInit)
	expect("open a queue pair that does not exist", err, unix.EINVAL)
	// It outlives its creator.
	number := qp.Number()
	check(qp.Close())
	mtu := ib.MTU1024
	check(opened.Modify(verbs.QPStateRTR, verbs.QPAttr{
		Path: &verbs.Path{DLID: must(second.QueryPort(1)).LID, Port: 1}, PathMTU: &mtu, DestQPN: &number, RQPSN: new(uint32(0)),
		MaxDestRdAtomic: new(uint8(1)), MinRNRTimer: new(uint8(12)),
	}))
	_, err = opened.PostSend([]verbs.SendWR{{Opcode: verbs.OpSend}})
	if err == nil {
		fatal("post to an opened queue pair: got no error")
	}
	fmt.Println("post to an opened queue pair:", err)
	check(opened.Close())
	_, err = y.OpenQP(number, verbs.QPStateInit)
	expect("open a closed queue pair", err, unix.EINVAL)
	check(y.Close())
	check(x.Close())
}

// longest is the longest moderation period.
const longest = 65535 * time.Microsecond

// moderation checks that a completion event is late if more completions are to come, and
// in time if they have come or without moderation.
func moderation(c *verbs.Context) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	channel := must(c.NewCompChannel())
	p := newPair(c, channel)
	wait := func(count int) time.Duration {
		check(p.cq.Arm(false))
		begin := time.Now()
		check(p.write(count))
		must(channel.Wait(ctx))
		late := time.Since(begin)
		check(p.drain(count))
		return late
	}
	expect("moderate for a second", p.cq.Moderate(2, time.Second), unix.EINVAL)
	check(p.cq.Moderate(depth, longest))
	if late := wait(1); late < longest {
		fatal("moderated: the event arrived after", late)
	}
	// Another program may delay events: some arrive in time.
	for wait(depth) >= longest {
		check(ctx.Err())
	}
	check(p.cq.Moderate(0, 0))
	for wait(1) >= longest {
		check(ctx.Err())
	}
	fmt.Println("moderation: as requested")
}

// refusals are the operations that this driver or this provider does not support.
func refusals(c *verbs.Context) {
	pd := must(c.AllocPD())
	file := must(os.CreateTemp("", "buffer"))
	check(file.Truncate(4096))
	if _, err := pd.RegisterDMABuf(int(file.Fd()), 0, 4096, 0, verbs.AccessLocalWrite); err == nil {
		fatal("register a file as dma-buf: got no error")
	} else {
		fmt.Println("register a file as dma-buf:", err)
	}
}

// removal posts until the device is removed, and then until the queue is full: the
// doorbell register pages are ordinary memory then.
func removal(c *verbs.Context) {
	p := newPair(c, nil)
	fmt.Println("posting")
	for c.CheckPresent() == nil {
		check(p.write(depth / 2))
		for done := 0; done < depth/2 && c.CheckPresent() == nil; {
			done += must(p.cq.Poll(make([]verbs.Completion, depth)))
		}
	}
	var err error
	for posted := 0; err == nil; posted++ {
		if posted > depth {
			fatal("the queue is never full")
		}
		err = p.write(1)
	}
	expect("post to a removed device", err, verbs.ErrFull)
	expect("arm", p.cq.Arm(false), nil)
	for _, qp := range p.qp {
		if err := qp.Close(); err != nil && !errors.Is(err, verbs.ErrDeviceRemoved) {
			fatal("close:", err)
		}
	}
	_, err = c.QueryPort(1)
	expect("query port", err, verbs.ErrDeviceRemoved)
}

func main() {
	devices := must(verbs.Devices())
	if len(devices) == 0 {
		fatal(os.ErrNotExist)
	}
	c := must(devices[0].Open())
	if len(os.Args) > 1 {
		removal(c)
		return
	}
	d := must(devices[0].Open())
	domains(c, d)
	moderation(c)
	refusals(c)
	check(d.Close())
	check(c.Close())
}
