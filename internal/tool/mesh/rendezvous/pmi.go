package rendezvous

import (
	"bufio"
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"time"
)

// A pmi is a connection to a process manager with PMI-1: lines of "cmd=NAME key=value".
type pmi struct {
	conn     io.ReadWriteCloser
	in       *bufio.Reader
	space    string // of keys
	rank     int
	size     int
	deadline func(time.Time) error
}

// meetingKey is the key under which rank 0 publishes the address and the token.
const meetingKey = "ibkit-mesh"

// hydra returns the place of a process of MPICH's or Intel MPI's launcher.
func hydra(ctx context.Context, e Environment, r Request) (*Place, error) {
	p := &Place{Engine: PMI}
	local, localSize := 0, 1
	for name, value := range map[string]*int{"MPI_LOCALRANKID": &local, "MPI_LOCALNRANKS": &localSize} {
		if e.Getenv(name) == "" {
			continue
		}
		var err error
		if *value, err = number(e, name); err != nil {
			return nil, err
		}
	}
	if _, err := p.named(e, local, localSize, ":0", ""); err != nil {
		return nil, err
	}
	return p, p.exchange(ctx, e, r)
}

// exchange opens the connection to the process manager. Rank 0 publishes its address and a
// token; all others read them.
func (p *Place) exchange(ctx context.Context, e Environment, r Request) error {
	p.address = cmp.Or(r.Listen, ":0")
	c, err := openPMI(e)
	if err != nil {
		return err
	}
	stop := context.AfterFunc(ctx, func() { _ = c.deadline(time.Unix(1, 0)) })
	defer stop()
	if err := c.meet(p, e); err != nil {
		err = errors.Join(fmt.Errorf("exchange the address of the coordinator by PMI: %w", err), c.conn.Close(), p.closeListener())
		if ctx.Err() != nil {
			err = fmt.Errorf("%w: %w", err, context.Cause(ctx))
		}
		return err
	}
	p.pmi = c
	return nil
}

// openPMI opens the connection that the launcher left in PMI_FD.
func openPMI(e Environment) (*pmi, error) {
	c := &pmi{}
	var err error
	if c.rank, err = number(e, "PMI_RANK"); err != nil {
		return nil, err
	}
	if c.size, err = number(e, "PMI_SIZE"); err != nil {
		return nil, err
	}
	fd, err := number(e, "PMI_FD")
	if err != nil {
		return nil, err
	}
	file := os.NewFile(uintptr(fd), "PMI_FD")
	conn, err := net.FileConn(file)
	if err != nil {
		return nil, fmt.Errorf("open PMI_FD %d: %w", fd, err)
	}
	_ = file.Close() // conn is a copy
	c.conn, c.in, c.deadline = conn, bufio.NewReader(conn), conn.SetDeadline
	return c, nil
}

// meet runs the exchange.
func (c *pmi) meet(p *Place, e Environment) error {
	if _, err := c.call("cmd=init pmi_version=1 pmi_subversion=1", "response_to_init"); err != nil {
		return err
	}
	space, err := c.call("cmd=get_my_kvsname", "my_kvsname")
	if err != nil {
		return err
	}
	p.Rank, p.Size, c.space = c.rank, c.size, space["kvsname"]
	if c.rank == 0 {
		value, err := p.invite(e)
		if err != nil {
			return err
		}
		if _, err := c.call(fmt.Sprintf("cmd=put kvsname=%s key=%s value=%s", c.space, meetingKey, value), "put_result"); err != nil {
			return err
		}
	}
	if _, err := c.call("cmd=barrier_in", "barrier_out"); err != nil {
		return err
	}
	answer, err := c.call(fmt.Sprintf("cmd=get kvsname=%s key=%s", c.space, meetingKey), "get_result")
	if err != nil {
		return err
	}
	return p.accept(answer["value"])
}

// invite listens for the answer, at a free port unless one is given, and returns the token
// and the addresses.
func (p *Place) invite(e Environment) (string, error) {
	host, err := e.Hostname()
	if err != nil {
		return "", fmt.Errorf("read host name: %w", err)
	}
	if p.listener, err = net.Listen("tcp", p.address); err != nil {
		return "", err
	}
	hosts := []string{host}
	for _, a := range p.Coordinators { // of Slurm
		if h, _, _ := net.SplitHostPort(a); h != "localhost" && h != host {
			hosts = append(hosts, h)
		}
	}
	for i, h := range hosts {
		hosts[i] = net.JoinHostPort(h, p.port())
	}
	token := make([]byte, 16)
	_, _ = rand.Read(token) // never fails
	return hex.EncodeToString(token) + "@" + strings.Join(hosts, ","), nil
}

// port returns the port of rank 0, which listens.
func (p *Place) port() string {
	_, port, _ := net.SplitHostPort(p.listener.Addr().String()) // valid
	return port
}

// accept takes the token and the addresses from rank 0.
func (p *Place) accept(value string) error {
	token, addresses, ok := strings.Cut(value, "@")
	if !ok || token == "" || addresses == "" {
		return fmt.Errorf("got %q, want a token and an address", value)
	}
	p.Token, p.Derived, p.Coordinators = token, false, strings.Split(addresses, ",")
	if p.Rank == 0 {
		p.Coordinators = append(p.Coordinators, net.JoinHostPort("localhost", p.port()))
	}
	return nil
}

// maxLine limits a line of the process manager.
const maxLine = 64 << 10

// call sends a command and returns the fields of the answer.
func (c *pmi) call(command, want string) (map[string]string, error) {
	if _, err := io.WriteString(c.conn, command+"\n"); err != nil {
		return nil, err
	}
	text, err := c.readLine()
	if err != nil {
		return nil, err
	}
	fields := map[string]string{}
	for word := range strings.FieldsSeq(text) {
		key, value, _ := strings.Cut(word, "=")
		fields[key] = value
	}
	if fields["cmd"] != want || fields["rc"] != "" && fields["rc"] != "0" {
		return nil, fmt.Errorf("got %.200q for %q, want %s", text, command, want)
	}
	return fields, nil
}

// readLine reads a line of limited length.
func (c *pmi) readLine() (string, error) {
	var text []byte
	for {
		part, err := c.in.ReadSlice('\n')
		text = append(text, part...)
		switch {
		case len(text) > maxLine:
			return "", fmt.Errorf("got a line above %d bytes", maxLine)
		case err == nil:
			return strings.TrimRight(string(text), "\r\n"), nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return "", err
		}
	}
}

// finalizeLimit is the time for the last answer of the process manager.
const finalizeLimit = 5 * time.Second

// finalize ends the protocol: without it, the process manager takes the end of this process
// for a failure.
func (c *pmi) finalize() error {
	_ = c.deadline(time.Now().Add(finalizeLimit))
	_, err := c.call("cmd=finalize", "finalize_ack")
	return errors.Join(err, c.conn.Close())
}
