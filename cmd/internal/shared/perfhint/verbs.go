package perfhint

import (
	"errors"
	"io/fs"
	"strings"

	"github.com/ibkit/ibkit/internal/tool/perf"
	"github.com/ibkit/ibkit/verbs"
)

// raiseLockedMemory is the remedy for the limit of locked memory.
const raiseLockedMemory = "raise the limit with ulimit -l, memlock in limits.conf, LimitMEMLOCK= in systemd, " +
	"or --ulimit memlock=-1 in docker and podman"

// verbsHint returns the remedy for an error of a device.
func verbsHint(err error) string {
	var limit *verbs.LimitError
	var failed *verbs.CompletionError
	var peer *perf.PeerError
	switch {
	case nodeHint(err) != "":
		return nodeHint(err)
	case errors.As(err, &limit) && limit.Resource == verbs.LockedMemory:
		return raiseLockedMemory
	case errors.As(err, &peer) && strings.Contains(peer.Text, verbs.LockedMemory):
		return "on the server, " + raiseLockedMemory
	case errors.As(err, &failed):
		return completionHints[failed.Status]
	}
	return ""
}

// nodeHint returns the remedy for a device node that cannot be opened.
func nodeHint(err error) string {
	call, ok := errors.AsType[*verbs.CallError](err)
	if !ok {
		return ""
	}
	path, ok := strings.CutPrefix(call.Op, "open node ")
	switch {
	case ok && errors.Is(call.Err, fs.ErrPermission):
		return "run as root, or permit all users, as the udev rules of rdma-core do: chmod 0666 " + path
	case ok && errors.Is(call.Err, fs.ErrNotExist):
		return "check that udev runs, and that a container has /dev/infiniband"
	}
	return ""
}

// completionHints are remedies for failed work requests.
var completionHints = map[verbs.Status]string{
	verbs.StatusLocalLength: "compare message sizes and MTUs of both sides",
	verbs.StatusLocalQPOp:   "with Soft-RoCE, check that the link is up and has a route to the peer",
	verbs.StatusFlushed:     "check the kernel's log (dmesg) on both hosts",
	verbs.StatusRetryExceeded: "check the path (ping), the types of both GIDs (RoCE v1 or v2, IPv4 or IPv6), the MTU, " +
		"that no firewall drops UDP port 4791, and that the peer is still running",
	verbs.StatusRespTimeout: "the peer's EFA does not answer: check that the security groups of both instances permit all " +
		"traffic within the group, in both directions, that both are in the same subnet, and that the peer is still running",
	verbs.StatusRNRExceeded: "check that the peer is still running",
	verbs.StatusFatal:       "check the kernel's log (dmesg)",
	verbs.StatusGeneral:     "check the kernel's log (dmesg)",
}
