package nodemsg

import (
	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/messages"
)

// StaleBlock tells of a block that nobody asked for, that has less work than the tip, and that is not kept.
type StaleBlock struct {
	Hash   chainhash.Hash
	Height int32
}

// GetStaleStats asks how many blocks became stale. The rate is that of the last Window events, which
// are connected and stale blocks; 0: of as many as raise the alarm.
type GetStaleStats struct {
	messages.Control[messages.StaleStats]

	Window int
}
