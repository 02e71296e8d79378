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

// A console is where programs of the same user change a fabric while it is
// served. They send lines, each a command, and get the lines that it has to
// tell, with a bar before each, and then one line more: ok, or what went wrong.
const (
	tellPrefix  = "|"
	doneLine    = "ok"
	usagePrefix = "usage: " // the command is wrong, and nothing was done
	errorPrefix = "error: " // it could not be carried out

	maxCommand = 1 << 16 // bytes
)

// ConsolePath returns where the console of a server is by default: in the
// directory that the system has for what runs for a user, else in a directory
// of the user among temporary files.
func ConsolePath(sockName string, getenv func(string) string) string {
	dir := getenv("XDG_RUNTIME_DIR")
	if dir == "" {
		dir = os.TempDir()
	}
	return filepath.Join(dir, fmt.Sprintf("ibkit-%d", os.Getuid()), "sim-"+strings.ReplaceAll(sockName, "/", "_")+".ctl")
}

// listenConsole makes the console's socket, which only this user can connect to.
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
		// Left behind by a server that was killed, unless someone answers.
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

// checkPrivate refuses a directory where others could put a socket of theirs in
// the place of ours.
func checkPrivate(dir string) error {
	var s unix.Stat_t
	if err := unix.Stat(dir, &s); err != nil {
		return fmt.Errorf("%s: %w", dir, err)
	}
	const othersWrite, sticky = 0o022, 0o1000
	if int(s.Uid) != os.Getuid() && s.Uid != 0 || s.Mode&othersWrite != 0 && s.Mode&sticky == 0 {
		return fmt.Errorf("%s: others can write to it", dir)
	}
	return nil
}

// serveConsole serves consoles until the listener is closed.
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

// isSameUser asks the kernel who has connected. The socket's permissions say the
// same, on systems that look at them.
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

// converse carries out the commands of one console.
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
		told, end := s.command(number, lines.Text())
		w := bufio.NewWriter(c)
		for line := range strings.Lines(told) {
			w.WriteString(tellPrefix + strings.TrimRight(line, "\n") + "\n")
		}
		w.WriteString(strings.ReplaceAll(end, "\n", " ") + "\n")
		if w.Flush() != nil {
			return
		}
	}
}

// command carries out a command. It returns what that tells, and the line by
// which the answer ends.
func (s *Server) command(number int, text string) (told, end string) {
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
		s.tellStats(&b)
		return b.String(), doneLine
	case "clients":
		s.tellClients(&b)
		return b.String(), doneLine
	case "help":
		b.WriteString("  clients                      show who is attached\n  stats                        show counters of packets and events\n")
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

func (s *Server) tellStats(w io.Writer) {
	c := s.Counters()
	fmt.Fprintf(w, "clients    %d\nreceived   %d\nmalformed  %d\nunanswered %d\noverflowed %d\n",
		len(s.clients), c.Received, c.Malformed, c.Unanswered, c.Overflowed)
}

func (s *Server) tellClients(w io.Writer) {
	var slots []uint32
	for slot := range s.clients {
		slots = append(slots, slot)
	}
	slices.Sort(slots)
	for _, slot := range slots {
		c := s.clients[slot]
		what := ""
		if c.isSM {
			what = " (takes what agents do not answer)"
		}
		fmt.Fprintf(w, "%d %s%s\n", slot, c.at, what)
	}
}
