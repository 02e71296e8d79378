package verbs_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"time"

	"github.com/ibkit/ibkit/verbs"
)

// Send a message over a reliable connection between two queue pairs on the same device.
// Processes on different hosts exchange the queue pair number and the GID
// over TCP first.
func Example() {
	devices, err := verbs.Devices()
	if err != nil {
		log.Fatal(err)
	}
	if len(devices) == 0 {
		log.Fatal("this host has no RDMA device")
	}
	c, err := devices[0].Open()
	if err != nil {
		log.Fatal(err)
	}
	received, err := transfer(c, "hello")
	if err := errors.Join(err, c.Close()); err != nil { // Close closes all c's objects
		log.Fatal(err)
	}
	fmt.Println(received)
}

func transfer(c *verbs.Context, text string) (string, error) {
	const size = 4096
	memory, err := c.NewMemory(2*size, verbs.MemoryOptions{})
	if err != nil {
		return "", err
	}
	defer memory.Close() // after mr
	pd, err := c.AllocPD()
	if err != nil {
		return "", err
	}
	mr, err := pd.RegisterMR(memory, verbs.AccessLocalWrite)
	if err != nil {
		return "", err
	}
	defer mr.Close()
	channel, err := c.NewCompChannel()
	if err != nil {
		return "", err
	}
	cq, err := c.CreateCQ(verbs.CQInit{Entries: 32, Channel: channel})
	if err != nil {
		return "", err
	}
	var pair [2]*verbs.QP
	for i := range pair {
		if pair[i], err = pd.CreateQP(verbs.QPInit{
			Type: verbs.QPTypeRC, SendCQ: cq, RecvCQ: cq,
			Cap: verbs.QPCap{MaxSendWR: 16, MaxRecvWR: 16, MaxSendSGE: 1, MaxRecvSGE: 1},
		}); err != nil {
			return "", err
		}
	}

	const port = 1
	attr, err := c.QueryPort(port)
	if err != nil {
		return "", err
	}
	gid, err := c.GID(port, 0)
	if err != nil {
		return "", err
	}
	path := verbs.Path{Port: port, DLID: attr.LID, DGID: gid.GID, SGIDIndex: uint8(gid.Index), HopLimit: 64}
	sender, receiver := pair[0], pair[1]
	for i, qp := range pair {
		peer := verbs.RemoteQP{QPN: pair[1-i].Number(), Path: path, MTU: attr.ActiveMTU}
		if err := qp.Connect(peer, verbs.DefaultParam); err != nil {
			return "", err
		}
	}

	if _, err := receiver.PostRecv([]verbs.RecvWR{{SGEs: []verbs.SGE{mr.SGE(0, size)}}}); err != nil {
		return "", err
	}
	n := copy(mr.Bytes()[size:], text)
	if _, err := sender.PostSend([]verbs.SendWR{{
		Opcode: verbs.OpSend, Flags: verbs.SendSignaled, SGEs: []verbs.SGE{mr.SGE(size, n)},
	}}); err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	received := ""
	completions := make([]verbs.Completion, 2)
	for done := 0; done < 2; { // a send and a receive completion
		n, err := cq.Wait(ctx, completions) // Poll does not wait
		if err != nil {
			return "", err
		}
		for i := range completions[:n] {
			c := &completions[i]
			if err := c.Err(); err != nil {
				return "", err
			}
			if c.Opcode.Received() {
				received = string(mr.Bytes()[:c.ByteLen])
			}
		}
		done += n
	}
	return received, nil
}
