package perftest

import "github.com/ibkit/ibkit/internal/tool/perf/internal/endpoint"

// keys returns the local queue pairs' keys. With XRC, queue pairs that send come first,
// and queue pairs that receive last; a test in a single direction has only either kind.
func (s *Session) keys() []Key {
	var sends, receives []Key
	for _, a := range s.end.Addresses() {
		k := Key{
			LID: s.choice.Port.Attr.LID, OutReads: uint32(s.maxRdAtomic()), QPN: a.QPN, PSN: a.PSN, RKey: a.RKey, VAddr: a.Addr,
			GID: s.choice.Local.Addr, SRQN: a.SRQN,
		}
		receives = append(receives, k)
		k.QPN, k.PSN = a.SendQPN, a.SendPSN
		sends = append(sends, k)
	}
	switch {
	case !s.test.XRC():
		return receives
	case s.test.twoWay():
		return append(sends, receives...)
	case s.leads():
		return sends
	}
	return receives
}

// receiver returns the key of the peer's queue pair that receives from local queue pair i.
func (s *Session) receiver(remote []Key, i int) Key {
	if s.test.XRC() && s.test.twoWay() {
		i += s.test.QueuePairs
	}
	return remote[i]
}

// peers returns the addresses of the remote queue pairs.
func (s *Session) peers() []endpoint.Address {
	all := make([]endpoint.Address, s.test.QueuePairs)
	for i := range all {
		k := s.receiver(s.Remote, i)
		all[i] = endpoint.Address{QPN: k.QPN, PSN: k.PSN, Addr: k.VAddr, RKey: k.RKey, SRQN: k.SRQN}
		switch {
		case !s.test.XRC():
		case s.test.twoWay():
			all[i].SendQPN, all[i].SendPSN = s.Remote[i].QPN, s.Remote[i].PSN
		case !s.leads(): // the queue pairs of the active side only send
			all[i].SendQPN, all[i].SendPSN, all[i].QPN = k.QPN, k.PSN, 0
		}
	}
	return all
}
