package perfhint

import (
	"errors"
	"fmt"
	"net"
	"strings"
	"syscall"
	"testing"

	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/internal/tool/perf"
	"github.com/ibkit/ibkit/internal/tool/perf/memory"
	"github.com/ibkit/ibkit/internal/tool/perf/perftest"
	"github.com/ibkit/ibkit/verbs"
)

func TestWith(t *testing.T) {
	refused := func(ip string) error {
		return &net.OpError{Op: "dial", Net: "tcp", Addr: &net.TCPAddr{IP: net.ParseIP(ip), Port: 1}, Err: syscall.ECONNREFUSED}
	}
	registration := func(errno syscall.Errno) error {
		return fmt.Errorf("use memory cuda:0: %w: %w", memory.ErrRegister, &verbs.CallError{Op: "register 4096 bytes of a dma-buf", Device: "rxe0", Err: errno})
	}
	for _, test := range []struct {
		name string
		err  error
		want string
	}{
		{"no server", &perf.ConnectError{Err: refused("10.0.0.1")}, "start the server first: ibkit perf --serve"},
		{"no route", &perf.ConnectError{Err: syscall.EHOSTUNREACH}, "check the address, and that ibkit perf --serve runs there; then that no firewall blocks TCP port 18516"},
		{"no program", &perf.ConnectError{Program: "ib_send_lat", Err: refused("10.0.0.1")}, "start ib_send_lat on the server first"},
		{"no program on IPv6", &perf.ConnectError{Program: "ib_send_lat", Err: refused("fe80::1")}, "programs of perftest listen on IPv4 only"},
		{"unknown host", &perf.ConnectError{Program: "ib_send_lat", Err: &net.OpError{Op: "dial", Err: &net.DNSError{Name: "x"}}}, "use the IP address of the server"},
		{"other settings", &perftest.MismatchError{Program: "ib_send_bw", Err: errors.New("no progress")}, "the peer must be ib_send_bw with the same size, iterations,"},
		{"no GID index", &perftest.MismatchError{Program: "ib_send_bw", GID: true, Err: errors.New("closed")}, "the peer must be ib_send_bw with the same size, iterations, duration, directions, queue pairs and connection type, and on EFA with -x 0"},
		{"no permission", &verbs.CallError{Op: "open node /dev/infiniband/uverbs3", Device: "mlx5_3", Err: syscall.EACCES}, "run as root, or permit all users, as the udev rules of rdma-core do: chmod 0666 /dev/infiniband/uverbs3"},
		{"no node", &verbs.CallError{Op: "open node /dev/infiniband/uverbs3", Device: "mlx5_3", Err: syscall.ENOENT}, "check that udev runs"},
		{"other call", &verbs.CallError{Op: "query port 1", Device: "mlx5_3", Err: syscall.EACCES}, ""},
		{"no helper", fmt.Errorf("use memory cuda:0: %w", memory.ErrHelper), "install the package ibkit-cuda"},
		{"old kernel", registration(syscall.EPROTONOSUPPORT), "Linux 5.12 and later"},
		{"driver without dma-bufs", registration(syscall.EOPNOTSUPP), "ibkit doctor --only devices shows"},
		{"small BAR", registration(syscall.ENOMEM), "ibkit devinfo --topology as root shows a small BAR and ACS"},
		{"server without dma-bufs", &perf.PeerError{Text: registration(syscall.EOPNOTSUPP).Error()}, "on the server, ibkit doctor --only devices"},
		{"latency of writes", fmt.Errorf("%w: x", perf.ErrAddressable), "measure the latency of sends"},
		{"rc on EFA", fmt.Errorf("create RC queue pair on efa_0: %w", perf.ErrTransport), "EFA has SRD and UD only"},
		{"rc on EFA of the server", &perf.PeerError{Text: perf.ErrTransport.Error()}, "EFA has SRD and UD only"},
		{"writes on an older EFA", fmt.Errorf("post: %w", verbs.ErrOpcode), "EFA of older instance types has no writes"},
		{"security group", &verbs.CompletionError{Completion: verbs.Completion{Status: verbs.StatusRespTimeout}}, "the peer's EFA does not answer: check that the security groups"},
		{"other error", errors.New("no progress"), ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			err := With(test.err, Options{})
			if got := cmdutil.Hint(err); err.Error() != test.err.Error() || !strings.HasPrefix(got, test.want) || (got == "") != (test.want == "") {
				t.Errorf("got %q with hint %q, want %q", err, got, test.want)
			}
		})
	}
}
