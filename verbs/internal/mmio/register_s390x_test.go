package mmio

func init() { PlainRegisters = true }
