package bnxt

import "github.com/ibkit/ibkit/verbs/internal/mmio"

func init() { mmio.PlainRegisters = true }
