package perftestview

import (
	"time"
)

// Margin is the margin of perftest.
const Margin = 2 * time.Second

// WriteIterations is the default number of iterations of ib_write_bw.
const WriteIterations = 5000
