package follower

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/filters"
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/consensus"
	"github.com/seed61375155/trawl/internal/corenode"
	"github.com/seed61375155/trawl/internal/dialect"
	"github.com/seed61375155/trawl/store/attachdb"
	"github.com/seed61375155/trawl/store/corefiles"
)

// A shape is how many inputs each transaction of a block has.
type shape []int32

// shapes are those of the blocks that were read last.
type shapes struct {
	mu    sync.Mutex
	last  [64]chainhash.Hash
	next  int
	known map[chainhash.Hash]shape
}

func (s *shapes) add(hash *chainhash.Hash, of shape) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.known == nil {
		s.known = map[chainhash.Hash]shape{}
	}
	if _, ok := s.known[*hash]; ok {
		return
	}
	delete(s.known, s.last[s.next])
	s.last[s.next], s.known[*hash] = *hash, of
	s.next = (s.next + 1) % len(s.last)
}

func (s *shapes) get(hash *chainhash.Hash) (shape, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	of, ok := s.known[*hash]
	return of, ok
}

// A source reads blocks of Core's, and what they spend. It is safe for concurrent use.
type source struct {
	net  *dialect.Network
	core *corenode.Client
	ctx  context.Context //nolint:containedctx // ends what readers ask Core when the engine closes
	tree *chainview.Tree

	rest      atomic.Bool // Core has REST
	spentREST atomic.Bool // and spenttxouts there
	filters   atomic.Bool // Core keeps the filter index

	files   atomic.Pointer[corefiles.Dir] // Core's own; nil: none are read
	shapes  shapes
	learned learned
	counts  struct{ blocks, undo, filters counters }
}

// counters are how many of something came from where.
type counters struct{ files, rest, rpc atomic.Int64 }

// setCore takes over what Core can do.
func (s *source) setCore(info *corenode.Info) {
	s.rest.Store(info.REST)
	s.spentREST.Store(info.REST && (info.SpentREST || info.Version == 0))
	_, filters := info.Indexes[corenode.FilterIndex]
	s.filters.Store(filters)
}

func (s *source) noREST() {
	s.rest.Store(false)
	s.spentREST.Store(false)
}

// genesis reports whether a block is the first of the chain.
func (s *source) genesis(hash *chainhash.Hash) bool { return *hash == *s.net.Params.GenesisHash }

// rawGenesis returns the first block, which every node knows.
func (s *source) rawGenesis() []byte {
	var b bytes.Buffer
	_ = s.net.Params.GenesisBlock.Serialize(&b) // into memory
	return b.Bytes()
}

// block returns a block, whose bytes give its hash and its merkle root, in the memory of
// buf or in its own.
func (s *source) block(buf *[]byte, hash *chainhash.Hash) ([]byte, shape, error) {
	if s.genesis(hash) {
		return s.rawGenesis(), shape{1}, nil
	}
	b := s.tree.Lookup(hash)
	if b == nil {
		return nil, nil, fmt.Errorf("block %v: %w", hash, chainview.ErrNotFound)
	}
	raw, of := s.fromFiles(buf, hash)
	if of == nil {
		var from counter
		var err error
		if raw, from, err = s.askBlock(hash); err != nil {
			return nil, nil, s.readError(hash, err)
		}
		var ok bool
		if of, ok = s.shapeOf(hash, raw); !ok {
			return nil, nil, s.readError(hash, fmt.Errorf("%w: other bytes than the block's", corenode.ErrReply))
		}
		from.Add(1)
	}
	s.shapes.add(hash, of)
	s.learned.set(b, blockSize{uint32(len(raw)), uint32(len(of))})
	return raw, of, nil
}

func (s *source) inFiles(hash *chainhash.Hash) bool {
	files := s.files.Load()
	return files != nil && files.Has(hash)
}

// fromFiles reads a block from Core's files; the shape is nil where it is not there.
func (s *source) fromFiles(buf *[]byte, hash *chainhash.Hash) ([]byte, shape) {
	files := s.files.Load()
	if files == nil || s.ctx.Err() != nil {
		return nil, nil
	}
	if buf == nil {
		buf = new([]byte)
	}
	raw, err := files.Block(buf, hash)
	if err != nil {
		return nil, nil
	}
	of, ok := s.shapeOf(hash, raw)
	if !ok {
		return nil, nil
	}
	s.counts.blocks.files.Add(1)
	return raw, of
}

// shapeOf reads a block, and reports whether the bytes are those of the block with a
// hash. They may have other witnesses.
func (s *source) shapeOf(hash *chainhash.Hash, raw []byte) (shape, bool) {
	if len(raw) < headerSize || len(raw) > s.net.MaxBlockSize || chainhash.DoubleHashH(raw[:headerSize]) != *hash {
		return nil, false
	}
	ids, inputs, end, err := consensus.ListInputs(raw, headerSize)
	if err != nil || end != len(raw) || len(ids) == 0 {
		return nil, false
	}
	root, repeated := consensus.MerkleRoot(ids)
	if repeated || root != chainhash.Hash(raw[36:36+chainhash.HashSize]) {
		return nil, false
	}
	return inputs, true
}

// askBlock asks Core for a block. from is to count it.
func (s *source) askBlock(hash *chainhash.Hash) (raw []byte, from counter, err error) {
	if s.rest.Load() {
		raw, err = s.core.Block(s.ctx, hash)
		if !errors.Is(err, corenode.ErrNoREST) {
			return raw, &s.counts.blocks.rest, err
		}
		s.noREST()
	}
	var text string
	if err = s.core.Call(s.ctx, &text, "getblock", hash.String(), 0); err != nil {
		return nil, nil, err
	}
	if raw, err = hex.DecodeString(text); err != nil {
		return nil, nil, fmt.Errorf("%w: block", corenode.ErrReply)
	}
	return raw, &s.counts.blocks.rpc, nil
}

// A counter counts.
type counter interface{ Add(n int64) int64 }

// readError turns an error of asking Core for a block into an error of
// [chainview.Reader]. Most errors are [chainview.ErrNotYet]: Core may give the block
// later, when Core is back, has caught up or was mended.
func (s *source) readError(hash *chainhash.Hash, err error) error {
	as := chainview.ErrNotYet
	var answer *corenode.Error
	switch {
	case s.ctx.Err() != nil:
		as = chainview.ErrClosed
	case errors.Is(err, corenode.ErrAway):
		err = refusal{err}
	case errors.As(err, &answer) && (strings.Contains(answer.Message, "pruned data") ||
		strings.Contains(answer.Message, "undo not available") && s.isPruned(hash)):
		as = chainview.ErrPruned
	case errors.As(err, &answer) && !s.isActive(hash):
		as = chainview.ErrNotFound // Core has forgotten a block that left its chain
	}
	return fmt.Errorf("block %v: %w: %w", hash, as, err)
}

func (s *source) isPruned(hash *chainhash.Hash) bool {
	b := s.tree.Lookup(hash)
	return b != nil && b.Status()&chainview.Pruned != 0
}

func (s *source) isActive(hash *chainhash.Hash) bool {
	b := s.tree.Lookup(hash)
	return b != nil && s.tree.Active().Contains(b)
}

// countTxs asks Core how many transactions a block has.
func (s *source) countTxs(b *chainview.Block) (int, error) {
	var header struct {
		Txs int `json:"nTx"`
	}
	if err := s.core.Call(s.ctx, &header, "getblockheader", b.Hash.String(), true); err != nil {
		return 0, s.readError(&b.Hash, err)
	}
	if header.Txs <= 0 {
		return 0, fmt.Errorf("block %v: %w", b.Hash, chainview.ErrNotFound)
	}
	s.learned.set(b, blockSize{txs: uint32(header.Txs)})
	return header.Txs, nil
}

// maxFilter bounds a filter in bytes: the elements of a block of 4 MB have fewer.
const maxFilter = 4 << 20

// coreFilter asks Core for its own filter of a block.
func (s *source) coreFilter(hash *chainhash.Hash) ([]byte, attachdb.Source, error) {
	filter, source, from, err := s.askFilter(hash)
	if err != nil {
		return nil, 0, s.filterError(hash, err)
	}
	if _, err := filters.Decode(filter); err != nil || len(filter) > maxFilter {
		return nil, 0, s.filterError(hash, fmt.Errorf("%w: filter", corenode.ErrReply))
	}
	from.Add(1)
	return filter, source, nil
}

func (s *source) askFilter(hash *chainhash.Hash) ([]byte, attachdb.Source, counter, error) {
	if s.rest.Load() {
		filter, err := s.core.BlockFilter(s.ctx, hash)
		if !errors.Is(err, corenode.ErrNoREST) {
			return filter, attachdb.CoreREST, &s.counts.filters.rest, err
		}
		s.noREST()
	}
	var answer struct {
		Filter string `json:"filter"`
	}
	if err := s.core.Call(s.ctx, &answer, "getblockfilter", hash.String()); err != nil {
		return nil, 0, nil, err
	}
	filter, err := hex.DecodeString(answer.Filter)
	if err != nil {
		err = fmt.Errorf("%w: filter", corenode.ErrReply)
	}
	return filter, attachdb.CoreRPC, &s.counts.filters.rpc, err
}

// filterError is readError for a filter, which Core's index may be about to have.
func (s *source) filterError(hash *chainhash.Hash, err error) error {
	if s.ctx.Err() != nil {
		return fmt.Errorf("filter of block %v: %w: %w", hash, chainview.ErrClosed, err)
	}
	return fmt.Errorf("filter of block %v: %w: %w", hash, chainview.ErrNotYet, err)
}
