package bitcoin

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/clock"
	"github.com/seed61375155/trawl/internal/consensus"
	"github.com/seed61375155/trawl/internal/consensus/script"
	"github.com/seed61375155/trawl/internal/dialect"
	"github.com/seed61375155/trawl/internal/engine/chainstate"
	"github.com/seed61375155/trawl/messages"
)

// rules implements chainstate.Headers and chainstate.Scripts.
type rules struct {
	net   *dialect.Network
	clock *clock.Clock
}

func reject(reason, debug string) error {
	return &messages.RejectError{Reason: reason, Debug: debug}
}

var errHeader = errors.New("malformed header")

// Read implements chainstate.Headers.
func (rules) Read(raw []byte) (h *chainstate.Header, size int, err error) {
	if len(raw) < wire.MaxBlockHeaderPayload {
		return nil, 0, errHeader
	}
	return readHeader(raw), wire.MaxBlockHeaderPayload, nil
}

// readHeader reads the header that raw begins with.
func readHeader(raw []byte) *chainstate.Header {
	h := &chainstate.Header{Hash: chainhash.DoubleHashH(raw[:wire.MaxBlockHeaderPayload])}
	h.Version = int32(binary.LittleEndian.Uint32(raw))
	h.PrevBlock, h.MerkleRoot = chainhash.Hash(raw[4:]), chainhash.Hash(raw[36:])
	h.Timestamp = time.Unix(int64(binary.LittleEndian.Uint32(raw[68:])), 0)
	h.Bits, h.Nonce = binary.LittleEndian.Uint32(raw[72:]), binary.LittleEndian.Uint32(raw[76:])
	return h
}

// CheckWork implements chainstate.Headers.
func (r rules) CheckWork(h *chainstate.Header, work bool) error {
	if work && !consensus.MeetsTarget(&h.Hash, h.Bits, r.net.Params.PowLimit) {
		return reject("high-hash", "proof of work failed")
	}
	return nil
}

// CheckAgain implements chainstate.Headers: no header has a payload.
func (rules) CheckAgain(*chainstate.Header, int32) error { return nil }

// maxFuture is how many seconds a block may be ahead of the clock.
const maxFuture = 2 * 60 * 60

// Check implements chainstate.Headers (Core's ContextualCheckBlockHeader).
func (r rules) Check(h *chainstate.Header, parent *chainview.Block) error {
	height, time := parent.Height+1, h.Timestamp.Unix()
	switch {
	case h.Bits != r.net.NextBits(parent, time):
		return reject("bad-diffbits", "incorrect proof of work")
	case time <= parent.MedianTimePast():
		return reject("time-too-old", "block's timestamp is too early")
	case r.net.TooEarly(parent, time):
		return reject("time-timewarp-attack", "block's timestamp is too early on diff adjustment block")
	case time > r.clock.Now().Unix()+maxFuture:
		return reject("time-too-new", "block timestamp too far in the future")
	}
	if r.net.OldVersion(h.Version, height) {
		version := uint32(h.Version)
		return reject(
			fmt.Sprintf("bad-version(0x%08x)", version), fmt.Sprintf("rejected nVersion=0x%08x block", version),
		)
	}
	return nil
}

// Added implements chainstate.Headers: nothing is kept.
func (rules) Added(*chainview.Block, *chainstate.Header) {}

// Flags implements chainstate.Scripts.
func (r rules) Flags(at *chainview.Block) script.Flags { return r.net.BlockFlags(at) }

// Spend implements chainstate.Scripts.
func (rules) Spend(tx *wire.MsgTx, spent []*wire.TxOut, _ *chainview.Block) chainstate.Spend {
	return script.NewSpend(tx, spent)
}

// everRepeats is the height from which on coinbases of before BIP34 may name the
// height that they are at.
const everRepeats = 1983702

// Repeats implements chainstate.Scripts. No transaction repeats another where all
// coinbases name their heights.
func (r rules) Repeats(at *chainview.Block) (forbidden, possible bool) {
	forbidden = r.mustNotRepeat(at)
	return forbidden, forbidden && !r.net.Active("bip34", 1)
}

// mustNotRepeat reports whether BIP30 is enforced for a block.
func (r rules) mustNotRepeat(at *chainview.Block) bool {
	if slices.Contains(r.net.RepeatedCoinbases, at.Hash) {
		return false // they were let pass
	}
	if at.Height >= everRepeats {
		return true
	}
	known := at.Parent.Ancestor(r.net.Params.BIP0034Height)
	return known == nil || r.net.BIP34Hash == chainhash.Hash{} || known.Hash != r.net.BIP34Hash
}
