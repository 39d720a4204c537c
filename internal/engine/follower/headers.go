package follower

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/corenode"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/store/attachdb"
)

const (
	// maxWalk is how many headers are asked for one by one, from the tip down.
	// If more are missing, they are asked for by the thousand, from the known
	// headers up.
	maxWalk = 24

	// batchHeaders is how many are asked for at once where REST has none.
	batchHeaders = 500
)

// learn returns the block with a hash, which is or was Core's tip at about a height. It
// and its ancestors are in the tree then. Where Core's chain has changed meanwhile the
// error is [errUnlinked].
func (e *Engine) learn(ctx context.Context, hash chainhash.Hash, height int32) (*chainview.Block, error) {
	if b := e.tree.Lookup(&hash); b != nil {
		return b, nil
	}
	if height-e.head.Height > maxWalk {
		if err := e.learnUp(ctx); err != nil {
			return nil, err
		}
	}
	b, err := e.learnDown(ctx, hash)
	if errors.Is(err, errUnlinked) { // it left the branch further down
		if err := e.learnUp(ctx); err != nil {
			return nil, err
		}
		b, err = e.learnDown(ctx, hash)
	}
	return b, err
}

// learnDown asks for the headers of a block and of its ancestors until one is known.
func (e *Engine) learnDown(ctx context.Context, hash chainhash.Hash) (*chainview.Block, error) {
	var unknown []wire.BlockHeader
	for at := hash; e.tree.Lookup(&at) == nil; {
		if len(unknown) == maxWalk {
			return nil, fmt.Errorf("header %v: %w", at, errUnlinked)
		}
		var text string
		if err := e.core.Call(ctx, &text, "getblockheader", at.String(), false); err != nil {
			return nil, err
		}
		h, err := parseHeader(text)
		if err != nil {
			return nil, err
		}
		if h.BlockHash() != at {
			return nil, fmt.Errorf("%w: header %v is another's", corenode.ErrReply, at)
		}
		unknown = append(unknown, h)
		at = h.PrevBlock
	}
	for i := range slices.Backward(unknown) {
		if err := e.learnHeader(&unknown[i]); err != nil {
			return nil, err
		}
	}
	return e.tree.Lookup(&hash), nil
}

func parseHeader(text string) (wire.BlockHeader, error) {
	raw, err := hex.DecodeString(text)
	if err != nil || len(raw) != headerSize {
		return wire.BlockHeader{}, fmt.Errorf("%w: header", corenode.ErrReply)
	}
	return readHeader(raw), nil
}

// learnHeader puts a header into the tree, and among those that are to be stored. Its
// block is the new head of Core's chain.
func (e *Engine) learnHeader(h *wire.BlockHeader) error {
	b, err := e.add(h)
	if err != nil {
		return err
	}
	if b.Order == 0 && b.Parent != nil {
		e.numbers.Lock()
		b.Order = int64(e.store.Count()) + int64(len(e.adding)) + 1
		e.numbers.Unlock()
		remote := attachdb.Place{File: attachdb.Remote}
		e.adding = append(e.adding, attachdb.Block{Header: writeHeader(h), Place: remote})
	}
	e.head = b
	return nil
}

// learnUp asks for the headers of Core's active chain from the last one on that is known,
// and stores them as they come.
func (e *Engine) learnUp(ctx context.Context) error {
	e.state.enter(e, messages.AttachHeaders, nil)
	at, above, err := e.common(ctx)
	for err == nil && len(above) > 0 {
		for i := range above {
			if above[i].PrevBlock != at.Hash {
				return fmt.Errorf("header after %v: %w", at.Hash, errUnlinked)
			}
			if err := e.learnHeader(&above[i]); err != nil {
				return err
			}
			at = e.head
		}
		if err := e.flush(nil); err != nil {
			return err
		}
		above, err = e.headersAbove(ctx, at)
	}
	if errors.Is(err, errNotActive) {
		return fmt.Errorf("%w: %w", err, errUnlinked)
	}
	return err
}

// errNotActive reports a block that is not in Core's active chain.
var errNotActive = errors.New("it is not in Bitcoin Core's chain")

// common returns the last known block of Core's active chain, or one not far before it,
// and headers that follow it.
func (e *Engine) common(ctx context.Context) (*chainview.Block, []wire.BlockHeader, error) {
	at := e.head
	for step := int32(1); ; step *= 2 {
		above, err := e.headersAbove(ctx, at)
		if !errors.Is(err, errNotActive) || at.Parent == nil {
			return at, above, err
		}
		at = at.Ancestor(max(0, at.Height-step))
	}
}

// headersAbove returns headers of Core's active chain that follow a block of it, none
// after the last. The error is [errNotActive] where the block is not in it.
func (e *Engine) headersAbove(ctx context.Context, b *chainview.Block) ([]wire.BlockHeader, error) {
	if e.source.rest.Load() {
		raw, err := e.core.Headers(ctx, &b.Hash, corenode.MaxHeaders)
		var answer *corenode.Error
		switch {
		case errors.As(err, &answer) && !errors.Is(err, corenode.ErrAway):
			return nil, errNotActive // the block is unknown
		case errors.Is(err, corenode.ErrNoREST):
			e.source.noREST()
		case err != nil:
			return nil, err
		case len(raw) == 0:
			return nil, errNotActive
		default:
			return parseHeaders(raw, &b.Hash)
		}
	}
	return e.headersByRPC(ctx, b)
}

// parseHeaders reads serialized headers, the first of which is that of a block.
func parseHeaders(raw []byte, from *chainhash.Hash) ([]wire.BlockHeader, error) {
	headers := make([]wire.BlockHeader, 0, len(raw)/headerSize)
	for ; len(raw) >= headerSize; raw = raw[headerSize:] {
		headers = append(headers, readHeader(raw))
	}
	if len(raw) != 0 || len(headers) == 0 || headers[0].BlockHash() != *from {
		return nil, fmt.Errorf("%w: headers", corenode.ErrReply)
	}
	return headers[1:], nil
}

func (e *Engine) headersByRPC(ctx context.Context, b *chainview.Block) ([]wire.BlockHeader, error) {
	params := make([][]any, batchHeaders+1)
	for i := range params {
		params[i] = []any{b.Height + int32(i)}
	}
	hashes, errs, err := e.core.Batch(ctx, "getblockhash", params)
	if err != nil {
		return nil, err
	}
	n := 0 // of those that are not above the tip
	for n < len(hashes) && (errs == nil || errs[n] == nil) {
		n++
	}
	var first corenode.Hash
	if n == 0 {
		return nil, errNotActive
	}
	if err := json.Unmarshal(hashes[0], &first); err != nil {
		return nil, fmt.Errorf("%w: hash", corenode.ErrReply)
	}
	if chainhash.Hash(first) != b.Hash {
		return nil, errNotActive
	}
	params = params[:n-1]
	for i := range params {
		params[i] = []any{hashes[i+1], false}
	}
	texts, errs, err := e.core.Batch(ctx, "getblockheader", params)
	if err != nil {
		return nil, err
	}
	headers := make([]wire.BlockHeader, len(texts))
	for i := range texts {
		if errs != nil && errs[i] != nil {
			return nil, errs[i]
		}
		var text string
		if err := json.Unmarshal(texts[i], &text); err != nil {
			return nil, fmt.Errorf("%w: header", corenode.ErrReply)
		}
		if headers[i], err = parseHeader(text); err != nil {
			return nil, err
		}
	}
	return headers, nil
}
