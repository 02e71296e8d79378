//go:build kubernetes

package kubernetes

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ibkit/ibkit/internal/testenv"
)

// startServer starts the API server. It authorizes by roles.
func (c *cluster) startServer() (err error) {
	c.server, err = c.start("kube-apiserver", "--etcd-servers=http://127.0.0.1:2379", "--secure-port=443", "--advertise-address=10.96.0.1", "--service-cluster-ip-range=10.96.0.0/16",
		"--cert-dir="+c.dir, "--token-auth-file="+c.dir+"/tokens", "--authorization-mode=RBAC", "--allow-privileged",
		"--service-account-issuer=https://kubernetes.default.svc", "--service-account-signing-key-file="+c.dir+"/key", "--service-account-key-file="+c.dir+"/key",
		"--kubelet-preferred-address-types=ExternalIP")
	if err != nil {
		return err
	}
	ready := testenv.Becomes(func() bool {
		_, err = c.kubectl(context.Background(), "get", "--raw=/readyz")
		return err == nil
	})
	if !ready {
		return c.explain(err)
	}
	return nil
}

// stopServer ends the API server.
func (c *cluster) stopServer(t *testing.T) {
	t.Helper()
	if err := c.server.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = c.server.Wait() // killed
}

// explain returns an error with the last lines of all programs.
func (c *cluster) explain(err error) error {
	if err == nil {
		return nil
	}
	logs, _ := filepath.Glob(filepath.Join(c.dir, "*.log")) // the pattern is valid
	for _, path := range logs {
		text, readErr := os.ReadFile(path)
		err = errors.Join(err, readErr, fmt.Errorf("%s: %s", filepath.Base(path), text[max(0, len(text)-3000):]))
	}
	return err
}

// kubectl runs a command of kubectl and returns its output.
func (c *cluster) kubectl(ctx context.Context, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, filepath.Join(c.programs, "kubectl"), args...)
	cmd.Env = append(os.Environ(), "KUBECONFIG="+c.dir+"/config", "HOME="+c.dir)
	var errOut strings.Builder
	cmd.Stderr = &errOut
	out, err := cmd.Output()
	if err != nil {
		err = fmt.Errorf("kubectl %s: %w: %s", strings.Join(args, " "), err, errOut.String())
	}
	return string(out), err
}

// must returns the output of a command of kubectl.
func (c *cluster) must(t *testing.T, args ...string) string {
	t.Helper()
	out, err := c.kubectl(t.Context(), args...)
	if err != nil {
		t.Fatal(c.explain(err))
	}
	return out
}
