package codec

import "github.com/btcsuite/btcd/wire"

// Inventory types that btcd does not know.
const (
	// InvCmpctBlock asks for a compact block (BIP152).
	InvCmpctBlock wire.InvType = 4

	// InvWtx is a transaction named by its wtxid (BIP339).
	InvWtx wire.InvType = 5
)
