package blocks

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"slices"
	"time"

	"github.com/btcsuite/btcd/btcutil"
	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/cores"
	"github.com/seed61375155/trawl/internal/dialect"
	"github.com/seed61375155/trawl/internal/index"
	"github.com/seed61375155/trawl/internal/search"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/store/scriptindex"
)

// MaxHistoryBlocks is how many blocks are read for an answer at most.
const MaxHistoryBlocks = 100_000

const (
	// historyAhead is how many blocks are read ahead.
	historyAhead = 16

	// historyTries is how often an answer is begun again since blocks have left the chain meanwhile.
	historyTries = 20
)

// maxScript is how long a script can be that is spent from.
const maxScript = 10_000

// A ScriptReader implements [messages.Scripts]. The index proposes blocks, and the blocks decide: answers are
// exact for the chain up to the block that they name.
type ScriptReader struct {
	Index   *Scripts
	Network *dialect.Network
	Chain   *chainview.Current
	Keeper  *ask.Ref // the actor that keeps the index
	Most    int      // blocks that are read for an answer; 0: MaxHistoryBlocks
}

// History implements [messages.Scripts].
func (r *ScriptReader) History(ctx context.Context, q messages.GetScriptHistory) (p messages.ScriptPage, err error) {
	if q.Limit < 1 {
		return p, messages.ErrPageLimit
	}
	from, err := parseHistoryPlace(q.Cursor)
	if err != nil {
		return p, err
	}
	h, err := r.find(ctx, q.Script)
	if err != nil {
		return p, err
	}
	if q.Cursor != "" && !h.has(from) {
		return p, messages.ErrBadCursor
	}
	p = messages.ScriptPage{
		Entries: []messages.SearchEntry{}, Cursor: q.Cursor, Height: h.last.Height, Block: h.last.Hash,
	}
	err = h.each(ctx, from.height, func(b *chainview.Block, entries []search.Entry) bool {
		taken := 0
		if b.Height == from.height {
			taken = min(from.taken, len(entries))
		}
		for _, e := range entries[taken:] {
			if len(p.Entries) == q.Limit {
				p.More = true
				return false
			}
			taken++
			p.Entries = append(p.Entries, scriptEntry(b, &e, q.Script))
			p.Cursor = historyPlace{b.Height, taken, b.Hash}.text()
		}
		return true
	})
	if err != nil {
		return messages.ScriptPage{}, err
	}
	return p, nil
}

func scriptEntry(b *chainview.Block, e *search.Entry, script []byte) messages.SearchEntry {
	m := messages.SearchEntry{
		Type: messages.SearchReceive, Height: b.Height, Block: b.Hash, Time: time.Unix(b.Time().Unix(), 0),
		Amount: e.Amount, TxID: e.TxID, N: e.N, Script: script, Index: -1,
	}
	if e.Kind == search.Spend {
		m.Type, m.PrevTxID, m.PrevVout = messages.SearchSpend, e.Prev.Hash, e.Prev.Index
	}
	return m
}

// Balance implements [messages.Scripts].
func (r *ScriptReader) Balance(ctx context.Context, script []byte) (s messages.ScriptBalance, err error) {
	h, err := r.find(ctx, script)
	if err != nil {
		return s, err
	}
	lost := btcutil.Amount(0) // in outputs that can never be spent
	err = h.each(ctx, 0, func(b *chainview.Block, entries []search.Entry) bool {
		replaced := slices.Contains(r.Network.ReplacedCoinbases, b.Hash) // it has no other transaction
		for _, e := range entries {
			if e.Kind == search.Spend {
				s.Spends++
				s.Spent += btcutil.Amount(e.Amount)
				continue
			}
			s.Outputs++
			s.Received += btcutil.Amount(e.Amount)
			if replaced || len(script) > maxScript {
				lost += btcutil.Amount(e.Amount)
			}
		}
		return true
	})
	if err != nil {
		return messages.ScriptBalance{}, err
	}
	s.Balance, s.Height, s.Block = s.Received-s.Spent-lost, h.last.Height, h.last.Hash
	return s, nil
}

// A history is in which blocks a script may be, of the chain up to a block.
type history struct {
	reader  chainview.Reader
	net     *dialect.Network
	script  []byte
	last    *chainview.Block
	heights []int32 // ascending
}

// find looks a script up in an index that has all blocks of the chain.
func (r *ScriptReader) find(ctx context.Context, script []byte) (*history, error) {
	if !ScriptIndexed(script) {
		return nil, messages.ErrScriptUnspendable
	}
	hash := sha256.Sum256(script)
	most := r.Most
	if most == 0 {
		most = MaxHistoryBlocks
	}
	for range historyTries {
		reader := r.Chain.Open()
		if reader == nil {
			return nil, chainview.ErrNotReady
		}
		active := reader.Active()
		status, err := index.Status(ctx, r.Keeper)
		var found scriptindex.Found
		if err == nil && status.Synced {
			found, err = r.Index.store.Find(r.Index.store.KeyOf(&hash), most)
		}
		behind := &messages.ScriptIndexBehindError{Height: status.Height, Tip: active.Height()}
		switch err = scriptDamage(err); {
		case errors.Is(err, index.ErrDamaged):
			r.Keeper.Tell(index.Damaged{Err: err})
			behind.Height = -1
			return nil, behind // it is being built
		case errors.Is(err, ask.ErrAbsent):
			return nil, messages.ErrNoScriptIndex
		case err != nil:
			return nil, err
		case !status.Synced:
			return nil, behind
		}
		last := reader.Lookup(&found.Best.Hash)
		switch {
		case last == nil || !reader.Active().Contains(last): // blocks are leaving the chain
			continue
		case active.Contains(last) && last.Height < active.Height(): // the rest is not validated yet
			behind.Height = last.Height
			return nil, behind
		case found.Blocks > most:
			return nil, &messages.HistoryTooLargeError{Blocks: found.Blocks, Most: most}
		}
		return &history{chainview.Stored(reader), r.Network, script, last, found.Heights}, nil
	}
	return nil, messages.ErrTipMoved
}

// has reports whether a place is in a block of the chain.
func (h *history) has(at historyPlace) bool {
	b := h.last.Ancestor(at.height)
	return b != nil && b.Hash == at.block
}

// Find implements search.Finder.
func (h *history) Find(script []byte) (number int, ok bool) {
	return 0, string(script) == string(h.script)
}

// each visits the blocks from a height on that have entries, in the order of the chain, until visit returns false.
func (h *history) each(
	ctx context.Context, from int32, visit func(b *chainview.Block, entries []search.Entry) bool,
) error {
	type read struct {
		block   *chainview.Block
		entries []search.Entry
		err     error
	}
	next, _ := slices.BinarySearch(h.heights, max(from, 1)) // nobody can spend what the first block pays
	ahead := cores.StartPrefetch(historyAhead, historyAhead*fullBlock, func() (cores.Piece[read], bool) {
		if next == len(h.heights) || h.heights[next] > h.last.Height || ctx.Err() != nil {
			return cores.Piece[read]{}, false
		}
		b := h.last.Ancestor(h.heights[next])
		next++
		return cores.Piece[read]{Size: fullBlock, Work: func() read {
			entries, err := h.inBlock(&b.Hash)
			return read{b, entries, err}
		}}, true
	})
	defer ahead.Close()
	for {
		r, ok := ahead.Take(ctx.Done())
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case !ok || r.err != nil:
			return r.err
		case len(r.entries) > 0 && !visit(r.block, r.entries):
			return nil
		}
	}
}

// inBlock returns what a block has of the script.
func (h *history) inBlock(block *chainhash.Hash) ([]search.Entry, error) {
	memory, _ := rawBlocks.Get().(*[]byte)
	defer rawBlocks.Put(memory)
	raw, err := chainview.RawInto(h.reader, memory, block)
	if err != nil {
		return nil, err
	}
	spent, err := h.reader.Spent(block)
	if err != nil {
		return nil, err
	}
	return search.InRaw(raw, h.net.HeaderLen(raw), spent, h)
}

// A historyPlace is behind some entries of a block.
type historyPlace struct {
	height int32
	taken  int // entries of the block
	block  chainhash.Hash
}

const historyPlaceSize = 4 + 4 + chainhash.HashSize

func (p historyPlace) text() string {
	b := binary.BigEndian.AppendUint32(nil, uint32(p.height))
	b = binary.BigEndian.AppendUint32(b, uint32(p.taken))
	return hex.EncodeToString(append(b, p.block[:]...))
}

func parseHistoryPlace(text string) (p historyPlace, err error) {
	if text == "" {
		return p, nil
	}
	b, err := hex.DecodeString(text)
	if err != nil || len(b) != historyPlaceSize || b[0]|b[4] >= 1<<7 {
		return p, messages.ErrBadCursor
	}
	p.height, p.taken = int32(binary.BigEndian.Uint32(b)), int(binary.BigEndian.Uint32(b[4:]))
	copy(p.block[:], b[8:])
	return p, nil
}
