package messages

import (
	"context"
	"fmt"

	"github.com/btcsuite/btcd/btcutil"
	"github.com/btcsuite/btcd/chaincfg/chainhash"
)

var (
	// ErrNoScriptIndex reports that the node keeps no index of scripts.
	ErrNoScriptIndex = refusal("the node keeps no index of scripts (-scriptindex)")

	// ErrScriptUnspendable reports a script that is not in the index, as nothing that is paid to it can be spent.
	ErrScriptUnspendable = refusal("scripts that begin with OP_RETURN are not indexed")

	// ErrPageLimit reports a limit that is not above 0.
	ErrPageLimit = refusal("limit must be above 0")
)

// A HistoryTooLargeError reports a script that is in more blocks than are read for an answer.
type HistoryTooLargeError struct{ Blocks, Most int }

// Error implements error.
func (e *HistoryTooLargeError) Error() string {
	return fmt.Sprintf("history too large: %d blocks, at most %d are read", e.Blocks, e.Most)
}

// AboutRequest implements [Refusal].
func (*HistoryTooLargeError) AboutRequest() {}

// A ScriptIndexBehindError reports that the index of scripts has yet to read blocks of the chain. Its height is -1
// before the first.
type ScriptIndexBehindError struct{ Height, Tip int32 }

// Error implements error.
func (e *ScriptIndexBehindError) Error() string {
	return fmt.Sprintf("the index of scripts is at height %d of %d", e.Height, e.Tip)
}

// AboutRequest implements [Refusal].
func (*ScriptIndexBehindError) AboutRequest() {}

// Scripts answers what has happened to output scripts. It is safe for concurrent use.
type Scripts interface {
	// History returns a part of the history of a script.
	//
	// Errors: [ErrBadCursor], also where the cursor's block has left the chain, [ErrPageLimit],
	// [ErrScriptUnspendable], [*HistoryTooLargeError], [*ScriptIndexBehindError], [ErrTipMoved] where blocks leave the
	// chain again and again, that of ctx, those of reading blocks.
	History(ctx context.Context, q GetScriptHistory) (ScriptPage, error)

	// Balance returns what the whole history of a script adds up to. Errors: as of History.
	Balance(ctx context.Context, script []byte) (ScriptBalance, error)
}

// GetScriptHistory says of which script which payments and spends are wanted, in the order of the chain. Unconfirmed
// transactions and the output of the genesis block are left out.
type GetScriptHistory struct {
	Script []byte
	Cursor string // as an earlier page had it; empty: from the first on
	Limit  int    // of entries, at least 1
}

// A ScriptPage is a part of the history of a script. It holds for the chain up to a block. Where More is false it
// has all that lie behind the cursor.
type ScriptPage struct {
	Entries []SearchEntry // of the types SearchReceive and SearchSpend; Object is empty, Index -1
	Cursor  string        // behind the last of them
	More    bool
	Height  int32
	Block   chainhash.Hash
}

// A ScriptBalance is what the history of a script adds up to, as of a block.
type ScriptBalance struct {
	Balance         btcutil.Amount
	Received, Spent btcutil.Amount
	Outputs, Spends int // how many outputs paid to the script, and how many of them were spent
	Height          int32
	Block           chainhash.Hash
}
