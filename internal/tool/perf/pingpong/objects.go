package pingpong

import (
	"errors"
	"fmt"
	"math/rand/v2"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/internal/tool/perf/internal/port"
	"github.com/ibkit/ibkit/verbs"
)

// objects holds the verbs objects and the work requests of this side.
type objects struct {
	test  Test
	place Place

	pd      *verbs.PD
	memory  *verbs.Memory
	mr      *verbs.MR
	channel *verbs.CompChannel // with Events
	cq      *verbs.CQ
	srq     *verbs.SRQ // with Shared
	qps     []*verbs.QP
	ah      *verbs.AH // of UD

	recvs []verbs.RecvWR
	sends []verbs.SendWR // one

	local []Address
}

// IDs of work requests.
const (
	recvID = 1
	sendID = 2
)

// newObjects creates the objects and posts receives.
func newObjects(place Place, test Test) (_ *objects, err error) {
	s := &objects{test: test, place: place}
	defer func() {
		if err != nil {
			s.close()
		}
	}()
	c := place.Context
	if s.pd, err = c.AllocPD(); err != nil {
		return nil, err
	}
	// The sent message, followed by the received message.
	room := s.recvAt() + test.headroom() + test.Size
	if s.memory, err = c.NewMemory(room, verbs.MemoryOptions{}); err != nil {
		return nil, err
	}
	if s.mr, err = s.pd.RegisterMR(s.memory, test.access()); err != nil {
		return nil, err
	}
	if test.Events {
		if s.channel, err = c.NewCompChannel(); err != nil {
			return nil, err
		}
	}
	if s.cq, err = c.CreateCQ(verbs.CQInit{Entries: test.RxDepth + test.qps(), Channel: s.channel}); err != nil {
		return nil, err
	}
	if test.Shared > 0 {
		if s.srq, err = s.pd.CreateSRQ(verbs.SRQInit{MaxWR: uint32(test.RxDepth), MaxSGE: 1}); err != nil {
			return nil, err
		}
	}
	s.prepare()
	gid, lid, err := s.address()
	if err != nil {
		return nil, err
	}
	for range test.qps() {
		qp, err := s.newQP()
		if err != nil {
			return nil, err
		}
		s.qps = append(s.qps, qp)
		s.local = append(s.local, Address{LID: lid, QPN: qp.Number(), PSN: rand.Uint32N(1 << 24), GID: gid.GID})
	}
	return s, s.postReceives(test.RxDepth)
}

// access returns the rights of the memory.
func (t *Test) access() verbs.Access {
	if t.OnDemand {
		return verbs.AccessLocalWrite | verbs.AccessOnDemand
	}
	return verbs.AccessLocalWrite
}

// recvAt returns the offset of received messages.
func (s *objects) recvAt() int { return (s.test.Size + 63) &^ 63 }

// sendAt returns the offset of the sent message. With Chk, each side returns what it has
// received: the programs have one buffer.
func (s *objects) sendAt() int {
	if s.test.Chk {
		return s.recvAt() + s.test.headroom()
	}
	return 0
}

// prepare builds the work requests.
func (s *objects) prepare() {
	into := []verbs.SGE{s.mr.SGE(s.recvAt(), s.test.headroom()+s.test.Size)}
	for range s.test.RxDepth {
		s.recvs = append(s.recvs, verbs.RecvWR{ID: recvID, SGEs: into})
	}
	s.sends = []verbs.SendWR{{
		ID: sendID, Opcode: verbs.OpSend, Flags: verbs.SendSignaled,
		SGEs: []verbs.SGE{s.mr.SGE(s.sendAt(), s.test.Size)}, QKey: qkey,
	}}
}

// out returns the payload of the sent message.
func (s *objects) out() []byte { return s.memory.Bytes()[s.sendAt():][:s.test.Size] }

// in returns the payload of the received message.
func (s *objects) in() []byte {
	return s.memory.Bytes()[s.recvAt()+s.test.headroom():][:s.test.Size]
}

// address returns the local GID and LID.
func (s *objects) address() (verbs.GIDEntry, ib.LID, error) {
	device := s.place.Context
	limits, err := device.QueryDevice()
	if err == nil {
		err = port.CheckNumber(device.Name(), s.place.Port, limits.PhysPortCount)
	}
	if err != nil {
		return verbs.GIDEntry{}, 0, err
	}
	attr, err := device.QueryPort(uint32(s.place.Port))
	if err != nil {
		return verbs.GIDEntry{}, 0, err
	}
	if s.test.Type == verbs.QPTypeUD && s.test.Size > attr.ActiveMTU.Bytes() {
		return verbs.GIDEntry{}, 0, fmt.Errorf("send datagrams of %d bytes: the MTU of the port is %v", s.test.Size, attr.ActiveMTU)
	}
	if s.place.GIDIndex < 0 {
		return verbs.GIDEntry{}, attr.LID, nil
	}
	gid, err := device.GID(uint32(s.place.Port), uint32(s.place.GIDIndex))
	return gid, attr.LID, err
}

func (s *objects) newQP() (*verbs.QP, error) {
	qp, err := s.pd.CreateQP(verbs.QPInit{
		Type: s.test.Type, SendCQ: s.cq, RecvCQ: s.cq, SRQ: s.srq,
		Cap: verbs.QPCap{MaxSendWR: 1, MaxRecvWR: uint32(s.test.RxDepth), MaxSendSGE: 1, MaxRecvSGE: 1},
	})
	if err != nil {
		return nil, err
	}
	if err := qp.Init(s.place.Port, connParam(0)); err != nil {
		return nil, errors.Join(err, qp.Close())
	}
	return qp, nil
}

// connParam returns the parameters of the programs with a queue pair's first packet number,
// except for their RetryCount 7, with which Soft-RoCE retries without limit and would not
// detect a killed peer.
func connParam(psn uint32) verbs.ConnParam {
	p := verbs.DefaultParam
	p.PSN, p.QKey, p.RNRRetry = psn, qkey, 7
	return p
}

// connect connects the queue pairs.
func (s *objects) connect(remote []Address) error {
	for i, qp := range s.qps {
		peer := verbs.RemoteQP{QPN: remote[i].QPN, PSN: remote[i].PSN, Path: s.path(remote[i]), MTU: s.test.MTU}
		if err := qp.Connect(peer, connParam(s.local[i].PSN)); err != nil {
			return err
		}
	}
	if s.test.Type == verbs.QPTypeUD {
		ah, err := s.pd.CreateAH(s.path(remote[0]))
		if err != nil {
			return err
		}
		s.ah, s.sends[0].AH, s.sends[0].RemoteQPN = ah, ah.Destination(), remote[0].QPN
	}
	return nil
}

// path returns the path to a remote queue pair.
func (s *objects) path(r Address) verbs.Path {
	p := verbs.Path{DLID: r.LID, SL: s.test.SL, Port: s.place.Port}
	if r.needsGRH() {
		p.DGID, p.SGIDIndex, p.HopLimit = r.GID, uint8(max(s.place.GIDIndex, 0)), 64
	}
	return p
}

// postReceives posts n receives.
func (s *objects) postReceives(n int) error {
	var err error
	if s.srq != nil {
		_, err = s.srq.PostRecv(s.recvs[:n])
	} else {
		_, err = s.qps[0].PostRecv(s.recvs[:n])
	}
	return err
}

// close destroys the objects in reverse order.
func (s *objects) close() error {
	var errs []error
	for _, qp := range s.qps {
		errs = append(errs, qp.Close())
	}
	if s.ah != nil {
		errs = append(errs, s.ah.Close())
	}
	if s.srq != nil {
		errs = append(errs, s.srq.Close())
	}
	if s.cq != nil {
		errs = append(errs, s.cq.Close())
	}
	if s.channel != nil {
		errs = append(errs, s.channel.Close())
	}
	if s.mr != nil {
		errs = append(errs, s.mr.Close())
	}
	if s.memory != nil {
		errs = append(errs, s.memory.Close())
	}
	if s.pd != nil {
		errs = append(errs, s.pd.Close())
	}
	return errors.Join(errs...)
}
