package blocktree

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/btcsuite/btcd/btcutil"
	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/txscript"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/consensus"
)

// A block is a block that the test has made. Whether it is valid is not known.
type block struct {
	parent *block
	hash   chainhash.Hash
	height int32
	time   uint32
	raw    []byte
	head   int   // of which header, with the payload of merged mining
	outs   []out // that its transactions make
	sent   bool  // the whole block, not its header alone
}

func (b *block) hex() string { return hex.EncodeToString(b.raw) }

// An out is an output that a later transaction may try to spend.
type out struct {
	point wire.OutPoint
	value int64
	kind  int
}

// maker makes blocks by chance.
type maker struct {
	*rand.Rand
	chain *chain
	made  uint32
	spent map[wire.OutPoint]bool // what was tried, mostly
}

func (c *chain) root() *block {
	b := c.genesis
	return &block{hash: b.BlockHash(), time: uint32(b.Header.Timestamp.Unix()), sent: true}
}

// The forms of outputs.
const (
	anyone = iota
	witnessAnyone
	hashAnyone
	nestedAnyone
	never
	cutShort
	returns
	waits
	locks
	sigOps
	unknownWitness
	forms
)

var (
	truth   = []byte{txscript.OP_TRUE}
	program = func() []byte {
		h := sha256.Sum256(truth)
		return append([]byte{0, 32}, h[:]...)
	}()
	sigOpScript = append(bytes.Repeat([]byte{txscript.OP_CHECKSIG}, 15), txscript.OP_TRUE)
)

func toHash(script []byte) []byte {
	return append(append([]byte{txscript.OP_HASH160, 20}, btcutil.Hash160(script)...), txscript.OP_EQUAL)
}

func payTo(form int) []byte {
	switch form {
	case witnessAnyone:
		return program
	case hashAnyone:
		return toHash(truth)
	case nestedAnyone:
		return toHash(program)
	case never:
		return []byte{txscript.OP_FALSE}
	case cutShort:
		return []byte{txscript.OP_TRUE, txscript.OP_PUSHDATA1}
	case returns:
		return []byte{txscript.OP_RETURN, 1, 1}
	case waits:
		return []byte{txscript.OP_2, txscript.OP_CHECKSEQUENCEVERIFY}
	case locks:
		return []byte{txscript.OP_5, txscript.OP_CHECKLOCKTIMEVERIFY}
	case sigOps:
		return toHash(sigOpScript)
	case unknownWitness:
		return append([]byte{txscript.OP_5, 20}, make([]byte, 20)...)
	}
	return truth
}

// unlock fills in what an input shows for an output.
func unlock(in *wire.TxIn, form int) {
	push := func(data []byte) []byte { return append([]byte{byte(len(data))}, data...) }
	switch form {
	case witnessAnyone:
		in.Witness = wire.TxWitness{truth}
	case hashAnyone:
		in.SignatureScript = push(truth)
	case nestedAnyone:
		in.SignatureScript, in.Witness = push(program), wire.TxWitness{truth}
	case sigOps:
		in.SignatureScript = push(sigOpScript)
	}
}

// coin picks an output of a block or of an earlier block, mostly a spendable
// output.
func (m *maker) coin(from *block) (o out, ok bool) {
	back, coinbase := m.IntN(8), m.IntN(3) > 0
	if coinbase && m.IntN(20) > 0 {
		back = m.chain.maturity - 1 + m.IntN(30)
	}
	for ; back > 0 && from.parent != nil; back-- {
		from = from.parent
	}
	for ; from != nil; from = from.parent {
		if coinbase && len(from.outs) > 0 {
			o, ok = from.outs[0], true
		} else if len(from.outs) > 1 {
			o, ok = from.outs[1+m.IntN(len(from.outs)-1)], true
		}
		if ok && (!m.spent[o.point] || m.IntN(20) == 0) {
			m.spent[o.point] = m.IntN(3) > 0
			return o, true
		}
	}
	return o, false
}

// tx spends some outputs, most of them rightly.
func (m *maker) tx(parent *block, earlier []out) (*wire.MsgTx, []out) {
	tx := wire.NewMsgTx(int32(1 + m.IntN(2)))
	sum := int64(0)
	for range 1 + m.IntN(2) {
		o, ok := m.coin(parent)
		if len(earlier) > 0 && m.IntN(3) == 0 {
			o, ok = earlier[m.IntN(len(earlier))], true
		}
		for _, other := range tx.TxIn {
			ok = ok && (other.PreviousOutPoint != o.point || m.IntN(20) == 0)
		}
		if !ok || (o.kind == never || o.kind == cutShort || o.kind == returns) && m.IntN(8) > 0 {
			continue
		}
		in := &wire.TxIn{PreviousOutPoint: o.point, Sequence: math.MaxUint32}
		if m.IntN(60) > 0 {
			m.unlock(in, o.kind)
		}
		if o.kind == waits && m.IntN(4) > 0 {
			tx.Version, in.Sequence = 2, 2
		}
		if o.kind == locks && m.IntN(4) > 0 {
			tx.LockTime, in.Sequence = 5, 0
		}
		m.lock(tx, in, parent)
		tx.AddTxIn(in)
		sum += o.value
	}
	if len(tx.TxIn) == 0 {
		return nil, nil
	}
	n := 1 + m.IntN(3)
	fee := int64(m.IntN(1000))
	if m.IntN(100) == 0 {
		fee = -1
	}
	var forms []int
	for range n {
		form := m.form()
		forms = append(forms, form)
		value := (sum - fee) / int64(n)
		switch m.IntN(400) {
		case 0:
			value = -1
		case 1:
			value = 21e14 + int64(m.IntN(2))
		}
		tx.AddTxOut(wire.NewTxOut(value, m.pay(form)))
	}
	return tx, outsOf(tx, forms)
}

// lock sets lock times, of which some have not passed.
func (m *maker) lock(tx *wire.MsgTx, in *wire.TxIn, parent *block) {
	switch m.IntN(40) {
	case 0:
		in.Sequence = uint32(m.IntN(4))
	case 1:
		in.Sequence = 1<<22 | uint32(m.IntN(4))
	case 2:
		tx.LockTime, in.Sequence = uint32(parent.height+int32(m.IntN(4))-2), 0xfffffffe
	case 3:
		tx.LockTime, in.Sequence = parent.time-uint32(m.IntN(6000)), 0xfffffffe
	}
}

func (m *maker) form() int {
	if m.IntN(2) == 0 {
		return anyone
	}
	return m.IntN(forms)
}

func outsOf(tx *wire.MsgTx, kinds []int) (outs []out) {
	id := tx.TxHash()
	for i, kind := range kinds {
		outs = append(outs, out{wire.OutPoint{Hash: id, Index: uint32(i)}, tx.TxOut[i].Value, kind})
	}
	return outs
}

// on makes a block. Of many one breaks a rule, most of the others by their
// transactions alone.
func (m *maker) on(parent *block) *block {
	m.made++
	b := &block{parent: parent, height: parent.height + 1, time: parent.time + 60 + uint32(m.IntN(600))}
	msg := &wire.MsgBlock{Header: wire.BlockHeader{
		Version: 0x20000000, PrevBlock: parent.hash, Bits: 0x207fffff, Timestamp: time.Unix(int64(b.time), 0),
	}}
	coinbase := m.coinbase(b.height)
	msg.Transactions = []*wire.MsgTx{coinbase}
	b.outs = outsOf(coinbase, []int{anyone})
	if m.grown(parent) {
		var earlier []out
		for range m.IntN(5) {
			if tx, outs := m.tx(parent, earlier); tx != nil {
				msg.Transactions = append(msg.Transactions, tx)
				earlier = append(earlier, outs...)
			}
		}
		b.outs = append(b.outs, earlier...)
	}
	if m.IntN(3) == 0 || hasWitness(msg) {
		commit(msg)
	}
	msg.Header.MerkleRoot = rootOf(msg)
	unsolved := false
	if m.grown(parent) && m.IntN(5) == 0 {
		unsolved = m.spoil(msg, parent)
		b.time = uint32(msg.Header.Timestamp.Unix())
	}
	m.finish(b, msg, unsolved)
	return b
}

// grown reports whether a chain is so long that its first coinbases can be spent. Blocks before break no rule.
func (m *maker) grown(tip *block) bool { return int(tip.height) > m.chain.maturity }

func (m *maker) coinbase(height int32) *wire.MsgTx {
	sig, err := txscript.NewScriptBuilder().AddInt64(int64(height)).AddData(binary.LittleEndian.AppendUint32(
		nil, m.made,
	)).Script()
	if err != nil {
		panic(err)
	}
	tx := wire.NewMsgTx(2)
	tx.AddTxIn(&wire.TxIn{
		PreviousOutPoint: wire.OutPoint{Index: math.MaxUint32}, SignatureScript: sig, Sequence: math.MaxUint32,
	})
	tx.AddTxOut(wire.NewTxOut(int64(m.chain.subsidy(height)), m.pay(anyone)))
	return tx
}

func hasWitness(b *wire.MsgBlock) bool {
	for _, tx := range b.Transactions {
		if tx.HasWitness() {
			return true
		}
	}
	return false
}

func rootOf(b *wire.MsgBlock) chainhash.Hash {
	ids := make([]chainhash.Hash, len(b.Transactions))
	for i, tx := range b.Transactions {
		ids[i] = tx.TxHash()
	}
	root, _ := consensus.MerkleRoot(ids)
	return root
}

// commit has the coinbase commit to the witnesses.
func commit(b *wire.MsgBlock) {
	ids := make([]chainhash.Hash, len(b.Transactions))
	for i, tx := range b.Transactions {
		ids[i] = tx.WitnessHash()
	}
	ids[0] = chainhash.Hash{}
	root, _ := consensus.MerkleRoot(ids)
	nonce := make([]byte, 32)
	hash := chainhash.DoubleHashB(append(root[:], nonce...))
	b.Transactions[0].TxIn[0].Witness = wire.TxWitness{nonce}
	b.Transactions[0].AddTxOut(wire.NewTxOut(0, append([]byte{0x6a, 0x24, 0xaa, 0x21, 0xa9, 0xed}, hash...)))
}

// finish solves a block, or sees to it that it is not.
func (m *maker) finish(b *block, msg *wire.MsgBlock, unsolved bool) {
	merged := m.chain.qbit && m.grown(b.parent) && msg.Header.Version == 0x20000000 && m.IntN(3) == 0
	if merged {
		msg.Header.Version = mergedVersion
	}
	var raw bytes.Buffer
	if err := msg.Serialize(&raw); err != nil {
		panic(err)
	}
	b.raw, b.head = raw.Bytes(), wire.MaxBlockHeaderPayload
	if merged {
		b.hash = msg.BlockHash()
		payload := m.mergeMine(b.hash, unsolved)
		b.raw = slices.Concat(b.raw[:b.head], payload, b.raw[b.head:])
		b.head += len(payload)
		return
	}
	for n := uint32(0); ; n++ {
		binary.LittleEndian.PutUint32(b.raw[76:], n)
		b.hash = chainhash.DoubleHashH(b.raw[:80])
		if (b.hash[31] <= 0x7f) != unsolved {
			return
		}
	}
}
