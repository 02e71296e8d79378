package ping

import "github.com/ibkit/ibkit/umad"

// waitInThread has a port wait for packets in a system call of a thread that does
// nothing else, where it can. Go's poller would have to be woken first, and then
// wake the goroutine: what a round trip takes would be what that takes too.
func waitInThread(port umad.Port) error {
	if w, ok := port.(umad.ThreadWaiter); ok {
		return w.WaitInThread()
	}
	return nil
}
