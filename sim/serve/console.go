package serve

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// The console protocol, which the same user's programs use to change a served fabric: each
// line sent is a command. The reply is the command output, with a bar before each line, and
// a last line with the result.
const (
	outputPrefix = "|"
	doneLine     = "ok"
	usagePrefix  = "usage: " // invalid command, not carried out
	errorPrefix  = "error: " // the command failed

	maxCommand = 1 << 16 // bytes
)

// ConsolePath returns the default path for a server's console: in XDG_RUNTIME_DIR, or else
// in the user's directory below the directory for temporary files.
func ConsolePath(sockName string, getenv func(string) string) string {
	dir := getenv("XDG_RUNTIME_DIR")
	if dir == "" {
		dir = os.TempDir()
	}
	return filepath.Join(dir, fmt.Sprintf("ibkit-%d", os.Getuid()), "sim-"+strings.ReplaceAll(sockName, "/", "_")+".ctl")
}

// listenConsole opens the console socket with access for this user only.
func listenConsole(path string) (*net.UnixListener, error) {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	if err := checkPrivate(dir); err != nil {
		return nil, err
	}
	address := &net.UnixAddr{Net: "unix", Name: path}
	l, err := net.ListenUnix("unix", address)
	if errors.Is(err, unix.EADDRINUSE) {
		// Remove the socket left by a killed server.
		if c, err := net.DialUnix("unix", nil, address); err == nil {
			c.Close()
			return nil, unix.EADDRINUSE
		}
		if err := os.Remove(path); err != nil {
			return nil, err
		}
		l, err = net.ListenUnix("unix", address)
	}
	if err != nil {
		return nil, withoutAddress(err)
	}
	if err := os.Chmod(path, 0o600); err != nil {
		l.Close()
		return nil, err
	}
	return l, nil
}

// checkPrivate checks that other users cannot replace the socket in a directory.
func checkPrivate(dir string) error {
	var s unix.Stat_t
	if err := unix.Stat(dir, &s); err != nil {
		return fmt.Errorf("%s: %w", dir, err)
	}
	const othersWrite, sticky = 0o022, 0o1000
	if int(s.Uid) != os.Getuid() && s.Uid != 0 || s.Mode&othersWrite != 0 && s.Mode&sticky == 0 {
		return fmt.Errorf("%s: writable by other users", dir)
	}
	return nil
}

// serveConsole accepts connections until the listener is closed.
func (s *Server) serveConsole(l *net.UnixListener) error {
	for {
		c, err := l.AcceptUnix()
		if err != nil {
			return err
		}
		s.mu.Lock()
		if s.closed || !isSameUser(c) {
			c.Close()
		} else {
			s.consoles[c] = struct{}{}
			s.running.Go(func() { s.converse(c) })
		}
		s.mu.Unlock()
	}
}

// isSameUser reports whether the peer runs as the same user or as root. Some systems do not
// check socket permissions.
func isSameUser(c *net.UnixConn) bool {
	raw, err := c.SyscallConn()
	if err != nil {
		return false
	}
	same := false
	err = raw.Control(func(fd uintptr) {
		who, err := unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED)
		same = err == nil && (int(who.Uid) == os.Getuid() || who.Uid == 0)
	})
	return err == nil && same
}

// converse handles the commands on a connection.
func (s *Server) converse(c *net.UnixConn) {
	defer func() {
		s.mu.Lock()
		delete(s.consoles, c)
		s.mu.Unlock()
		c.Close()
	}()
	lines := bufio.NewScanner(c)
	lines.Buffer(nil, maxCommand)
	for number := 1; lines.Scan(); number++ {
		output, end := s.command(number, lines.Text())
		w := bufio.NewWriter(c)
		for line := range strings.Lines(output) {
			w.WriteString(outputPrefix + strings.TrimRight(line, "\n") + "\n")
		}
		w.WriteString(strings.ReplaceAll(end, "\n", " ") + "\n")
		if w.Flush() != nil {
			return
		}
	}
}

// command carries out a command and returns its output and the line with the result.
func (s *Server) command(number int, text string) (output, end string) {
	var b strings.Builder
	s.mu.Lock()
	defer s.change()
	defer s.mu.Unlock()
	text = strings.TrimRight(text, "\r")
	word := strings.TrimSpace(text)
	if word == "" || strings.HasPrefix(word, "#") {
		return "", doneLine
	}
	switch word {
	case "stats":
		s.writeStats(&b)
		return b.String(), doneLine
	case "clients":
		s.writeClients(&b)
		return b.String(), doneLine
	case "help":
		b.WriteString("  clients                      print the attached clients\n  stats                        print counters of packets\n")
	}
	c, err := s.fabric.ParseCommand("console", number, text)
	if err != nil {
		return "", usagePrefix + err.Error()
	}
	if err := s.fabric.Do(c, &b); err != nil {
		return b.String(), errorPrefix + err.Error()
	}
	return b.String(), doneLine
}

func (s *Server) writeStats(w io.Writer) {
	c := s.Counters()
	fmt.Fprintf(w, "clients    %d\nreceived   %d\nmalformed  %d\nunanswered %d\noverflowed %d\n",
		len(s.clients), c.Received, c.Malformed, c.Unanswered, c.Overflowed)
}

func (s *Server) writeClients(w io.Writer) {
	var slots []uint32
	for slot := range s.clients {
		slots = append(slots, slot)
	}
	slices.Sort(slots)
	for _, slot := range slots {
		c := s.clients[slot]
		what := ""
		if c.isSM {
			what = " (subnet manager)"
		}
		fmt.Fprintf(w, "%d %s%s\n", slot, c.at, what)
	}
}
