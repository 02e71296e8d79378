// Package packaging has the files of packages beside the binary. Its tests, with the build
// tag packages, check the archives and packages that goreleaser builds.
package packaging
