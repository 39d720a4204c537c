package bitcoin

import (
	"encoding/binary"
	"errors"
	"slices"
	"time"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/consensus"
	"github.com/seed61375155/trawl/internal/consensus/script"
	"github.com/seed61375155/trawl/internal/engine/signet"
	"github.com/seed61375155/trawl/messages"
)

// A block is a block with what is computed of it once.
type block struct {
	*consensus.Txs

	raw    []byte
	hash   chainhash.Hash
	header wire.BlockHeader
	sigOps []int // legacy ones, by transaction; nil: not counted yet
}

var (
	errHeader   = errors.New("malformed header")
	errTrailing = errors.New("bytes after the end of the block")
)

// readBlock reads a serialized block and nothing after it.
func readBlock(raw []byte) (*block, error) {
	b := &block{raw: raw}
	if !readHeader(&b.header, raw) {
		return nil, errHeader
	}
	b.hash = chainhash.DoubleHashH(raw[:wire.MaxBlockHeaderPayload])
	txs, end, err := consensus.ReadTxs(raw, wire.MaxBlockHeaderPayload)
	if err != nil {
		return nil, err
	}
	if end != len(raw) {
		return nil, errTrailing
	}
	b.Txs = txs
	return b, nil
}

// readHeader reads the header that raw begins with.
func readHeader(h *wire.BlockHeader, raw []byte) bool {
	if len(raw) < wire.MaxBlockHeaderPayload {
		return false
	}
	h.Version = int32(binary.LittleEndian.Uint32(raw))
	h.PrevBlock, h.MerkleRoot = chainhash.Hash(raw[4:]), chainhash.Hash(raw[36:])
	h.Timestamp = time.Unix(int64(binary.LittleEndian.Uint32(raw[68:])), 0)
	h.Bits, h.Nonce = binary.LittleEndian.Uint32(raw[72:]), binary.LittleEndian.Uint32(raw[76:])
	return true
}

// message is the block in btcd's form.
func (b *block) message() *wire.MsgBlock {
	return &wire.MsgBlock{Header: b.header, Transactions: b.List}
}

// weight counts a byte outside of the witnesses scale times.
func (b *block) weight(scale int64) int64 {
	return int64(wire.MaxBlockHeaderPayload+b.Stripped)*(scale-1) + int64(len(b.raw))
}

func reject(reason, debug string) error {
	return &messages.RejectError{Reason: reason, Debug: debug}
}

func badBlock(err error) error { return reject("bad-block", err.Error()) }

// check checks what of a block depends on nothing else (Core's CheckBlock), but for
// its proof of work.
func (e *Engine) check(b *block) error {
	root, repeated := consensus.MerkleRoot(b.IDs)
	if root != b.header.MerkleRoot {
		return reject("bad-txnmrklroot", "hashMerkleRoot mismatch")
	}
	if repeated {
		return reject("bad-txns-duplicate", "duplicate transaction")
	}
	limit, scale := e.rules.MaxWeight, e.rules.WitnessScale
	size := int64(wire.MaxBlockHeaderPayload + b.Stripped)
	if len(b.List) == 0 || int64(len(b.List))*scale > limit || size*scale > limit {
		return reject("bad-blk-length", "size limits failed")
	}
	if !consensus.IsCoinbase(b.List[0]) {
		return reject("bad-cb-missing", "first tx is not coinbase")
	}
	if slices.ContainsFunc(b.List[1:], consensus.IsCoinbase) {
		return reject("bad-cb-multiple", "more than one coinbase")
	}
	for i, tx := range b.List {
		if v := e.rules.CheckTx(tx); v != nil {
			return reject(v.Reason, "Transaction check failed (tx hash "+b.IDs[i].String()+") "+v.Debug)
		}
	}
	if int64(b.legacySigOps())*scale > e.rules.MaxSigOps {
		return reject("bad-blk-sigops", "out-of-bounds SigOpCount")
	}
	return nil
}

// checkSolved is check with the proof of work, or the signature of a signet.
func (e *Engine) checkSolved(b *block) error {
	if !e.solves(&b.hash, b.header.Bits) {
		return errHighHash
	}
	if c := e.net.SignetChallenge; c != nil && b.hash != *e.net.Params.GenesisHash && !signet.Signed(b.message(), c) {
		return reject("bad-signet-blksig", "signet block signature validation failure")
	}
	return e.check(b)
}

// legacySigOps counts the signature operations in the transactions' own scripts.
func (b *block) legacySigOps() (sum int) {
	if b.sigOps == nil {
		b.sigOps = make([]int, len(b.List))
		for i, tx := range b.List {
			b.sigOps[i] = script.LegacySigOps(tx)
		}
	}
	for _, n := range b.sigOps {
		sum += n
	}
	return sum
}
