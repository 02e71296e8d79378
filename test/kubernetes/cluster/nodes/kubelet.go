package main

import (
	"context"
	"fmt"
	"sync"

	"github.com/virtual-kubelet/virtual-kubelet/errdefs"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// A kubelet runs the pods of a node: it implements Virtual Kubelet's PodLifecycleHandler and
// PodNotifier.
type kubelet struct {
	*rig
	name, address string

	mu      sync.Mutex
	pods    map[string]*pod // by namespace and name
	changed func(*corev1.Pod)
}

// key returns a pod's key.
func key(namespace, name string) string { return namespace + "/" + name }

// CreatePod starts a pod.
func (k *kubelet) CreatePod(ctx context.Context, object *corev1.Pod) error {
	p, err := k.newPod(ctx, object)
	if err != nil {
		return fmt.Errorf("create pod %s: %w", object.Name, err)
	}
	k.mu.Lock()
	k.pods[key(object.Namespace, object.Name)] = p
	k.mu.Unlock()
	go p.run(k.report)
	return nil
}

// report stores a pod's new status and sends it to the API server.
func (k *kubelet) report(p *pod, change func(*corev1.PodStatus)) {
	k.mu.Lock()
	p.object = p.object.DeepCopy()
	change(&p.object.Status)
	object := p.object
	k.mu.Unlock()
	k.changed(object)
}

// UpdatePod changes nothing: a process does not see labels of its pod.
func (k *kubelet) UpdatePod(context.Context, *corev1.Pod) error { return nil }

// DeletePod ends a pod. Its status follows when its process has ended.
func (k *kubelet) DeletePod(_ context.Context, object *corev1.Pod) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	p, ok := k.pods[key(object.Namespace, object.Name)]
	if !ok || p.object.UID != object.UID {
		return errdefs.NotFoundf("pod %s", object.Name)
	}
	delete(k.pods, key(object.Namespace, object.Name))
	p.object = p.object.DeepCopy()
	for _, c := range object.Status.Conditions { // others set some, such as that of an eviction
		setCondition(&p.object.Status, c)
	}
	go p.stop(object.DeletionGracePeriodSeconds)
	return nil
}

// GetPod returns a pod.
func (k *kubelet) GetPod(_ context.Context, namespace, name string) (*corev1.Pod, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	p, ok := k.pods[key(namespace, name)]
	if !ok {
		return nil, errdefs.NotFoundf("pod %s", name)
	}
	return p.object.DeepCopy(), nil
}

// GetPodStatus returns a pod's status.
func (k *kubelet) GetPodStatus(ctx context.Context, namespace, name string) (*corev1.PodStatus, error) {
	p, err := k.GetPod(ctx, namespace, name)
	if err != nil {
		return nil, err
	}
	return &p.Status, nil
}

// GetPods returns all pods.
func (k *kubelet) GetPods(context.Context) (all []*corev1.Pod, err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, p := range k.pods {
		all = append(all, p.object.DeepCopy())
	}
	return all, nil
}

// NotifyPods sets the receiver of new statuses.
func (k *kubelet) NotifyPods(_ context.Context, changed func(*corev1.Pod)) { k.changed = changed }

// running returns the status of a pod with a running process.
func (p *pod) running(s *corev1.PodStatus) {
	now := metav1.Now()
	if s.StartTime == nil {
		s.StartTime = &now
	}
	s.Phase, s.HostIP, s.PodIP = corev1.PodRunning, p.hostAddress, p.address
	s.HostIPs, s.PodIPs = []corev1.HostIP{{IP: p.hostAddress}}, []corev1.PodIP{{IP: p.address}}
	s.ContainerStatuses = []corev1.ContainerStatus{p.container(corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: now}})}
	p.conditions(s, corev1.ConditionTrue)
}

// conditions sets the conditions of a pod that is ready, or ended.
func (p *pod) conditions(s *corev1.PodStatus, ready corev1.ConditionStatus) {
	for _, c := range []corev1.PodConditionType{corev1.PodScheduled, corev1.PodInitialized, corev1.PodReady, corev1.ContainersReady} {
		status := ready
		if c == corev1.PodScheduled || c == corev1.PodInitialized {
			status = corev1.ConditionTrue
		}
		setCondition(s, corev1.PodCondition{Type: c, Status: status, LastTransitionTime: metav1.Now()})
	}
}

func setCondition(s *corev1.PodStatus, c corev1.PodCondition) {
	for i := range s.Conditions {
		if s.Conditions[i].Type == c.Type {
			s.Conditions[i] = c
			return
		}
	}
	s.Conditions = append(s.Conditions, c)
}

// container returns the status of the pod's container.
func (p *pod) container(state corev1.ContainerState) corev1.ContainerStatus {
	c := p.object.Spec.Containers[0]
	started := state.Running != nil
	return corev1.ContainerStatus{
		Name: c.Name, Image: c.Image, ImageID: c.Image, ContainerID: "process://" + string(p.object.UID),
		State: state, Ready: started, Started: &started, RestartCount: p.restarts,
	}
}
