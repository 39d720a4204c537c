package bitcoin

import (
	"errors"
	"fmt"

	"github.com/btcsuite/btcd/blockchain"
	"github.com/btcsuite/btcd/database"

	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/messages"
)

// Restore stores a block again that was pruned. Its undo data stays lost. The error
// is a [*messages.RejectError] for a block that was not pruned, or is another one.
func (e *Engine) Restore(raw []byte) error {
	block, err := parseBlock(raw)
	if err != nil {
		return &messages.RejectError{Reason: "bad-block", Debug: err.Error()}
	}
	b := e.tree.Lookup(block.Hash())
	if b == nil || b.Status()&chainview.Pruned == 0 {
		return &messages.RejectError{Reason: "duplicate"}
	}
	err = e.checkAlone(block)
	var rule blockchain.RuleError
	if errors.As(err, &rule) {
		return e.reject(rule, block.MsgBlock())
	}
	if err == nil {
		err = e.db.BTCD().Update(func(tx database.Tx) error { return tx.StoreBlock(block) })
	}
	if err != nil {
		return fmt.Errorf("store block %v again: %w", b.Hash, err)
	}
	e.tree.SetStatus(b, b.Status()&^chainview.Pruned)
	return nil
}
