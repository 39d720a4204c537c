package bitcoin

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/btcsuite/btcd/btcutil"
	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/store/chaindb"
)

// reader is the readers' side of an Engine.
type reader struct {
	*chainview.Tree
	db *chaindb.DB
}

// Raw implements chainview.Reader.
func (r reader) Raw(hash *chainhash.Hash) ([]byte, error) {
	raw, err := r.db.Block(hash)
	return raw, readError(hash, err)
}

// Size implements chainview.Reader.
func (r reader) Size(hash *chainhash.Hash) (size, txs int, err error) {
	if size, err = r.db.BlockSize(hash); err != nil {
		return 0, 0, readError(hash, err)
	}
	start, err := r.db.BlockStart(hash, wire.MaxBlockHeaderPayload+wire.MaxVarIntPayload)
	if err != nil {
		return 0, 0, readError(hash, err)
	}
	n, err := wire.ReadVarInt(bytes.NewReader(start[wire.MaxBlockHeaderPayload:]), 0)
	if err != nil {
		return 0, 0, readError(hash, err)
	}
	return size, int(n), nil
}

// SpentScripts implements chainview.Reader.
func (r reader) SpentScripts(hash *chainhash.Hash) ([][]byte, error) {
	if r.isGenesis(hash) {
		return nil, nil
	}
	scripts, err := r.db.SpentScripts(hash)
	return scripts, undoError(hash, err)
}

// Spent implements chainview.Reader.
func (r reader) Spent(hash *chainhash.Hash) ([][]chainview.Coin, error) {
	if r.isGenesis(hash) {
		return nil, nil
	}
	undo, err := r.db.Undo(hash)
	if err != nil {
		return nil, undoError(hash, err)
	}
	spent := make([][]chainview.Coin, len(undo))
	for i, coins := range undo {
		spent[i] = make([]chainview.Coin, len(coins))
		for j, c := range coins {
			spent[i][j] = chainview.Coin{
				Height: c.Height, Coinbase: c.Coinbase,
				Value: btcutil.Amount(c.Amount), Script: c.Script,
			}
		}
	}
	return spent, nil
}

// isGenesis knows the one block that was never connected, so that it has no
// undo data.
func (r reader) isGenesis(hash *chainhash.Hash) bool {
	return r.Active().At(0).Hash == *hash
}

// readError turns the database's errors into those that readers know.
func readError(hash *chainhash.Hash, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, chaindb.ErrNotFound):
		return fmt.Errorf("block %v: %w", hash, chainview.ErrNotFound)
	default:
		return fmt.Errorf("block %v: %w: %w", hash, chainview.ErrUnreadable, err)
	}
}

func undoError(hash *chainhash.Hash, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%w: %w", chainview.ErrUndo, readError(hash, err))
}
