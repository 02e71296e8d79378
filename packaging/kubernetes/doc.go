// Package kubernetes has the manifests of ibkit, and their tests.
package kubernetes
