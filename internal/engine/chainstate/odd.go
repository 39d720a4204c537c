package chainstate

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"math"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/database"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/consensus"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/store/blockfile"
	"github.com/seed61375155/trawl/store/chaindb"
)

// Outputs whose scripts do not parse are in Core's set although nobody can ever
// spend them. Here they have a bucket of their own, as they had beside btcd's set,
// for blocks of every branch. The key is the id of the transaction, the index (4
// bytes, big-endian) and the hash of the block. The value is a coinbase flag (1
// byte), the amount (8 bytes, little-endian) and the script.
const unparsableName = "unparsable"

const (
	unparsableKeySize = chainhash.HashSize + 4 + chainhash.HashSize
	unparsableMinSize = 1 + 8
)

var errUnparsableRow = errors.New("malformed row of the outputs that do not parse")

// An oddOutput is such an output.
type oddOutput struct {
	of       *chainview.Block // that created it
	coinbase bool
	value    int64
	script   []byte
}

// oddOutputs are those of the kinds of chain that keep them apart.
type oddOutputs struct {
	kept bool // they are
	db   *chaindb.DB
	tree *chainview.Tree

	fresh map[wire.OutPoint][]oddOutput // of blocks that were connected since the last commit
	any   bool                          // some may be stored
}

func (o *oddOutputs) add(out wire.OutPoint, odd oddOutput) {
	if o.fresh == nil {
		o.fresh = map[wire.OutPoint][]oddOutput{}
	}
	odd.script = bytes.Clone(odd.script)
	o.fresh[out] = append(o.fresh[out], odd)
}

// is reports whether an output with a script is kept apart.
func (o *oddOutputs) is(script []byte) bool { return o.kept && !consensus.Parses(script) }

// put adds the rows of outputs that are not stored.
func (o *oddOutputs) put(p *pending) {
	for out, list := range o.fresh {
		for _, one := range list {
			if one.of.Hash == (chainhash.Hash{}) {
				continue // of a block that was only tried
			}
			key := binary.BigEndian.AppendUint32(bytes.Clone(out.Hash[:]), out.Index)
			value := []byte{0}
			if one.coinbase {
				value[0] = 1
			}
			value = binary.LittleEndian.AppendUint64(value, uint64(one.value))
			p.put(chaindb.Row{
				Bucket: unparsableName, Key: append(key, one.of.Hash[:]...), Value: append(value, one.script...),
			})
			o.any = true
		}
	}
	o.fresh = nil
}

// load finds out whether any are stored.
func (o *oddOutputs) load() error {
	if !o.kept {
		return nil
	}
	return o.db.BTCD().View(func(tx database.Tx) error {
		o.any = tx.Metadata().Bucket([]byte(unparsableName)).Cursor().First()
		return nil
	})
}

// parseUnparsable reads a row. at returns the block of a hash on the chain that is
// asked about, nil when it is not there: then ok is false.
func parseUnparsable(
	key, value []byte, at func(*chainhash.Hash) *chainview.Block,
) (c messages.SetCoin, script []byte, ok bool, err error) {
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

// ancestor returns b if the chain that ends in tip has it.
func ancestor(tip, b *chainview.Block) *chainview.Block {
	if b == nil || tip.Ancestor(b.Height) != b {
		return nil
	}
	return b
}

// find looks for an output whose script does not parse in the chain that ends in
// tip, nil where there is none.
func (o *oddOutputs) find(out *wire.OutPoint, tip *chainview.Block) (coin *consensus.Coin, err error) {
	for _, one := range o.fresh[*out] {
		if ancestor(tip, one.of) != nil {
			return &consensus.Coin{Height: one.of.Height, Coinbase: one.coinbase, Value: one.value, Script: one.script},
				nil
		}
	}
	if !o.any {
		return nil, nil
	}
	at := func(hash *chainhash.Hash) *chainview.Block { return ancestor(tip, o.tree.Lookup(hash)) }
	prefix := binary.BigEndian.AppendUint32(bytes.Clone(out.Hash[:]), out.Index)
	err = o.db.BTCD().View(func(tx database.Tx) error {
		cursor := tx.Metadata().Bucket([]byte(unparsableName)).Cursor()
		for more := cursor.Seek(prefix); more && bytes.HasPrefix(cursor.Key(), prefix); more = cursor.Next() {
			c, script, ok, err := parseUnparsable(cursor.Key(), cursor.Value(), at)
			if err != nil {
				return err
			}
			if ok {
				coin = &consensus.Coin{
					Height: c.Height, Coinbase: c.Coinbase, Value: c.Amount, Script: bytes.Clone(script),
				}
			}
		}
		return nil
	})
	return coin, err
}

// unparsable returns the outputs that are not in the set, ascending by id.
func (s *coinSet) unparsable(ctx context.Context, first, last uint16) ([]messages.SetCoin, error) {
	var coins []messages.SetCoin
	at := func(hash *chainhash.Hash) *chainview.Block { return ancestor(s.tip, s.tree.Lookup(hash)) }
	err := s.stored.Beside(ctx, unparsableName, first, last, func(key, value []byte) error {
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
