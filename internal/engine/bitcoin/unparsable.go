package bitcoin

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/btcsuite/btcd/btcutil"
	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/database"
	"github.com/btcsuite/btcd/txscript"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/store/blockfile"
)

// btcd leaves outputs whose scripts do not parse out of its set, as nobody can
// ever spend them; Core has them in its own, and counts and shows them. They are
// kept in a bucket of their own, for blocks of every branch: the key is the id of
// the transaction, the index (4 bytes, big-endian) and the hash of the block; the
// value a coinbase flag (1 byte), the amount (8, little-endian) and the script.
const unparsableName = "unparsable"

const (
	unparsableKeySize = chainhash.HashSize + 4 + chainhash.HashSize
	unparsableMinSize = 1 + 8
)

var errUnparsableRow = errors.New("malformed row of the outputs that do not parse")

// onlyCoreKeeps reports whether an output is in Core's set and not in btcd's.
func onlyCoreKeeps(script []byte) bool {
	if len(script) > txscript.MaxScriptSize || len(script) > 0 && script[0] == txscript.OP_RETURN {
		return false
	}
	return txscript.IsUnspendable(script)
}

// keepUnparsable notes the outputs of a block that btcd has stored.
func (e *Engine) keepUnparsable(block *btcutil.Block) error {
	type row struct{ key, value []byte }
	var rows []row
	for i, tx := range block.Transactions() {
		for n, out := range tx.MsgTx().TxOut {
			if !onlyCoreKeeps(out.PkScript) {
				continue
			}
			key := binary.BigEndian.AppendUint32(bytes.Clone(tx.Hash()[:]), uint32(n))
			value := []byte{0}
			if i == 0 {
				value[0] = 1
			}
			value = binary.LittleEndian.AppendUint64(value, uint64(out.Value))
			rows = append(rows, row{append(key, block.Hash()[:]...), append(value, out.PkScript...)})
		}
	}
	if len(rows) == 0 {
		return nil
	}
	return e.group.Update(func(tx database.Tx) error {
		bucket, err := tx.Metadata().CreateBucketIfNotExists([]byte(unparsableName))
		for _, r := range rows {
			if err == nil {
				err = bucket.Put(r.key, r.value)
			}
		}
		return err
	})
}

// parseUnparsable reads a row. at returns the block of a hash on the chain that is
// asked about, nil when it is not there: then ok is false.
func parseUnparsable(key, value []byte, at func(*chainhash.Hash) *chainview.Block) (c messages.SetCoin, script []byte, ok bool, err error) {
	if len(key) != unparsableKeySize || len(value) < unparsableMinSize {
		return c, nil, false, errUnparsableRow
	}
	hash := chainhash.Hash(key[chainhash.HashSize+4:])
	block := at(&hash)
	if block == nil {
		return c, nil, false, nil
	}
	amount := binary.LittleEndian.Uint64(value[1:])
	if amount > math.MaxInt64 {
		return c, nil, false, errUnparsableRow
	}
	out := wire.OutPoint{Hash: chainhash.Hash(key), Index: binary.BigEndian.Uint32(key[chainhash.HashSize:])}
	c = messages.SetCoin{Out: out, Height: block.Height, Coinbase: value[0] != 0, Amount: int64(amount)}
	return c, value[unparsableMinSize:], true, nil
}

// unparsable returns the outputs that btcd leaves out, ascending by id.
func (s *coinSet) unparsable(ctx context.Context, first, last byte) ([]messages.SetCoin, error) {
	var coins []messages.SetCoin
	at := func(hash *chainhash.Hash) *chainview.Block { return ancestor(s.tip, s.tree.Lookup(hash)) }
	err := s.Beside(ctx, unparsableName, first, last, func(key, value []byte) error {
		c, script, ok, err := parseUnparsable(key, value, at)
		if err == nil && ok {
			forms := blockfile.PackScript(script)
			c.Packed = forms[len(forms)-1]
			coins = append(coins, c)
		}
		return err
	})
	return coins, err
}

// ancestor returns b if the chain that ends in tip has it.
func ancestor(tip, b *chainview.Block) *chainview.Block {
	if b == nil || tip.Ancestor(b.Height) != b {
		return nil
	}
	return b
}

// unparsableCoin is Coin for what is not in btcd's set.
func (e *Engine) unparsableCoin(out wire.OutPoint) (coin messages.Coin, err error) {
	tip := e.tree.Active().Tip()
	at := func(hash *chainhash.Hash) *chainview.Block { return ancestor(tip, e.tree.Lookup(hash)) }
	prefix := binary.BigEndian.AppendUint32(bytes.Clone(out.Hash[:]), out.Index)
	coin, found := messages.Coin{}, false
	err = e.db.BTCD().View(func(tx database.Tx) error {
		bucket := tx.Metadata().Bucket([]byte(unparsableName))
		if bucket == nil {
			return nil
		}
		cursor := bucket.Cursor()
		for more := cursor.Seek(prefix); more && bytes.HasPrefix(cursor.Key(), prefix); more = cursor.Next() {
			c, script, ok, err := parseUnparsable(cursor.Key(), cursor.Value(), at)
			if err != nil {
				return err
			}
			if ok {
				found = true
				coin = messages.Coin{Output: wire.NewTxOut(c.Amount, bytes.Clone(script)), Height: c.Height, Coinbase: c.Coinbase}
			}
		}
		return nil
	})
	switch {
	case err != nil:
		return messages.Coin{}, fmt.Errorf("unspent output %v: %w", out, err)
	case !found:
		return messages.Coin{}, messages.ErrNoCoin
	}
	return coin, nil
}
