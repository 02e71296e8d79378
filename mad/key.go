package mad

import (
	"fmt"
	"io"
)

// A Key protects the management of a port, a subnet manager, or congestion control: an
// M_Key, an SM_Key, a CC_Key or a vendor's key. Its text is hidden in each format, and so
// are attribute keys in all encoders in this package; [WithKeys] shows the latter.
// Convert it to uint64 to print its value.
type Key uint64

// hidden is a key's text.
const hidden = "hidden"

// String returns "hidden".
func (Key) String() string { return hidden }

// Format writes "hidden" for each verb.
func (Key) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, hidden) }

// MarshalText returns the text of key 0, which stands for each key in attribute JSON.
func (Key) MarshalText() ([]byte, error) { return appendHex(nil, 0, 64), nil }

// WithKeys returns an attribute that is encoded as a, but [Dump], [Fields], [Visit],
// [AppendJSON] and json.Marshal show its keys.
func WithKeys(a Attribute) Attribute { return withKeys{a} }

type withKeys struct{ Attribute }

// MarshalJSON writes the attribute with its keys.
func (w withKeys) MarshalJSON() ([]byte, error) { return AppendJSON(nil, w) }
