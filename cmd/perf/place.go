package perf

import (
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/perf"
)

// checkPlace looks at the flags that say where this side is.
func (f *testFlags) checkPlace(flags *pflag.FlagSet) error {
	switch {
	case flags.Changed("device") && f.device == "":
		return cmdutil.UsageErrorf("invalid --device: the name is empty")
	case flags.Changed("ib-port") && f.port == 0:
		return cmdutil.UsageErrorf("invalid --ib-port 0: ports count from 1")
	case flags.Changed("gid-index") && (f.gidIndex < 0 || f.gidIndex > 255):
		return cmdutil.UsageErrorf("invalid --gid-index %d: it is from 0 to 255", f.gidIndex)
	}
	return nil
}

// parseServer reads a host, with a TCP port behind it or without.
func parseServer(text string) (string, error) {
	if text == "" {
		return "", errPerfServer
	}
	if host, ok := strings.CutPrefix(text, "["); ok && strings.HasSuffix(host, "]") {
		return strings.TrimSuffix(host, "]"), nil // [fe80::1%eth0]
	}
	host, port, err := net.SplitHostPort(text)
	if err != nil {
		return text, nil // without a port, which is seen when it is looked up
	}
	if host == "" || !isTCPPort(port) || port == "0" {
		return "", fmt.Errorf("invalid server %q: a host, or a host and a TCP port such as host1:18516", text)
	}
	return text, nil
}

// checkListen looks at where a server is to listen.
func checkListen(text string) error {
	if _, port, err := net.SplitHostPort(text); err != nil || !isTCPPort(port) {
		return cmdutil.UsageErrorf("invalid --listen %q: an address and a TCP port, such as 10.0.0.1:18516 or :18516", text)
	}
	return nil
}

func isTCPPort(text string) bool {
	_, err := strconv.ParseUint(text, 10, 16)
	return err == nil
}

// parseCPUs reads where loops are to run.
func parseCPUs(text string) (perf.CPUs, error) {
	switch text {
	case "auto":
		return perf.CPUs{}, nil
	case "off":
		return perf.CPUs{Off: true}, nil
	}
	cpus, err := perf.ParseCPUs(text)
	if err != nil || len(cpus) == 0 {
		return perf.CPUs{}, fmt.Errorf("invalid --cpu %q: neither auto nor off nor a list such as 2,4-5", text)
	}
	allowed := perf.AllowedCPUs()
	for _, cpu := range cpus {
		if !slices.Contains(allowed, cpu) {
			return perf.CPUs{}, fmt.Errorf("invalid --cpu %s: %d is no CPU that this process may use", text, cpu)
		}
	}
	return perf.CPUs{List: cpus}, nil
}
