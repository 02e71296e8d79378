package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// writeFiles writes the files that a container sees: its image, its names and its volumes.
func (k *kubelet) writeFiles(ctx context.Context, p *pod) error {
	p.mounts = []string{k.image, entryPoint}
	hosts := "127.0.0.1 localhost\n" + p.address + " " + p.hostName + "\n"
	message, err := filepath.Rel(p.root, p.messageFile())
	if err != nil {
		return err
	}
	for path, text := range map[string]string{"etc/hosts": hosts, "etc/resolv.conf": resolver(p.object), message: "", entryPoint: ""} {
		if err := p.write(path, []byte(text)); err != nil {
			return err
		}
	}
	for _, dir := range []string{"proc", "sys", "tmp"} {
		if err := os.MkdirAll(filepath.Join(p.root, dir), 0o777); err != nil {
			return err
		}
	}
	for _, m := range p.object.Spec.Containers[0].VolumeMounts {
		for _, v := range p.object.Spec.Volumes {
			if v.Name != m.Name {
				continue
			}
			if err := k.writeVolume(ctx, p, v.VolumeSource, m.MountPath); err != nil {
				return fmt.Errorf("volume %s: %w", v.Name, err)
			}
		}
	}
	return nil
}

// messageFile returns the file with the container's termination message.
func (p *pod) messageFile() string {
	return filepath.Join(p.root, p.object.Spec.Containers[0].TerminationMessagePath)
}

func (p *pod) write(path string, text []byte) error {
	path = filepath.Join(p.root, path)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, text, 0o644)
}

// writeVolume writes the files of a volume.
func (k *kubelet) writeVolume(ctx context.Context, p *pod, v corev1.VolumeSource, path string) error {
	if err := os.MkdirAll(filepath.Join(p.root, path), 0o777); err != nil {
		return err
	}
	switch {
	case v.EmptyDir != nil:
		return nil
	case v.HostPath != nil:
		if _, err := os.Stat(v.HostPath.Path); err == nil {
			p.mounts = append(p.mounts, v.HostPath.Path, path)
		}
		return nil
	case v.ConfigMap != nil:
		return k.writeConfigMap(p, v.ConfigMap.Name, v.ConfigMap.Items, path)
	case v.Projected != nil:
		for _, source := range v.Projected.Sources {
			if err := k.writeSource(ctx, p, source, path); err != nil {
				return err
			}
		}
		return nil
	}
	return fmt.Errorf("got an unsupported kind in %+v", v)
}

// writeSource writes the files of a service account.
func (k *kubelet) writeSource(ctx context.Context, p *pod, s corev1.VolumeProjection, path string) error {
	switch {
	case s.ServiceAccountToken != nil:
		request := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{
			ExpirationSeconds: s.ServiceAccountToken.ExpirationSeconds,
			BoundObjectRef:    &authenticationv1.BoundObjectReference{Kind: "Pod", APIVersion: "v1", Name: p.object.Name, UID: p.object.UID},
		}}
		token, err := k.client.CoreV1().ServiceAccounts(p.object.Namespace).CreateToken(ctx, p.object.Spec.ServiceAccountName, request, metav1.CreateOptions{})
		if err != nil {
			return err
		}
		return p.write(filepath.Join(path, s.ServiceAccountToken.Path), []byte(token.Status.Token))
	case s.ConfigMap != nil:
		return k.writeConfigMap(p, s.ConfigMap.Name, s.ConfigMap.Items, path)
	case s.DownwardAPI != nil:
		return p.write(filepath.Join(path, "namespace"), []byte(p.object.Namespace))
	}
	return fmt.Errorf("got an unsupported source in %+v", s)
}

func (k *kubelet) writeConfigMap(p *pod, name string, items []corev1.KeyToPath, path string) error {
	m, err := k.all.Core().V1().ConfigMaps().Lister().ConfigMaps(p.object.Namespace).Get(name)
	if err != nil {
		return err
	}
	if items == nil {
		for key := range m.Data {
			items = append(items, corev1.KeyToPath{Key: key, Path: key})
		}
	}
	for _, item := range items {
		if err := p.write(filepath.Join(path, item.Path), []byte(m.Data[item.Key])); err != nil {
			return err
		}
	}
	return nil
}
