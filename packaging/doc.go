// Package packaging has the package files beside the binary. The tests, with the build tag
// packages, check the archives and packages that goreleaser builds.
package packaging
