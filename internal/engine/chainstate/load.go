package chainstate

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/btcsuite/btcd/btcutil"
	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/database"

	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/consensus/target"
	"github.com/seed61375155/trawl/internal/engine/coincache"
	"github.com/seed61375155/trawl/internal/engine/forkchoice"
	"github.com/seed61375155/trawl/internal/engine/pruning"
	"github.com/seed61375155/trawl/store/chaindb"
)

// A loader reads the database into an engine that is opened, and makes what is missing
// there.
type loader struct{ e *Engine }

// load opens all that an engine has.
func (l loader) load(cfg Config) error {
	e := l.e
	if err := l.create(); err != nil {
		return err
	}
	if err := l.loadTree(); err != nil {
		return err
	}
	var err error
	e.Pruner, err = pruning.New(pruning.Chain{
		DB: e.db, Tree: e.tree, Log: e.log, Now: e.clock.Now, Flush: e.flush,
	}, cfg.Prune)
	if err != nil {
		return err
	}
	store, err := e.db.CoinStore()
	if err != nil {
		return err
	}
	e.coins = coincache.New(store, cfg.Cache)
	e.odd = oddOutputs{kept: e.kind.Unparsable, db: e.db, tree: e.tree}
	if err := e.odd.load(); err != nil {
		return err
	}
	if err := l.recover(); err != nil {
		return err
	}
	return e.activate(e.choice.Best(e.tip), nil)
}

// create makes what is missing of the database: all of it, with the genesis block, or
// the buckets that older programs did not have.
func (l loader) create() error {
	return l.e.db.BTCD().Update(func(tx database.Tx) error {
		meta := tx.Metadata()
		buckets := append(l.e.kind.Rows.Buckets(), coinsBucket)
		if l.e.kind.Unparsable {
			buckets = append(buckets, unparsableName)
		}
		for _, name := range buckets {
			if _, err := meta.CreateBucketIfNotExists([]byte(name)); err != nil {
				return err
			}
		}
		if meta.Get([]byte(stateKey)) != nil || meta.Get([]byte(coinsTipKey)) != nil {
			return nil
		}
		return l.createRows(tx)
	})
}

func (l loader) createRows(tx database.Tx) error {
	genesis := l.e.net.Params.GenesisBlock
	root := chainview.NewTree(&genesis.Header, target.Work(genesis.Header.Bits)).Active().Tip()
	l.e.txs.add(1)
	rows := append(l.e.kind.Rows.First(root),
		chaindb.Row{Key: []byte(stateKey), Value: stateRow(root, l.e.txs.n)},
		chaindb.Row{Key: []byte(coinsTipKey), Value: root.Hash[:]})
	for _, row := range rows {
		bucket := tx.Metadata()
		if row.Bucket != "" {
			bucket = bucket.Bucket([]byte(row.Bucket))
		}
		if err := bucket.Put(row.Key, row.Value); err != nil {
			return err
		}
	}
	has, err := tx.HasBlock(&root.Hash)
	if err != nil || has {
		return err
	}
	return tx.StoreBlock(btcutil.NewBlock(genesis))
}

// loadTree reads the block tree, and makes the stored tip that of the active chain.
func (l loader) loadTree() error {
	genesis := l.e.net.Params.GenesisBlock
	l.e.tree = chainview.NewTree(&genesis.Header, target.Work(genesis.Header.Bits))
	root := l.e.tree.Active().Tip()
	l.e.kind.Headers.Added(root, &Header{BlockHeader: genesis.Header, Hash: root.Hash})
	l.e.choice = forkchoice.New(l.e.tree, root, l.e.mark)
	return l.e.db.BTCD().View(func(tx database.Tx) error {
		meta := tx.Metadata()
		err := l.e.kind.Rows.Load(meta, func(h *Header, s chainview.Status, headerOnly bool) error {
			return l.loadBlock(tx, h, s, headerOnly)
		})
		if err != nil {
			return err
		}
		return l.loadTip(meta)
	})
}

// loadBlock puts a block into the tree, after its parent. A headerOnly one that lacks its
// parent, which a loss of power may cause, is left out: peers give it again.
func (l loader) loadBlock(tx database.Tx, h *Header, s chainview.Status, headerOnly bool) error {
	if h.Hash == *l.e.net.Params.GenesisHash || headerOnly && l.e.tree.Lookup(&h.PrevBlock) == nil {
		return nil
	}
	if headerOnly && s&chainview.HasData != 0 {
		if has, err := tx.HasBlock(&h.Hash); err != nil || !has {
			s &^= chainview.HasData
		}
	}
	b, err := l.e.tree.AddWithPayload(&h.BlockHeader, h.Payload, target.Work(h.Bits), s)
	switch {
	case errors.Is(err, chainview.ErrOrphan):
		return fmt.Errorf("%w: block %v has no parent", chaindb.ErrDamaged, h.Hash)
	case err != nil:
		return err
	}
	l.e.kind.Headers.Added(b, h)
	if l.e.choice.Load(b) && headerOnly {
		l.e.pending.link(b, true)
	}
	return nil
}

// loadTip reads the tip. A database of before unspent outputs were collected in memory
// may say it by these alone.
func (l loader) loadTip(meta database.Bucket) error {
	const size = chainhash.HashSize + 4 + 8
	row := meta.Get([]byte(stateKey))
	stored := row
	if row == nil {
		stored = meta.Get([]byte(coinsTipKey))
	}
	if len(stored) < chainhash.HashSize || row != nil && len(row) < size {
		return ErrRow
	}
	hash := chainhash.Hash(stored)
	if l.e.tip = l.e.tree.Lookup(&hash); l.e.tip == nil || !forkchoice.Linked(l.e.tip) {
		return fmt.Errorf("%w: tip %v is not among the blocks", chaindb.ErrDamaged, hash)
	}
	if row != nil {
		l.e.txs.n = binary.LittleEndian.Uint64(row[chainhash.HashSize+4:])
	}
	l.e.choice.Loaded(l.e.tip)
	l.e.tree.SetActive(l.e.tip)
	return nil
}
