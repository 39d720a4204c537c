package rawtx

import (
	"slices"
	"sync"

	"github.com/btcsuite/btcd/btcec/v2/schnorr/musig2"
)

// maxNonces bounds the secret nonces that are kept: beyond, the oldest goes, and its round has to begin again.
const maxNonces = 10_000

// MusigNonces are the secret nonces of a wallet, in memory alone. Each serves once. They are safe for concurrent use.
type MusigNonces struct {
	mu      sync.Mutex
	secrets map[[32]byte]*[musig2.SecNonceSize]byte
	order   [][32]byte // the oldest first
}

// put takes over a nonce, which it overwrites.
func (n *MusigNonces) put(id [32]byte, secret *[musig2.SecNonceSize]byte) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.secrets == nil {
		n.secrets = make(map[[32]byte]*[musig2.SecNonceSize]byte)
	}
	if len(n.order) >= maxNonces {
		n.drop(n.order[0])
	}
	kept := *secret
	clear(secret[:])
	n.secrets[id] = &kept
	n.order = append(n.order, id)
}

// take returns a nonce for the caller to overwrite, and forgets it.
func (n *MusigNonces) take(id [32]byte) (secret [musig2.SecNonceSize]byte, ok bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	kept := n.secrets[id]
	if kept == nil {
		return secret, false
	}
	secret = *kept
	n.drop(id)
	return secret, true
}

func (n *MusigNonces) drop(id [32]byte) {
	clear(n.secrets[id][:])
	delete(n.secrets, id)
	at := slices.Index(n.order, id)
	n.order = slices.Delete(n.order, at, at+1)
}

// Zero overwrites all nonces.
func (n *MusigNonces) Zero() {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, secret := range n.secrets {
		clear(secret[:])
	}
	clear(n.secrets)
	n.order = nil
}
