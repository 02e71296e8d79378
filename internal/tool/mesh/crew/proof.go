package crew

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
)

// nonceSize is the size of a nonce in bytes.
const nonceSize = 32

// NewToken returns a random token.
func NewToken() string { return hex.EncodeToString(random(16)) }

func random(n int) []byte {
	b := make([]byte, n)
	_, _ = rand.Read(b) // never fails
	return b
}

// Roles of a proof: the proof of a side is no proof of the other.
const (
	workerRole      = "ibkit mesh worker"
	coordinatorRole = "ibkit mesh coordinator"
)

// prove returns the proof that a side knows the token: a MAC of both nonces and the name
// under which the worker joins.
func prove(token, role string, coordinator, worker []byte, name string) []byte {
	mac := hmac.New(sha256.New, []byte(token))
	for _, part := range [][]byte{[]byte(role), coordinator, worker, []byte(name)} {
		mac.Write(binary.BigEndian.AppendUint32(nil, uint32(len(part))))
		mac.Write(part)
	}
	return mac.Sum(nil)
}

// proven compares a proof in constant time.
func proven(proof []byte, token, role string, coordinator, worker []byte, name string) bool {
	return hmac.Equal(proof, prove(token, role, coordinator, worker, name))
}
