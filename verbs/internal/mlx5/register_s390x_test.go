package mlx5

func init() { plainRegisters = true }
