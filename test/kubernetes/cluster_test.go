//go:build kubernetes

package kubernetes

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	_ "embed"
	"encoding/pem"
	"flag"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/ibkit/ibkit/cmd"
	"github.com/ibkit/ibkit/test/debian"
)

// programsVariable is the environment variable with the programs' directory. It is set in
// the namespaces of the cluster.
const programsVariable = "IBKIT_TEST_KUBERNETES"

// Nodes are host00001 to host00064: the hosts of the fabric.
const (
	nodeCount = 64
	fabric    = "fat-tree:levels=3,radix=8,pods=4"
)

//go:embed testdata/network.sh
var network string

// kubernetes is the cluster of all tests.
var kubernetes *cluster

func TestMain(m *testing.M) {
	if filepath.Base(os.Args[0]) == "ibkit" {
		os.Exit(cmd.Main())
	}
	flag.Parse()
	code, err := run(m, os.Getenv(programsVariable))
	if err != nil {
		log.Print(err)
		code = 1
	}
	os.Exit(code)
}

// run builds the programs and runs the tests in namespaces of their own, which end all
// processes.
func run(m *testing.M, programs string) (int, error) {
	if programs == "" {
		return isolate()
	}
	dir, err := os.MkdirTemp("", "kubernetes-")
	if err != nil {
		return 1, err
	}
	defer os.RemoveAll(dir)
	if kubernetes, err = startCluster(dir, programs); err != nil {
		return 1, err
	}
	return m.Run(), nil
}

func isolate() (int, error) {
	programs, err := build(context.Background())
	if err != nil {
		return 1, err
	}
	args := []string{"--net", "--mount", "--uts", "--ipc", "--pid", "--fork", "--kill-child", "--mount-proc", "sh", "-c", network, "network"}
	cmd := exec.Command("unshare", append(args, os.Args...)...)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	cmd.Env = append(os.Environ(), programsVariable+"="+programs)
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	err = cmd.Run()
	return cmd.ProcessState.ExitCode(), err
}

// build builds the programs of the cluster in the cache, and returns their directory.
func build(ctx context.Context) (string, error) {
	dir, err := debian.CacheDir("kubernetes")
	if err != nil {
		return "", err
	}
	unlock, err := debian.Lock(filepath.Join(dir, "lock"))
	if err != nil {
		return "", err
	}
	defer unlock()
	cmd := exec.CommandContext(ctx, "go", "build", "-C", "cluster", "-buildvcs=false", "-trimpath", "-ldflags=-s -w", "-o", dir, "tool", "./nodes")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	out, err := cmd.CombinedOutput()
	if err != nil {
		err = fmt.Errorf("build the cluster: %w: %s", err, out)
	}
	return dir, err
}

// A cluster is a Kubernetes cluster on this host.
type cluster struct {
	dir, programs string
	server        *process
}

// A process is a program of a cluster. Its output is in a file of its name.
type process struct {
	*exec.Cmd
	output string
}

// access is the configuration of clients, with all rights.
const access = `apiVersion: v1
kind: Config
clusters: [{name: c, cluster: {server: "https://10.96.0.1", certificate-authority: %[1]s/apiserver.crt}}]
users: [{name: u, user: {token: admin}}]
contexts: [{name: c, context: {cluster: c, user: u}}]
current-context: c
`

// startCluster starts a cluster with nodes.
func startCluster(dir, programs string) (*cluster, error) {
	c := &cluster{dir: dir, programs: programs}
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return nil, err
	}
	image, err := os.Executable()
	if err != nil {
		return nil, err
	}
	text := pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)})
	for name, text := range map[string]string{"key": string(text), "tokens": `admin,admin,admin,"system:masters"`, "config": fmt.Sprintf(access, dir)} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			return nil, err
		}
	}
	if _, err := c.start("server", "--data-dir="+dir+"/etcd", "--unsafe-no-fsync", "--log-level=warn"); err != nil {
		return nil, err
	}
	if err := c.startServer(); err != nil {
		return nil, err
	}
	for _, args := range [][]string{
		{"kube-controller-manager", "--service-account-private-key-file=" + dir + "/key", "--root-ca-file=" + dir + "/apiserver.crt", "--node-monitor-grace-period=10m", "--kube-api-qps=500", "--kube-api-burst=500", "--leader-elect=false", "--secure-port=0"},
		{"kube-scheduler", "--leader-elect=false", "--secure-port=0", "--kube-api-qps=500", "--kube-api-burst=500"},
		{"nodes", "--dir=" + dir, "--image=" + image, fmt.Sprintf("--n=%d", nodeCount)},
	} {
		if _, err := c.start(args[0], append(args[1:], "--kubeconfig="+dir+"/config")...); err != nil {
			return nil, err
		}
	}
	_, err = c.kubectl(context.Background(), "wait", "--for=create", "--timeout=5m", fmt.Sprintf("node/host%05d", nodeCount))
	if err == nil {
		_, err = c.kubectl(context.Background(), "wait", "--for=condition=Ready", "--timeout=5m", "nodes", "--all")
	}
	return c, c.explain(err)
}

// start starts a program.
func (c *cluster) start(name string, args ...string) (*process, error) {
	p := &process{exec.Command(filepath.Join(c.programs, name), args...), filepath.Join(c.dir, name+".log")}
	f, err := os.OpenFile(p.output, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	p.Dir, p.Stdout, p.Stderr = c.dir, f, f
	return p, p.Start()
}
