package chainstate

import (
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
	"slices"

	"github.com/btcsuite/btcd/btcutil"
	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/database"

	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/consensus"
	"github.com/seed61375155/trawl/internal/corelog"
	"github.com/seed61375155/trawl/internal/dialect"
	"github.com/seed61375155/trawl/internal/engine/coincache"
	"github.com/seed61375155/trawl/internal/engine/forkchoice"
	"github.com/seed61375155/trawl/internal/engine/pruning"
	"github.com/seed61375155/trawl/messages"
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
	err := l.settleMark()
	if err != nil {
		return err
	}
	e.Pruner, err = pruning.New(pruning.Chain{
		DB: e.db, Tree: e.tree, Log: e.log, Now: e.clock.Now, Flush: e.flush,
	}, cfg.Prune)
	if err == nil {
		err = l.loadStripped(cfg.Strip)
	}
	if err == nil && cfg.StartOver != nil {
		err = l.startOver()
	}
	if err != nil {
		return err
	}
	e.odd = oddOutputs{kept: e.kind.Unparsable, db: e.db, tree: e.tree}
	if err := e.odd.load(); err != nil {
		return err
	}
	if err := l.openCoins(cfg.Cache); err != nil {
		return err
	}
	if err := l.recover(); err != nil {
		return err
	}
	return l.catchUp(cfg.StartOver)
}

// openCoins opens the set of unspent outputs of the active chain, and the other one for the
// background where there is one, else to be erased.
func (l loader) openCoins(limit int64) error {
	e := l.e
	store, err := e.db.CoinStore(e.set)
	if err != nil {
		return err
	}
	other, err := e.db.CoinStore(e.set.Other())
	if err != nil {
		return err
	}
	a := e.tree.Assumed()
	if a == nil {
		e.coins, e.erasing = coincache.New(store, limit), other
		return nil
	}
	known, err := l.snapshotOf(&a.Base.Hash)
	if err != nil {
		return err
	}
	stored, err := l.coinsTip(e.set.Other())
	if err != nil {
		return err
	}
	if stored == nil {
		return fmt.Errorf("%w: the unspent outputs are at no block", chaindb.ErrDamaged)
	}
	e.coins = coincache.New(store, limit/2)
	e.behind = newBackground(e, known, a.Base, stored, coincache.New(other, limit-limit/2))
	e.behind.publish()
	return nil
}

// errNoData ends the start over a snapshot that the network's values do not have.
var errNoData = errors.New("the chain begins with a snapshot that this program does not know")

// snapshotOf returns what is known of the snapshot of a block.
func (l loader) snapshotOf(block *chainhash.Hash) (dialect.Snapshot, error) {
	at := slices.IndexFunc(l.e.net.Snapshots, func(s dialect.Snapshot) bool { return s.Block == *block })
	if at < 0 {
		return dialect.Snapshot{}, &messages.FatalError{
			Summary: fmt.Sprintf("Assumeutxo data not found for the given blockhash '%v'.", block), Err: errNoData,
		}
	}
	return l.e.net.Snapshots[at], nil
}

// settleMark makes the mark of a snapshot agree with the database. A leftover mark is of a snapshot
// that was validated, or was never loaded to its end.
func (l loader) settleMark() error {
	e := l.e
	marked, ok, err := e.assuming.mark.Read()
	if err != nil {
		return err
	}
	base := e.tree.Lookup(&marked)
	isDone := e.began == nil && ok && base != nil && e.tree.Active().Contains(base)
	if ok && !isDone {
		if _, err := l.snapshotOf(&marked); err != nil {
			return err
		}
	}
	switch {
	case e.began != nil && ok && marked == *e.began:
		return nil
	case e.began != nil:
		return e.assuming.mark.Write(e.began)
	case isDone:
		corelog.Printf(e.log, slog.LevelInfo,
			"[snapshot] cleaning up unneeded background chainstate, then reinitializing")
	case ok:
		corelog.Printf(e.log, slog.LevelWarn, "[snapshot] the chain does not begin with the snapshot of block %v any "+
			"more: its file may be loaded again", marked)
	}
	return e.assuming.mark.Remove()
}

// create makes what is missing of the database: all of it, with the genesis block, or
// the buckets that older programs did not have.
func (l loader) create() error {
	return l.e.db.BTCD().Update(func(tx database.Tx) error {
		meta := tx.Metadata()
		first, coinsTipKey := chaindb.FirstCoins.Names()
		second, _ := chaindb.SecondCoins.Names()
		buckets := append(l.e.kind.Rows.Buckets(), first, second)
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
	root := chainview.NewTree(&genesis.Header, consensus.TargetWork(genesis.Header.Bits)).Active().Tip()
	l.e.txs.add(1)
	_, coinsTipKey := chaindb.FirstCoins.Names()
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
	l.e.tree = chainview.NewTree(&genesis.Header, consensus.TargetWork(genesis.Header.Bits))
	root := l.e.tree.Active().Tip()
	l.e.kind.Headers.Added(root, &Header{BlockHeader: genesis.Header, Hash: root.Hash})
	l.e.choice = forkchoice.New(l.e.tree, root, l.e.mark)
	return l.e.db.BTCD().View(func(tx database.Tx) error {
		meta := tx.Metadata()
		var base *chainhash.Hash
		var err error
		if l.e.set, base, err = parseSets(meta.Get([]byte(setsKey))); err != nil {
			return err
		}
		l.e.began = base
		err = l.e.kind.Rows.Load(meta, func(h *Header, s chainview.Status, headerOnly bool) error {
			return l.loadBlock(tx, h, s, headerOnly)
		})
		if err != nil {
			return err
		}
		if base != nil && l.e.tree.Assumed() == nil {
			return fmt.Errorf("%w: block %v of the snapshot is not among the blocks", chaindb.ErrDamaged, base)
		}
		return l.loadTip(meta)
	})
}

// loadBlock puts a block into the tree, after its parent. A headerOnly block that lacks
// its parent, which a loss of power may cause, is left out: peers give it again.
func (l loader) loadBlock(tx database.Tx, h *Header, s chainview.Status, headerOnly bool) error {
	if h.Hash == *l.e.net.Params.GenesisHash || headerOnly && l.e.tree.Lookup(&h.PrevBlock) == nil {
		return nil
	}
	if headerOnly && s&chainview.HasData != 0 {
		if has, err := tx.HasBlock(&h.Hash); err != nil || !has {
			s &^= chainview.HasData
		}
	}
	b, err := l.e.tree.AddWithPayload(&h.BlockHeader, h.Payload, consensus.TargetWork(h.Bits), s)
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
	if l.e.began != nil && b.Hash == *l.e.began {
		l.e.choice.Assume(b)
		l.e.tree.SetAssumed(&chainview.Assumed{Base: b, Validated: l.e.tree.Active().Tip()})
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
		_, coinsTipKey := chaindb.FirstCoins.Names()
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
