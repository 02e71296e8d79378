package mad

// A Selector is the comparison for a rate, an MTU or a lifetime in a request
// (15.2.5.16).
type Selector uint8

// The selectors.
const (
	SelectGreater Selector = 0
	SelectLess    Selector = 1
	SelectExactly Selector = 2
	SelectBest    Selector = 3 // the largest rate or MTU, the smallest lifetime
)

var selectorNames = names{"greater than", "less than", "exactly", "best"}

// String returns the selector's meaning, for example "less than".
func (s Selector) String() string { return selectorNames.text(uint64(s)) }

var asSelector = selectorNames.style()
