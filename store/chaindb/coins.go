package chaindb

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"sync"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"
	"github.com/syndtr/goleveldb/leveldb"
	"github.com/syndtr/goleveldb/leveldb/util"

	"github.com/seed61375155/trawl/store/blockfile"
)

// A CoinSet is one of the sets of unspent outputs that a database has room for.
type CoinSet byte

// FirstCoins is the set that btcd keeps. Both sets are there while a chain that begins with a
// snapshot is validated; afterwards the set of the snapshot stays.
const (
	FirstCoins CoinSet = iota
	SecondCoins
)

// coinSets are the root buckets of the sets, and the items that name the blocks up to which
// they are written.
var coinSets = [...]struct{ bucket, tip string }{
	FirstCoins:  {"utxosetv2", "utxostateconsistency"},
	SecondCoins: {"trawl-coins2", "trawl-coins2-tip"},
}

// Other returns the other set.
func (s CoinSet) Other() CoinSet { return SecondCoins - s }

// Names returns the root bucket of a set and the item of the block up to which it is written.
func (s CoinSet) Names() (bucket, tip string) { return coinSets[s].bucket, coinSets[s].tip }

// tipKey is the key of the item of the block.
func (s CoinSet) tipKey() []byte { return bucketID(0).item([]byte(coinSets[s].tip)) }

// A Coin is an unspent output. Packed is a part of the bytes that the coin was parsed from.
type Coin struct {
	Out wire.OutPoint
	blockfile.Unspent
}

// Coins is the set of unspent outputs as it was written at one moment. Its
// methods are safe for concurrent use; it is to be released.
type Coins struct {
	db     *DB
	snap   *leveldb.Snapshot
	dir    *directory
	prefix []byte // of the keys

	// Tip is the block up to which the set is written.
	Tip chainhash.Hash

	release sync.Once
}

// Coins returns a set of unspent outputs as it was written last. Changes that are still
// in memory are not in it.
func (db *DB) Coins(set CoinSet) (*Coins, error) {
	t, err := db.newTx(false)
	if err != nil {
		return nil, ErrClosed
	}
	defer db.gate.leave() // the snapshot stays
	bucket, ok := t.dir.child(0, []byte(coinSets[set].bucket))
	tip, _ := t.get(set.tipKey())
	if !ok || len(tip) != chainhash.HashSize {
		t.snap.Release()
		return nil, fmt.Errorf("unspent outputs: %w", ErrNotFound)
	}
	return &Coins{db: db, snap: t.snap, dir: t.dir, prefix: bucket.itemPrefix(), Tip: chainhash.Hash(tip)}, nil
}

// Release gives up the set.
func (c *Coins) Release() { c.release.Do(c.snap.Release) }

// Visit calls visit with the row of every output of some transactions, in the order of
// their keys. Their ids begin with two bytes from first to last, read as big-endian
// numbers. Visit ends with ctx or with an error of visit, and returns that error. Key
// and value are valid only while they are visited; [Coin.Parse] reads them.
func (c *Coins) Visit(ctx context.Context, first, last uint16, visit func(key, value []byte) error) error {
	return c.items(ctx, c.prefix, first, last, visit)
}

// Beside calls visit with the items of another root bucket, as of the same
// moment, whose keys begin with two bytes from first to last. A bucket that is not
// there has none. Key and value are valid only while they are visited.
func (c *Coins) Beside(
	ctx context.Context, bucket string, first, last uint16, visit func(key, value []byte) error,
) error {
	id, ok := c.dir.child(0, []byte(bucket))
	if !ok {
		return nil
	}
	return c.items(ctx, id.itemPrefix(), first, last, visit)
}

// items visits the items of a bucket in the order of their keys.
func (c *Coins) items(
	ctx context.Context, prefix []byte, first, last uint16, visit func(key, value []byte) error,
) error {
	if err := c.db.gate.enter(); err != nil {
		return err
	}
	defer c.db.gate.leave()
	it := c.snap.NewIterator(keyRange(prefix, first, last), nil)
	defer it.Release()
	for n := 0; it.Next(); n++ {
		if n%1024 == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err := visit(it.Key()[len(prefix):], it.Value()); err != nil {
			return err
		}
	}
	if err := it.Error(); err != nil {
		return fmt.Errorf("unspent outputs: %w", fromLevelDB(c.db.seen(err)))
	}
	return nil
}

// keyRange returns the range of keys in which two bytes from first to last follow the
// prefix.
func keyRange(prefix []byte, first, last uint16) *util.Range {
	n := len(prefix)
	r := util.BytesPrefix(binary.BigEndian.AppendUint16(prefix[:n:n], last))
	r.Start = binary.BigEndian.AppendUint16(prefix[:n:n], first)
	return r
}

// Parse reads a row of the set: the key is id and index of the output. A row that cannot
// be read is [ErrCorrupt].
func (c *Coin) Parse(key, value []byte) (err error) {
	if len(key) <= chainhash.HashSize {
		return fmt.Errorf("%w: unspent output with key %x", ErrCorrupt, key)
	}
	c.Out.Hash = chainhash.Hash(key)
	var failed error
	c.Out.Index, failed = blockfile.ParseOutputIndex(key[chainhash.HashSize:])
	c.Unspent, err = blockfile.ParseUnspent(value)
	if err = errors.Join(failed, err); err != nil {
		return fmt.Errorf("unspent output %v: %w", c.Out, err)
	}
	return nil
}

// DiskSize estimates how many bytes of the database the set takes.
func (c *Coins) DiskSize() (int64, error) {
	if err := c.db.gate.enter(); err != nil {
		return 0, err
	}
	defer c.db.gate.leave()
	sizes, err := c.db.ldb.SizeOf([]util.Range{*keyRange(c.prefix, 0, 0xffff)})
	if err != nil {
		return 0, fmt.Errorf("size of unspent outputs: %w", fromLevelDB(err))
	}
	return sizes.Sum(), nil
}
