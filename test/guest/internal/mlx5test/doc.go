// Package mlx5test checks the module test/kmod/mlx5test in a guest.
package mlx5test
