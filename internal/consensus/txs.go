package consensus

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"
)

// Txs are the transactions of a block, and what is computed of them once. Their
// scripts are parts of the bytes that they were read from.
type Txs struct {
	List       []*wire.MsgTx
	IDs        []chainhash.Hash
	WitnessIDs []chainhash.Hash
	Stripped   int  // size in bytes without witnesses, the count of transactions included
	Inputs     int  // of all of them
	HasWitness bool // whether any has a witness

	judged     bool // JudgeWitnesses was called
	commitment *Violation
}

// ErrMalformed reports bytes that are no list of transactions.
var ErrMalformed = errors.New("malformed transactions")

// minTxSize is the size of a transaction without inputs and outputs.
const minTxSize = 10

// reader reads the forms of the network's messages. After a failure it gives
// zeros.
type reader struct {
	raw    []byte
	at     int
	failed bool
}

func (r *reader) take(n int) []byte {
	if r.failed || n > len(r.raw)-r.at {
		r.failed = true
		return nil
	}
	b := r.raw[r.at : r.at+n : r.at+n]
	r.at += n
	return b
}

func (r *reader) uint32() uint32 {
	if b := r.take(4); b != nil {
		return binary.LittleEndian.Uint32(b)
	}
	return 0
}

// size reads a CompactSize in its shortest form, of something of which each takes a
// byte at least.
func (r *reader) size() int {
	b := r.take(1)
	if b == nil {
		return 0
	}
	n, least := uint64(b[0]), uint64(0)
	switch b[0] {
	case 0xfd:
		if b = r.take(2); b != nil {
			n, least = uint64(binary.LittleEndian.Uint16(b)), 0xfd
		}
	case 0xfe:
		if b = r.take(4); b != nil {
			n, least = uint64(binary.LittleEndian.Uint32(b)), 1<<16
		}
	case 0xff: // 4 GiB at least
		r.failed = true
		return 0
	}
	if n < least || n > uint64(len(r.raw)) {
		r.failed = true
		return 0
	}
	return int(n)
}

// txReader reads transactions into memory for all of them at once.
type txReader struct {
	reader
	*Txs
	txs     []wire.MsgTx
	ins     []wire.TxIn
	outs    []wire.TxOut
	extents []extent
	base    []byte // of a transaction without witnesses
}

// extent is where the inputs and outputs of a transaction end.
type extent struct{ ins, outs int }

// ReadTxs reads the count of transactions and the transactions that stand in raw
// from at on, and returns where they end. Anything that Bitcoin Core does not read
// is [ErrMalformed]. raw must not change afterwards.
func ReadTxs(raw []byte, at int) (txs *Txs, end int, err error) {
	r := &txReader{reader: reader{raw: raw, at: at}, Txs: new(Txs)}
	n := r.size()
	if r.failed || n > (len(raw)-r.at)/minTxSize {
		return nil, 0, ErrMalformed
	}
	r.txs = make([]wire.MsgTx, n)
	r.extents = make([]extent, n)
	r.IDs, r.WitnessIDs = make([]chainhash.Hash, n), make([]chainhash.Hash, n)
	r.Stripped = r.at - at
	for i := range n {
		if r.read(i); r.failed {
			return nil, 0, ErrMalformed
		}
	}
	r.link()
	return r.Txs, r.at, nil
}

func (r *txReader) read(i int) {
	start := r.at
	tx := &r.txs[i]
	tx.Version = int32(r.uint32())
	body := r.at
	inputs := r.size()
	witness := false
	if inputs == 0 {
		// Either the mark of a transaction with witnesses, or no outputs follow.
		flag := r.take(1)
		if r.failed || flag[0] > 1 {
			r.failed = true
			return
		}
		if witness = flag[0] == 1; witness {
			body = r.at
			inputs = r.size()
		}
	}
	first := len(r.ins)
	if inputs > 0 || witness {
		r.readInputs(inputs)
		r.readOutputs()
	}
	tail := r.at
	if witness {
		r.readWitnesses(first)
	}
	tx.LockTime = r.uint32()
	r.extents[i] = extent{len(r.ins), len(r.outs)}
	if r.failed {
		return
	}
	r.hash(i, witness, start, body, tail)
}

func (r *txReader) readInputs(n int) {
	for ; n > 0 && !r.failed; n-- {
		var in wire.TxIn
		if b := r.take(chainhash.HashSize + 4); b != nil {
			in.PreviousOutPoint.Hash = chainhash.Hash(b)
			in.PreviousOutPoint.Index = binary.LittleEndian.Uint32(b[chainhash.HashSize:])
		}
		in.SignatureScript = r.take(r.size())
		in.Sequence = r.uint32()
		r.ins = append(r.ins, in)
	}
}

func (r *txReader) readOutputs() {
	for n := r.size(); n > 0 && !r.failed; n-- {
		var out wire.TxOut
		if b := r.take(8); b != nil {
			out.Value = int64(binary.LittleEndian.Uint64(b))
		}
		out.PkScript = r.take(r.size())
		r.outs = append(r.outs, out)
	}
}

// readWitnesses reads the witnesses of the inputs from first on. It fails if all of
// them are empty: such a transaction has no witness.
func (r *txReader) readWitnesses(first int) {
	found := false
	for i := first; i < len(r.ins) && !r.failed; i++ {
		n := r.size()
		if n == 0 {
			continue
		}
		found = true
		items := make(wire.TxWitness, 0, min(n, 16))
		for ; n > 0 && !r.failed; n-- {
			items = append(items, r.take(r.size()))
		}
		r.ins[i].Witness = items
	}
	if !found {
		r.failed = true
	}
}

func (r *txReader) hash(i int, witness bool, start, body, tail int) {
	whole := r.raw[start:r.at]
	r.WitnessIDs[i] = doubleHash(whole)
	if !witness {
		r.IDs[i] = r.WitnessIDs[i]
		r.Stripped += len(whole)
		return
	}
	r.HasWitness = true
	r.base = append(r.base[:0], r.raw[start:start+4]...)
	r.base = append(r.base, r.raw[body:tail]...)
	r.base = append(r.base, r.raw[r.at-4:r.at]...)
	r.IDs[i] = doubleHash(r.base)
	r.Stripped += len(r.base)
}

// link gives the transactions their inputs and outputs, which lie still now.
func (r *txReader) link() {
	r.List = make([]*wire.MsgTx, len(r.txs))
	ins, outs := make([]*wire.TxIn, len(r.ins)), make([]*wire.TxOut, len(r.outs))
	for i := range ins {
		ins[i] = &r.ins[i]
	}
	for i := range outs {
		outs[i] = &r.outs[i]
	}
	var from extent
	for i, to := range r.extents {
		r.txs[i].TxIn = ins[from.ins:to.ins:to.ins]
		r.txs[i].TxOut = outs[from.outs:to.outs:to.outs]
		r.List[i] = &r.txs[i]
		from = to
	}
	r.Inputs = len(ins)
}

func doubleHash(b []byte) chainhash.Hash {
	first := sha256.Sum256(b)
	return sha256.Sum256(first[:])
}

// MerkleRoot returns the root over hashes, and whether two nodes beside each other
// are the same: then a shorter list has that root too.
func MerkleRoot(hashes []chainhash.Hash) (root chainhash.Hash, repeated bool) {
	if len(hashes) == 0 {
		return root, false
	}
	level := append(make([]chainhash.Hash, 0, len(hashes)+1), hashes...)
	var pair [2 * chainhash.HashSize]byte
	for len(level) > 1 {
		for i := 0; i+1 < len(level); i += 2 {
			repeated = repeated || level[i] == level[i+1]
		}
		if len(level)%2 != 0 {
			level = append(level, level[len(level)-1])
		}
		for i := 0; i < len(level); i += 2 {
			copy(pair[:], level[i][:])
			copy(pair[chainhash.HashSize:], level[i+1][:])
			level[i/2] = doubleHash(pair[:])
		}
		level = level[:len(level)/2]
	}
	return level[0], repeated
}
