package cmd

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"os"
	"os/signal"
	"strconv"
	"syscall"
	"time"

	"github.com/ibkit/ibkit/ping"
	"github.com/ibkit/ibkit/umad"
)

const ibpingUsage = `
Usage: ibping [options] <dest lid|guid>

Options:
  --count, -c <num>       stop after count packets
  --flood, -f             flood destination
  --oui, -o <val>         use specified OUI number
  --Server, -S            start in server mode
  --config, -z <config>   use config file, default: /etc/infiniband-diags/ibdiag.conf
  --Ca, -C <ca>           Ca name to use
  --Port, -P <port>       Ca port number to use
  --Lid, -L               use LID address argument
  --Guid, -G              use GUID address argument
  --timeout, -t <ms>      timeout in ms
  --sm_port, -s <lid>     SM port lid
  --errors, -e            show send and receive errors
  --verbose, -v           increase verbosity level
  --debug, -d             raise debug level
  --help, -h              help message
  --version, -V           show version

`

// classicPing is ibping of infiniband-diags.
type classicPing struct {
	diagFlags
	count  uint32
	flood  bool
	oui    uint32
	server bool

	to   umad.Target
	host string // that answered first
}

func ibping(ctx context.Context, env *environment, args []string) error {
	p := &classicPing{count: math.MaxUint32, oui: ping.OUI}
	operands, err := p.parse(env, "ibping", ibpingUsage, "DKy", []getoptFlag{
		{"count", 'c', true}, {"flood", 'f', false}, {"oui", 'o', true}, {"Server", 'S', false},
	}, args, func(short byte, value string) error {
		switch short {
		case 'c':
			p.count = uint32(strtol(value))
		case 'f':
			p.flood = true
		case 'o':
			p.oui = uint32(strtol(value)) & (1<<24 - 1)
		case 'S':
			p.server = true
		}
		return nil
	})
	if err != nil {
		return err
	}
	if len(operands) == 0 && !p.server {
		fmt.Fprint(env.err, ibpingUsage)
		return &outcome{code: exitUsage}
	}
	run := p.ping
	if p.server {
		run = func(ctx context.Context, _ string) error { return p.serve(ctx) }
		operands = []string{""}
	}
	if err := p.resolve(ctx, env, classic); err != nil {
		return &outcome{code: classicFailure, err: err}
	}
	err = run(ctx, operands[0])
	var ended *outcome
	if err != nil && !errors.As(err, &ended) {
		err = &outcome{code: classicFailure, err: err}
	}
	return err
}

// classicAttempts is how often libibmad sends what gets no answer.
const classicAttempts = 3

// ping pings a port until the count is reached or a signal comes, and prints
// what the C tool prints then. Lost pings are no failure.
func (p *classicPing) ping(ctx context.Context, operand string) error {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	smLID, err := p.lidOfSM()
	if err != nil {
		return err
	}
	port, err := p.openPort(ctx)
	if err != nil {
		return err
	}
	defer port.Close()
	c := umad.NewClient(port, p.client(p.env))
	if p.to, err = p.destination(ctx, c, operand, smLID); err != nil {
		return err
	}
	requests := p.client(p.env)
	o := ping.Options{
		OUI: p.oui, Count: int(p.count), Interval: time.Second,
		Timeout: requests.Timeout, Attempts: classicAttempts, Trace: requests.Trace, Done: p.show,
	}
	if p.flood {
		o.Interval = 0
	}
	r, err := ping.Run(ctx, port, []*ping.Target{{To: p.to}}, o)
	p.report(r)
	return err
}

// show prints one ping.
func (p *classicPing) show(probe *ping.Probe) {
	switch probe.Outcome {
	case ping.Late, ping.Duplicated:
		return // the C tool does not see them
	case ping.Received:
	default:
		fmt.Fprintf(p.env.err, "ibping: %s\n", probe.Reason())
		return
	}
	host := printable(probe.Host)
	if p.host == "" {
		p.host = host
	}
	if !p.flood {
		fmt.Fprintf(p.env.out, "Pong from %s (%v): time %s ms\n", host, p.to, milliseconds(probe.RTT))
	}
}

// report prints the summary.
func (p *classicPing) report(r *ping.Result) {
	s := &r.Total
	lost := s.Bad()
	percent := 0
	if lost > 0 {
		percent = lost * 100 / s.Sent
	}
	fmt.Fprintf(p.env.out, "\n--- %s (%v) ibping statistics ---\n", p.host, p.to)
	fmt.Fprintf(p.env.out, "%d packets transmitted, %d received, %d%% packet loss, time %d ms\n",
		s.Sent, s.Received, percent, r.Took.Milliseconds())
	fmt.Fprintf(p.env.out, "rtt min/avg/max = %s/%s/%s ms\n", milliseconds(s.Min), milliseconds(s.Avg()), milliseconds(s.Max))
}

// milliseconds writes a time as ibping does, with three decimals.
func milliseconds(d time.Duration) string {
	return strconv.FormatFloat(float64(d.Microseconds())/1000, 'f', 3, 64)
}

// serve answers pings until a signal comes. The C tool is ended by it and by
// nothing else; here a simulator that the port is at is told first.
func (p *classicPing) serve(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	defer signal.Stop(signals)
	defer context.AfterFunc(ctx, func() { signal.Stop(signals) })() // a second one ends what does not look at the first
	go func() { cancel(signalled{<-signals}) }()

	o := ping.ServeOptions{OUI: p.oui}
	if p.debug > 0 {
		o.Log = slog.New(slog.NewTextHandler(p.env.err, &slog.HandlerOptions{Level: slog.LevelDebug}))
	}
	open := p.open(p.env)
	if p.sim == ibsimServer {
		open = openResponder(p.env)
	}
	_, err := ping.NewServer(o).ServeAll(ctx, ping.Places{
		Find: func() ([]ping.Place, error) { return []ping.Place{{Open: open}}, nil },
		Tell: func(_ string, _ umad.PortAttr, err error) {
			// Scripts wait for this line.
			if err == nil && p.debug > 0 {
				fmt.Fprintf(p.env.out, "ibdebug: [%d] ibping_serv: starting to serve...\n", os.Getpid())
			}
		},
	})
	var by signalled
	if errors.As(context.Cause(ctx), &by) {
		return &outcome{code: signalCode + int(by.Signal.(syscall.Signal)), err: err}
	}
	return err
}

// signalCode and a signal's number are what shells show for the end by one.
const signalCode = 128

// signalled is a signal as the cause of an end.
type signalled struct{ os.Signal }

func (s signalled) Error() string { return s.String() }
