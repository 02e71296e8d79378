// Command ibkit is a diagnostics toolkit for InfiniBand and RoCE.
package main

import (
	"os"

	"github.com/ibkit/ibkit/cmd"
)

func main() { os.Exit(cmd.Main()) }
