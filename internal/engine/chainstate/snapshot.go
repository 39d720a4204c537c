package chainstate

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strconv"
	"strings"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/corelog"
	"github.com/seed61375155/trawl/internal/dialect"
	"github.com/seed61375155/trawl/internal/engine"
	"github.com/seed61375155/trawl/internal/engine/coincache"
	"github.com/seed61375155/trawl/internal/vfs"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/store/blockfile"
	"github.com/seed61375155/trawl/store/chaindb"
	"github.com/seed61375155/trawl/store/coinfile"
)

// An assuming lets the chain begin with a snapshot of unspent outputs, and validates what
// comes before.
type assuming struct {
	engine *Engine
	fs     vfs.FS
	mark   coinfile.Mark
}

// LoadSnapshot implements engine.Validator.
func (a assuming) LoadSnapshot(q messages.LoadSnapshot) (engine.Snapshot, error) {
	e := a.engine
	if e.broken != nil {
		return nil, e.broken
	}
	file, err := coinfile.Open(a.fs, q.Path, e.net.Magic, e.net.NetworkOf)
	var head *coinfile.HeadError
	switch {
	case errors.As(err, &head):
		return nil, &messages.SnapshotError{Reason: head.Text, Head: true}
	case err != nil:
		return nil, messages.ErrNotOpened
	}
	l := &snapshotLoader{Engine: e, file: file}
	err = l.check()
	if err == nil && !q.Only {
		err = l.prepare()
	}
	if err != nil || q.Only {
		_ = file.Close() // it was only read
		return nil, err
	}
	return l, nil
}

// A snapshotLoader reads one file: the engine's user has it looked at and prepared, anybody has it read,
// and the engine's user has it used.
type snapshotLoader struct {
	*Engine

	file  *coinfile.Reader
	known dialect.Snapshot
	base  *chainview.Block

	set   chaindb.CoinSet // that is read into
	store *chaindb.CoinStore
	limit int64      // of the memory while it is read
	whole int64      // of all memory for unspent outputs
	odd   oddOutputs // of the file
	bytes int        // of odd
}

func refuse(format string, args ...any) error {
	return &messages.SnapshotError{Reason: fmt.Sprintf(format, args...)}
}

// check decides by the beginning of the file whether the chain may begin with its set.
func (l *snapshotLoader) check() error {
	if l.began != nil {
		return refuse("Can't activate a snapshot-based chainstate more than once")
	}
	at := slices.IndexFunc(l.net.Snapshots, func(s dialect.Snapshot) bool { return s.Block == l.file.Block })
	if at < 0 {
		var heights []string
		for _, s := range l.net.Snapshots {
			heights = append(heights, strconv.Itoa(int(s.Height)))
		}
		return refuse("assumeutxo block hash in snapshot metadata not recognized (hash: %v). The following snapshot "+
			"heights are available: %s", l.file.Block, strings.Join(heights, ", "))
	}
	l.known, l.base = l.net.Snapshots[at], l.tree.Lookup(&l.file.Block)
	switch {
	case l.base == nil:
		return refuse("The base block header (%v) must appear in the headers chain. Make sure all headers are "+
			"syncing, and call loadtxoutset again", l.file.Block)
	case l.base.Status().Invalid():
		return refuse("The base block header (%v) is part of an invalid chain", l.file.Block)
	case l.choice.Header().Ancestor(l.base.Height) != l.base:
		return refuse("A forked headers-chain with more work than the chain with the snapshot base block header " +
			"exists. Please proceed to sync without AssumeUtxo.")
	}
	return nil
}

// errLate is the refusal of a snapshot that the chain has no use for.
var errLate = refuse("Population failed: Work does not exceed active chainstate")

// prepare empties the set that is not used, and gives most of the memory to what reads the file.
func (l *snapshotLoader) prepare() (err error) {
	e := l.Engine
	switch {
	case e.loading:
		return refuse("A snapshot is being loaded already")
	case e.tip.CompareWork(l.base) >= 0:
		return errLate
	}
	if err := Rest(e); err != nil {
		return err
	}
	l.set, l.whole = e.set.Other(), e.coins.Limit()
	if l.store, err = e.db.CoinStore(l.set); err != nil {
		return err
	}
	e.loading, e.erasing = true, nil
	l.limit = l.whole - l.whole/20
	e.coins.SetLimit(l.whole - l.limit)
	l.odd = oddOutputs{kept: e.kind.Unparsable, db: e.db, tree: e.tree}
	return nil
}

// Read implements engine.Snapshot. Nothing but the set that is not used is changed.
func (l *snapshotLoader) Read(ctx context.Context) error {
	err := eraseAll(ctx, l.store)
	if err == nil {
		err = l.populate(ctx)
	}
	_ = l.file.Close() // it was only read
	var bad *coinfile.ContentError
	switch {
	case errors.As(err, &bad):
		return refuse("Population failed: %s", bad.Text)
	case ctx.Err() != nil && err != nil:
		return refuse("Population failed: Aborting after an interrupt was requested")
	}
	return err
}

// Use implements engine.Snapshot.
func (l *snapshotLoader) Use(read error) (messages.LoadedSnapshot, error) {
	e := l.Engine
	e.loading = false
	if e.broken != nil {
		return messages.LoadedSnapshot{}, e.broken
	}
	var refused *messages.SnapshotError
	err := read
	switch {
	case errors.As(read, &refused):
	case read != nil:
		return messages.LoadedSnapshot{}, e.guard(read)
	case e.tip.CompareWork(l.base) >= 0: // while it was read
		err = errLate
	default:
		err = l.check()
	}
	if err != nil {
		e.erasing = l.store
		e.coins.SetLimit(l.whole)
		return messages.LoadedSnapshot{}, err
	}
	at := messages.Tip{Hash: l.base.Hash, Height: l.base.Height}
	return messages.LoadedSnapshot{Block: at, Coins: l.file.Coins}, l.activate()
}

// eraseShare is how many outputs are deleted at a time.
const eraseShare = 100_000

func eraseAll(ctx context.Context, store *chaindb.CoinStore) error {
	for ctx.Err() == nil {
		if more, err := store.Erase(eraseShare); err != nil || !more {
			return err
		}
	}
	return context.Cause(ctx)
}

func (l *snapshotLoader) printf(format string, args ...any) {
	corelog.Printf(l.log, slog.LevelInfo, "[snapshot] "+format, args...)
}

// populate reads the outputs into the set, and holds it against the known hash.
func (l *snapshotLoader) populate(ctx context.Context) error {
	l.printf("loading %d coins from snapshot %v", l.file.Coins, l.base.Hash)
	cache := coincache.New(l.store, l.limit)
	defer cache.Close()
	if err := l.read(ctx, cache); err != nil {
		return err
	}
	if err := cache.Flush(&l.base.Hash, l.base.Height); err != nil {
		return err
	}
	l.printf("loaded %d coins from snapshot %v", l.file.Coins, l.base.Hash)
	sum, err := l.newSetHash(l.set, l.base, &l.odd)
	if err != nil {
		return err
	}
	defer sum.release()
	for !sum.done() {
		if err := sum.next(ctx); err != nil {
			return err
		}
	}
	if hash := sum.hash(); hash != l.known.Hash {
		return &coinfile.ContentError{Text: fmt.Sprintf(
			"Bad snapshot content hash: expected %v, got %v", l.known.Hash, hash,
		)}
	}
	l.printf("validated snapshot")
	return nil
}

const (
	// restEvery is after how many outputs it is looked whether to stop.
	restEvery = 120_000

	// forgetEvery is after how many outputs they are final.
	forgetEvery = 1000
)

// read puts the outputs into the set. Of two with the same key the first one counts.
func (l *snapshotLoader) read(ctx context.Context, cache *coincache.Cache) error {
	limits := coinfile.Limits{Height: l.base.Height, MaxMoney: l.rules.MaxMoney}
	var out wire.OutPoint
	var coin blockfile.Coin
	var key, value []byte
	for n := 1; ; n++ {
		if err := l.file.Next(&out, &coin, limits); errors.Is(err, io.EOF) {
			cache.Forget()
			return nil
		} else if err != nil {
			return err
		}
		if l.odd.is(coin.Script) {
			if err := l.addOdd(out, &coin); err != nil {
				return err
			}
			continue
		}
		if key = appendKey(key[:0], &out); !cache.Has(key) {
			value = blockfile.AppendUnspent(value[:0], coin)
			cache.Put(key, value, true)
		}
		if n%forgetEvery == 0 {
			cache.Forget()
		}
		if cache.Full() {
			cache.Forget()
			if err := cache.Flush(&l.base.Hash, l.base.Height); err != nil {
				return err
			}
		}
		if n%restEvery == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
	}
}

// maxOdd is how many bytes the outputs take at most that do not parse: they are kept in memory
// until the set is known to be right. Each counts 200 beside its script.
const maxOdd = 256 << 20

func (l *snapshotLoader) addOdd(out wire.OutPoint, coin *blockfile.Coin) error {
	if l.bytes += 200 + len(coin.Script); l.bytes > maxOdd {
		return &coinfile.ContentError{Text: "Bad snapshot data: too many outputs whose scripts do not parse"}
	}
	if len(l.odd.fresh[out]) == 0 {
		l.odd.add(out, oddOutput{
			of: l.base.Ancestor(coin.Height), coinbase: coin.Coinbase, value: coin.Amount, script: coin.Script,
		})
	}
	return nil
}

// list returns those that are not stored, ascending by id, of transactions whose ids begin with
// two bytes from first to last.
func (o *oddOutputs) list(first, last uint16) (coins []messages.SetCoin) {
	for out, kept := range o.fresh {
		if front := uint16(out.Hash[0])<<8 | uint16(out.Hash[1]); front < first || front > last {
			continue
		}
		one := kept[0]
		forms := blockfile.PackScript(one.script)
		coins = append(coins, messages.SetCoin{
			Out: out, Height: one.of.Height, Coinbase: one.coinbase, Amount: one.value, Packed: forms[len(forms)-1],
		})
	}
	slices.SortFunc(coins, func(a, b messages.SetCoin) int { return bytes.Compare(a.Out.Hash[:], b.Out.Hash[:]) })
	return coins
}

// activate has the chain begin with the set that was loaded.
func (l *snapshotLoader) activate() error {
	e, old := l.Engine, l.tip
	before, err := e.db.CoinStore(e.set)
	if err != nil {
		return err
	}
	if err := e.guard(e.assuming.mark.Write(&l.base.Hash)); err != nil {
		return err
	}
	e.pending.put(setsRow(l.set, &l.base.Hash))
	e.pending.put(chaindb.Row{Key: []byte(stateKey), Value: stateRow(l.base, l.known.Txs)})
	l.odd.put(&e.pending)
	if err := e.save(); err != nil { // of the engine's own nothing is pending
		return err
	}
	if err := e.guard(e.disk.Sync()); err != nil {
		return err
	}
	e.odd.any = e.odd.any || l.odd.any
	e.coins.Close()
	half := l.whole / 2
	e.set, e.coins, e.began = l.set, coincache.New(l.store, half), &l.base.Hash
	e.tip, e.txs.n = l.base, l.known.Txs
	e.behind = newBackground(e, l.known, l.base, old, coincache.New(before, l.whole-half))
	e.choice.Assume(l.base)
	e.behind.publish()
	e.MoveLocksBack(old, e.tip)
	e.tree.SetActive(e.tip)
	l.printf("successfully activated snapshot %v", l.base.Hash)
	return e.activate(e.choice.Best(e.tip), nil)
}

// setsKey is the key of the row that names the set with the unspent outputs of the active
// chain. While blocks before the snapshot are not validated, the row also names the snapshot
// with which the chain began.
const setsKey = "trawl-coinsets"

func setsRow(set chaindb.CoinSet, base *chainhash.Hash) chaindb.Row {
	row := chaindb.Row{Key: []byte(setsKey), Value: []byte{byte(set)}}
	if base != nil {
		row.Value = append(row.Value, base[:]...)
	}
	return row
}

// parseSets reads the row; nil is that of a chain that has seen no snapshot.
func parseSets(row []byte) (set chaindb.CoinSet, base *chainhash.Hash, err error) {
	switch {
	case row == nil:
		return chaindb.FirstCoins, nil, nil
	case len(row) != 1 && len(row) != 1+chainhash.HashSize || row[0] > byte(chaindb.SecondCoins):
		return 0, nil, ErrRow
	case len(row) > 1:
		hash := chainhash.Hash(row[1:])
		base = &hash
	}
	return chaindb.CoinSet(row[0]), base, nil
}
