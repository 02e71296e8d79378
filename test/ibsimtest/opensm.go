package ibsimtest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// subnetUp is opensm's log message after all LIDs and routes are set.
const subnetUp = "SUBNET UP"

// ConfigureSubnet runs opensm once: it assigns LIDs, sets the switch forwarding tables,
// makes all ports active, and ends.
func (s *Sim) ConfigureSubnet(ctx context.Context, host string) error {
	_, err := s.SubnetLog(ctx, host)
	return err
}

// SubnetLog is [Sim.ConfigureSubnet] with more opensm options. It returns the opensm log.
func (s *Sim) SubnetLog(ctx context.Context, host string, options ...string) (string, error) {
	dir, err := os.MkdirTemp(s.dir, "opensm-")
	if err != nil {
		return "", fmt.Errorf("configure subnet: %w", err)
	}
	log := filepath.Join(dir, "log")
	r, err := s.runSM(ctx, host, dir, append([]string{"-o", "-f", log}, options...)...)
	if err != nil {
		return "", fmt.Errorf("configure subnet: %w", err)
	}
	text, err := os.ReadFile(log)
	if err != nil {
		return "", fmt.Errorf("configure subnet: %w", err)
	}
	if r.Code != 0 || !strings.Contains(string(text), subnetUp) {
		return "", fmt.Errorf("configure subnet: opensm ended with %d and log:\n%s", r.Code, text)
	}
	return string(text), nil
}

func (s *Sim) runSM(ctx context.Context, host, dir string, args ...string) (Result, error) {
	path, err := findTool("opensm")
	if err != nil {
		return Result{}, err
	}
	return s.exec(ctx, append(smEnv(dir), append(hostEnv(host), "LD_PRELOAD="+s.lib)...), "/", path, args)
}

// smEnv makes opensm write to dir only.
func smEnv(dir string) []string {
	return []string{"OSM_CACHE_DIR=" + dir, "OSM_TMP_DIR=" + dir}
}

// An SM is an opensm that keeps running: it follows changes as subnet manager and
// answers queries as subnet administration.
type SM struct{ *Daemon }

// StartSM runs opensm, with lines for an options file if there are any, and returns when
// the subnet is up.
func (s *Sim) StartSM(host string, options ...string) (*SM, error) {
	return s.startSM(host, subnetUp, options)
}

// StartStandby is [Sim.StartSM] for a manager with lower priority than the running
// manager. It returns when the manager is a standby.
func (s *Sim) StartStandby(host string, options ...string) (*SM, error) {
	return s.startSM(host, "Entering STANDBY state", options)
}

// startSM runs opensm, and returns when its log contains a text.
func (s *Sim) startSM(host, ready string, options []string) (*SM, error) {
	path, err := findTool("opensm")
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp(s.dir, "opensm-")
	if err != nil {
		return nil, fmt.Errorf("start opensm: %w", err)
	}
	// "-f -" logs to stdout, "-d 2" line by line.
	args := []string{"-d", "2", "-f", "-"}
	if len(options) > 0 {
		file := filepath.Join(dir, "options")
		if err := os.WriteFile(file, []byte(strings.Join(options, "\n")+"\n"), 0o644); err != nil {
			return nil, fmt.Errorf("start opensm: %w", err)
		}
		args = append(args, "-F", file)
	}
	d, err := s.start(host, ready, append(smEnv(dir), "LD_PRELOAD="+s.lib), path, args)
	if err != nil {
		return nil, err
	}
	return &SM{d}, nil
}

// Stop terminates opensm, which releases its slot at the server, even after a SIGSTOP.
func (sm *SM) Stop() error {
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGCONT} {
		if err := sm.Signal(sig); err != nil && !errors.Is(err, os.ErrProcessDone) {
			return fmt.Errorf("stop opensm: %w", err)
		}
	}
	return sm.wait()
}
