// Package synth generates block chains to measure with: regtest chains of any
// size, the same bytes for the same seed.
//
// A block holds nothing but a coinbase with many outputs of different scripts,
// so that its filter is as large as wanted and nothing has to be signed. The
// blocks are valid: height in the coinbase (BIP34), merkle root, proof of work.
// Some pay to a script that scans look for, see [Planted].
package synth

import (
	"cmp"
	"encoding/binary"
	"io"
	"iter"
	"time"

	"github.com/btcsuite/btcd/chaincfg"
	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/consensus"
)

// Chain chooses a chain.
type Chain struct {
	Seed    uint64
	Blocks  int // above the genesis block
	Outputs int // of each block; at most about 100,000 fit into one

	// Interval is the time between blocks; 0: ten minutes, of which some 800,000 fit
	// between the first block of regtest and now.
	Interval time.Duration
}

// A Block is one block of a chain.
type Block struct {
	Height int
	Hash   chainhash.Hash
	Raw    []byte // serialized; valid until the next block is made
}

const (
	// queries is how many of the scripts to look for are planted.
	queries = 10

	// plantEvery is how often a block pays to one of them, and plantAt which
	// block of so many does.
	plantEvery, plantAt = 50, 7

	// querySalt tells the seed of the scripts to look for from that of the
	// scripts in the blocks.
	querySalt = 0x5155455259
)

// Planted returns the index of the query that the block at a height pays to, -1
// for none: one block of 50 pays to one of the first 10.
func Planted(height int) int {
	if height%plantEvery != plantAt {
		return -1
	}
	return height / plantEvery % queries
}

// Queries returns the first n scripts to look for. All but the planted ones are
// nowhere in the chain.
func (c Chain) Queries(n int) [][]byte {
	scripts := make([][]byte, n)
	for i := range scripts {
		scripts[i] = c.appendQuery(nil, i)
	}
	return scripts
}

func (c Chain) appendQuery(dst []byte, n int) []byte {
	return appendScript(dst, mix(c.Seed)^querySalt, 0, uint64(n))
}

// All generates the blocks from height 1 on.
func (c Chain) All() iter.Seq[Block] {
	return func(yield func(Block) bool) {
		genesis := chaincfg.RegressionNetParams.GenesisBlock.Header
		prev, began := genesis.BlockHash(), genesis.Timestamp
		interval := cmp.Or(c.Interval, 10*time.Minute)
		var raw []byte
		for height := 1; height <= c.Blocks; height++ {
			raw = c.appendBlock(raw[:0], height, prev, began.Add(time.Duration(height)*interval))
			prev = chainhash.DoubleHashH(raw[:wire.MaxBlockHeaderPayload])
			if !yield(Block{height, prev, raw}) {
				return
			}
		}
	}
}

// appendBlock appends a block with its proof of work.
func (c Chain) appendBlock(dst []byte, height int, prev chainhash.Hash, at time.Time) []byte {
	const headerLen = wire.MaxBlockHeaderPayload
	dst = append(dst, make([]byte, headerLen)...)
	dst = append(dst, 1) // transaction
	dst = c.appendCoinbase(dst, height)
	header := dst[:headerLen]
	root := chainhash.DoubleHashH(dst[headerLen+1:])
	binary.LittleEndian.PutUint32(header, 0x20000000)
	copy(header[4:], prev[:])
	copy(header[36:], root[:])
	binary.LittleEndian.PutUint32(header[68:], uint32(at.Unix()))
	binary.LittleEndian.PutUint32(header[72:], chaincfg.RegressionNetParams.PowLimitBits)
	solve(header)
	return dst
}

// solve finds the nonce; on regtest every other one will do.
func solve(header []byte) {
	limit := chaincfg.RegressionNetParams.PowLimit
	for nonce := uint32(0); ; nonce++ {
		binary.LittleEndian.PutUint32(header[76:], nonce)
		hash := chainhash.DoubleHashH(header)
		if consensus.HashNumber(&hash).Cmp(limit) <= 0 {
			return
		}
	}
}

// WriteTo writes the blocks in the form of a blk file, unobfuscated.
func (c Chain) WriteTo(w io.Writer) (int64, error) {
	var total int64
	for b := range c.All() {
		var prefix [8]byte
		binary.LittleEndian.PutUint32(prefix[:], uint32(chaincfg.RegressionNetParams.Net))
		binary.LittleEndian.PutUint32(prefix[4:], uint32(len(b.Raw)))
		for _, part := range [][]byte{prefix[:], b.Raw} {
			n, err := w.Write(part)
			total += int64(n)
			if err != nil {
				return total, err
			}
		}
	}
	return total, nil
}
