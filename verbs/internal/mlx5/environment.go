package mlx5

import (
	"fmt"
	"strconv"

	"golang.org/x/sys/unix"
)

// An environment is the settings that users of libmlx5 make with environment variables
// (rdma-core, providers/mlx5/mlx5.c and README). The page docs/perf.md lists those that
// have no effect here.
type environment struct {
	// cqeSize is the completion queue entry size (MLX5_CQE_SIZE).
	cqeSize int

	// noBlueFlame turns off work request copies to the register
	// (MLX5_SHUT_UP_BF).
	noBlueFlame bool

	// onlyInline limits these copies to work requests with inline data
	// (MLX5_POST_SEND_PREFER_BF=0).
	onlyInline bool
}

// readEnvironment parses the variables that getenv returns, "" for variables that are not set.
func readEnvironment(getenv func(string) string) (environment, error) {
	e := environment{cqeSize: cqeSize}
	if v := getenv("MLX5_CQE_SIZE"); v != "" {
		n, err := strconv.Atoi(v)
		if err != nil || n != cqeSize && n != 2*cqeSize {
			return e, fmt.Errorf("MLX5_CQE_SIZE %q: want 64 or 128: %w", v, unix.EINVAL)
		}
		e.cqeSize = n
	}
	v := getenv("MLX5_SHUT_UP_BF")
	e.noBlueFlame = v != "" && v != "0"
	e.onlyInline = getenv("MLX5_POST_SEND_PREFER_BF") == "0"
	return e, nil
}
