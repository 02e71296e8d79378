package cmdutil

import (
	"fmt"
	"net"
	"strings"
)

// NotifyReady tells systemd, where it started the command and wants to know,
// that others can use it from now on (sd_notify(3)).
func NotifyReady(getenv func(string) string) error {
	name := getenv("NOTIFY_SOCKET")
	if !strings.HasPrefix(name, "/") && !strings.HasPrefix(name, "@") {
		return nil
	}
	c, err := net.Dial("unixgram", name)
	if err != nil {
		return fmt.Errorf("tell systemd: %w", err)
	}
	defer c.Close()
	if _, err := c.Write([]byte("READY=1")); err != nil {
		return fmt.Errorf("tell systemd: %w", err)
	}
	return nil
}
