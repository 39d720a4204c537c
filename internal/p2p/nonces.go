package p2p

import (
	"crypto/rand"
	"encoding/binary"
	"sync"
)

// Nonces are the nonces of version messages that a node has sent in handshakes
// under way. A node that receives a nonce of its own has connected to itself. The
// zero value is ready.
type Nonces struct {
	mu  sync.Mutex
	set map[uint64]bool
}

// add adds a nonce until the returned function is called.
func (n *Nonces) add(nonce uint64) (remove func()) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.set == nil {
		n.set = make(map[uint64]bool)
	}
	n.set[nonce] = true
	return func() { n.remove(nonce) }
}

func (n *Nonces) remove(nonce uint64) {
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.set, nonce)
}

func (n *Nonces) has(nonce uint64) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.set[nonce]
}

// newNonce returns a random number that is not 0.
func newNonce() uint64 {
	for {
		var b [8]byte
		_, _ = rand.Read(b[:])
		if nonce := binary.LittleEndian.Uint64(b[:]); nonce != 0 {
			return nonce
		}
	}
}
