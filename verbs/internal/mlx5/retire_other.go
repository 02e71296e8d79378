//go:build race || !amd64

package mlx5

import (
	"sync/atomic"

	"github.com/ibkit/ibkit/verbs/internal/mmio"
	"github.com/ibkit/ibkit/verbs/provider"
)

// retire frees the send work requests before a count and publishes a word in the
// doorbell record, after all earlier stores.
func retire(tail *atomic.Uint32, count uint32, record *uint32, word uint32) {
	tail.Store(count)
	mmio.StoreBarrier()
	provider.Store32(record, word)
}
