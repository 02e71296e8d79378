package main

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"log"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/kubernetes/third_party/forked/golang/expansion"
)

// script runs a command in a pod's root directory.
//
//go:embed pod.sh
var script string

// addresses counts the networks of pods.
var addresses atomic.Uint32

// entryPoint is the command of the image.
const entryPoint = "/ibkit"

// A pod is a process in namespaces of its own.
type pod struct {
	object               *corev1.Pod // guarded by the kubelet's mutex
	root                 string      // directory
	network              string
	hostName             string
	address, hostAddress string
	mounts               []string // "FROM TO" of host directories
	restarts             int32

	mu       sync.Mutex
	process  *os.Process   // nil: none runs
	done     chan struct{} // closed when the process has ended
	stopping bool
}

// newPod prepares a pod.
func (k *kubelet) newPod(ctx context.Context, object *corev1.Pod) (*pod, error) {
	if len(object.Spec.InitContainers) != 0 || len(object.Spec.Containers) != 1 {
		return nil, errors.New("got several containers, want one")
	}
	p := &pod{object: object, root: filepath.Join(k.dir, string(object.UID)), network: k.name, hostName: k.name, address: k.address, hostAddress: k.address}
	if !object.Spec.HostNetwork {
		n := addresses.Add(1)
		p.network, p.address = fmt.Sprint("pod", n), net.IPv4(10, 128, byte(n>>8), byte(n)).String()
		p.hostName = object.Name
		if object.Spec.Hostname != "" {
			p.hostName = object.Spec.Hostname
		}
		if err := addNetwork(p.network, p.address); err != nil {
			return nil, err
		}
	}
	return p, k.writeFiles(ctx, p)
}

// run runs the pod's process until it ends, again by the restart policy.
func (p *pod) run(report func(*pod, func(*corev1.PodStatus))) {
	for {
		cmd, err := p.start()
		if err == nil {
			report(p, p.running)
			err = cmd.Wait()
			close(p.done)
		}
		end := p.ended(cmd, err)
		policy := p.object.Spec.RestartPolicy
		p.mu.Lock()
		p.process = nil
		again := !p.stopping && (policy == corev1.RestartPolicyAlways || policy == corev1.RestartPolicyOnFailure && end.ExitCode != 0)
		p.mu.Unlock()
		if !again {
			p.close()
			report(p, func(s *corev1.PodStatus) { p.final(s, end) })
			return
		}
		time.Sleep(time.Second) // the back-off of the kubelet
		p.restarts++
	}
}

// close removes the pod's network, unless it is that of the node.
func (p *pod) close() {
	if p.network == p.object.Spec.NodeName {
		return
	}
	if out, err := exec.Command("ip", "netns", "del", p.network).CombinedOutput(); err != nil {
		log.Printf("remove network %s: %v: %s", p.network, err, out)
	}
}

// start starts the process of the pod's container. It ends with this program.
func (p *pod) start() (*exec.Cmd, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.stopping {
		return nil, errors.New("deleted")
	}
	logs, err := os.OpenFile(logFile(filepath.Dir(p.root), p.object.Namespace, p.object.Name), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	defer logs.Close()
	args := append([]string{"netns", "exec", p.network, "sh", "-c", script, "pod", p.root, p.hostName, fmt.Sprint(len(p.mounts))}, p.mounts...)
	cmd := exec.Command("ip", append(args, p.command()...)...)
	cmd.Stdout, cmd.Stderr = logs, logs
	cmd.Env = p.environment()
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWUTS | syscall.CLONE_NEWPID | syscall.CLONE_NEWNS | syscall.CLONE_NEWIPC}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	p.process, p.done = cmd.Process, make(chan struct{})
	return cmd, nil
}

// command returns the container's command, with the values of variables.
func (p *pod) command() []string {
	c := p.object.Spec.Containers[0]
	values := map[string]string{}
	for _, v := range c.Env {
		values[v.Name] = v.Value
	}
	command := slices.Concat(c.Command, c.Args)
	if len(c.Command) == 0 {
		command = append([]string{entryPoint}, c.Args...)
	}
	for i := range command {
		command[i] = fmt.Sprint(expansion.Expand(command[i], expansion.MappingFuncFor(values)))
	}
	return command
}

func (p *pod) environment() []string {
	all := []string{"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOSTNAME=" + p.hostName}
	for _, v := range p.object.Spec.Containers[0].Env {
		all = append(all, v.Name+"="+v.Value)
	}
	return all
}

// stop ends the pod's process: first by request, then by force.
func (p *pod) stop(seconds *int64) {
	p.mu.Lock()
	p.stopping = true
	process, done := p.process, p.done
	p.mu.Unlock()
	if process == nil {
		return
	}
	_ = process.Signal(syscall.SIGTERM)
	if seconds != nil {
		select {
		case <-done:
		case <-time.After(time.Duration(*seconds) * time.Second):
		}
	}
	_ = process.Kill()
}

// ended returns the state of a process that ended or did not start.
func (p *pod) ended(cmd *exec.Cmd, err error) *corev1.ContainerStateTerminated {
	s := &corev1.ContainerStateTerminated{Reason: "Completed", FinishedAt: metav1.Now(), ContainerID: "process://" + string(p.object.UID)}
	if message, err := os.ReadFile(p.messageFile()); err == nil {
		s.Message = string(message[:min(len(message), 4096)])
	}
	policy := p.object.Spec.Containers[0].TerminationMessagePolicy
	if err != nil && s.Message == "" && policy == corev1.TerminationMessageFallbackToLogsOnError {
		logs, _ := os.ReadFile(logFile(filepath.Dir(p.root), p.object.Namespace, p.object.Name)) // it may not exist
		s.Message = string(logs[max(0, len(logs)-2048):])
	}
	switch {
	case cmd == nil:
		s.Reason, s.ExitCode, s.Message = "StartError", 128, err.Error()
	case err != nil:
		s.Reason, s.ExitCode = "Error", int32(cmd.ProcessState.ExitCode())
		if status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); ok && status.Signaled() {
			s.ExitCode, s.Signal = 128+int32(status.Signal()), int32(status.Signal())
		}
	}
	return s
}

// final sets the status of a pod that does not start again.
func (p *pod) final(s *corev1.PodStatus, end *corev1.ContainerStateTerminated) {
	s.Phase = corev1.PodSucceeded
	if end.ExitCode != 0 {
		s.Phase = corev1.PodFailed
	}
	s.ContainerStatuses = []corev1.ContainerStatus{p.container(corev1.ContainerState{Terminated: end})}
	p.conditions(s, corev1.ConditionFalse)
}
