package blocks

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/txscript"

	"github.com/seed61375155/trawl/filters"
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/cores"
	"github.com/seed61375155/trawl/internal/dialect"
	"github.com/seed61375155/trawl/internal/index"
	"github.com/seed61375155/trawl/store/scriptindex"
)

// ScriptsName is the name of the index, in texts and in its folder.
const ScriptsName = "scriptindex"

const (
	// aheadBlocks is how many blocks are read ahead for each core.
	aheadBlocks = 2

	// aheadBytes bounds the memory of these blocks, of which each counts as one of 4 MB.
	aheadBytes = 256 << 20
	fullBlock  = 4 << 20

	// manyBlocks stands for how many blocks are to come while files of blocks are read.
	manyBlocks = 1000
)

// Scripts say in which blocks each script is paid to or spent from. They are kept by an actor of actors/blockindex,
// which alone calls what changes them, and read by a [ScriptReader] meanwhile.
type Scripts struct {
	net       *dialect.Network
	store     *scriptindex.Store
	importing func() bool // may be nil
}

// OpenScripts opens the index.
func OpenScripts(c Config) (*Scripts, error) {
	if err := c.needsAll(ScriptsName); err != nil {
		return nil, err
	}
	store, err := scriptindex.Open(scriptindex.Options{Dir: c.dir(ScriptsName), Network: c.Network.Magic, Log: c.Log})
	if err != nil {
		return nil, failed(err)
	}
	if c.Anew {
		if err := store.Wipe(); err != nil {
			return nil, failed(errors.Join(err, store.Close()))
		}
	}
	return &Scripts{c.Network, store, c.Importing}, nil
}

// Close closes the store.
func (x *Scripts) Close() error { return x.store.Close() }

func scriptDamage(err error) error { return index.Wrap(err, scriptindex.ErrDamaged) }

// Best implements index.Blocks.
func (x *Scripts) Best() (hash chainhash.Hash, height int32, ok bool) { return x.store.Best() }

// Connect implements index.Blocks.
func (x *Scripts) Connect(reader chainview.Reader, b *chainview.Block) error {
	keys, err := x.keys(reader, b)
	if err != nil {
		return err
	}
	return x.add(reader, b, keys)
}

func (x *Scripts) add(reader chainview.Reader, b *chainview.Block, keys []scriptindex.Key) error {
	left := chainview.BestHeader(reader, reader.Active()).Height - b.Height
	if x.importing != nil && x.importing() {
		left = max(left, manyBlocks)
	}
	return scriptDamage(x.store.Add(scriptindex.Position{Hash: b.Hash, Height: b.Height}, keys, max(left, 0)))
}

// ConnectSome implements index.Parallel.
func (x *Scripts) ConnectSome(reader chainview.Reader, blocks []*chainview.Block, goesOn func() bool) error {
	type read struct {
		block *chainview.Block
		keys  []scriptindex.Key
		err   error
	}
	next := 0
	ahead := cores.StartPrefetch(aheadBlocks*cores.Count(), aheadBytes, func() (cores.Piece[read], bool) {
		if next == len(blocks) || next > 0 && !goesOn() {
			return cores.Piece[read]{}, false
		}
		b := blocks[next]
		next++
		return cores.Piece[read]{Size: fullBlock, Work: func() read {
			keys, err := x.keys(reader, b)
			return read{b, keys, err}
		}}, true
	})
	defer ahead.Close()
	for {
		r, ok := ahead.Take(nil)
		if !ok || r.err != nil {
			return r.err
		}
		if err := x.add(reader, r.block, r.keys); err != nil {
			return err
		}
	}
}

// rawBlocks is memory of blocks that were read.
var rawBlocks = sync.Pool{New: func() any { return new([]byte) }}

// keys returns the keys of the scripts that a block pays to or spends from, sorted and each once.
func (x *Scripts) keys(reader chainview.Reader, b *chainview.Block) ([]scriptindex.Key, error) {
	memory, _ := rawBlocks.Get().(*[]byte)
	defer rawBlocks.Put(memory)
	raw, err := chainview.RawInto(reader, memory, &b.Hash)
	if err != nil {
		return nil, err
	}
	spent, err := reader.SpentScripts(&b.Hash)
	if err != nil {
		return nil, fmt.Errorf("spent outputs of %w", err)
	}
	keys := make([]scriptindex.Key, 0, 2*len(spent)+8)
	add := func(script []byte) bool {
		if ScriptIndexed(script) {
			hash := sha256.Sum256(script)
			keys = append(keys, x.store.KeyOf(&hash))
		}
		return true
	}
	if err := filters.EachOutputScript(raw, x.net.HeaderLen(raw), add); err != nil {
		return nil, fmt.Errorf("block %v: %w: %w", b.Hash, chainview.ErrUnreadable, err)
	}
	for _, script := range spent {
		add(script)
	}
	slices.Sort(keys)
	return slices.Clip(slices.Compact(keys)), nil
}

// ScriptIndexed reports whether an output script is in the index. Others can never be spent from.
func ScriptIndexed(script []byte) bool { return len(script) == 0 || script[0] != txscript.OP_RETURN }

// Disconnect implements index.Blocks.
func (x *Scripts) Disconnect(_ chainview.Reader, b *chainview.Block) error {
	before := scriptindex.Position{Height: -1}
	if b.Parent != nil {
		before = scriptindex.Position{Hash: b.Parent.Hash, Height: b.Parent.Height}
	}
	return scriptDamage(x.store.Back(before))
}

// Has implements index.Record: of blocks that have left the chain there is nothing to know.
func (*Scripts) Has(chainview.Reader, *chainview.Block) (bool, error) { return true, nil }

// Sync implements index.Blocks.
func (x *Scripts) Sync() error { return scriptDamage(x.store.Sync()) }

// Tidy implements index.Tidier.
func (x *Scripts) Tidy(ctx context.Context) error { return scriptDamage(x.store.Tidy(ctx)) }

// Reset implements index.Blocks.
func (x *Scripts) Reset(known func(*chainhash.Hash) bool) error {
	if known == nil {
		return x.store.Wipe()
	}
	return scriptDamage(x.store.Rewind(known))
}
