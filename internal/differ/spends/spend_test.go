package spends_test

import (
	"strings"

	"github.com/btcsuite/btcd/btcec/v2/ecdsa"
	"github.com/btcsuite/btcd/btcec/v2/schnorr"
	"github.com/btcsuite/btcd/txscript"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/consensus/script"
)

const (
	coinValue   = 100_000
	helperValue = 100_000
	fee         = 20_000
)

// A spend is a transaction one of whose inputs spends a coin; the others spend
// helpers, which anyone may.
type spend struct {
	coin    *coin
	tx      *wire.MsgTx
	spent   []*wire.TxOut
	index   int
	helpers []helper
	damaged bool
	types   []byte // hash types of its signatures
	stack   [][]byte
	annex   []byte
}

// A helper is an output that anyone may spend.
type helper struct {
	at wire.OutPoint
}

var anyone = []byte{txscript.OP_1}

// spend makes a right spend of a coin, as far as its script can be satisfied.
// helpers are at most two.
func (g *generator) spend(c *coin, height int32, helpers []helper) *spend {
	s := &spend{coin: c, tx: wire.NewMsgTx(int32(pick(g, 1, 2, 2, 2))), helpers: helpers}
	s.index = g.IntN(len(helpers) + 1)
	for i := range len(helpers) + 1 {
		in, out := wire.TxIn{Sequence: wire.MaxTxInSequenceNum}, wire.NewTxOut(helperValue, anyone)
		if i == s.index {
			in.PreviousOutPoint, out = c.at, c.out
		} else {
			at := helpers[0]
			helpers = helpers[1:]
			in.PreviousOutPoint = at.at
		}
		switch g.IntN(6) {
		case 0:
			in.Sequence = wire.MaxTxInSequenceNum - 1
		case 1:
			in.Sequence = 0
		case 2:
			in.Sequence = g.Uint32() | wire.SequenceLockTimeDisabled
		}
		s.tx.AddTxIn(&in)
		s.spent = append(s.spent, out)
	}
	if g.IntN(4) == 0 {
		s.tx.LockTime = uint32(g.IntN(int(height)))
	}
	total := int64(coinValue) + int64(len(s.tx.TxIn)-1)*helperValue - fee
	outs := 1 + g.IntN(3)
	for range outs {
		s.tx.AddTxOut(wire.NewTxOut(total/int64(outs), []byte{txscript.OP_1, 2, 0x4e, 0x73}))
	}
	if outs == 1 {
		s.tx.TxOut[0].PkScript = append([]byte{0, 20}, make([]byte, 20)...)
	}
	g.sign(s)
	return s
}

// hashType is a signature's hash type, mostly a defined type.
func (g *generator) hashType(c context) byte {
	defined := []byte{1, 1, 1, 2, 3, 0x81, 0x82, 0x83}
	if c >= tapscript {
		defined = append(defined, 0, 0, 0)
	}
	if g.IntN(20) < 11 {
		return pick(g, defined...)
	}
	return byte(g.Uint32())
}

// sign writes the coin's input.
func (g *generator) sign(s *spend) {
	c := s.coin
	if c.context >= tapscript && strings.HasPrefix(c.kind, "p2tr") && g.IntN(6) == 0 {
		s.annex = append([]byte{0x50}, g.bytes(g.IntN(30))...)
	}
	sp := script.NewSpend(s.tx, s.spent)
	s.stack = nil
	for _, item := range c.program.stack {
		if item.key == nil {
			s.stack = append(s.stack, item.data)
			continue
		}
		s.stack = append(s.stack, g.signature(s, sp, item))
	}
	if c.context == keyPath && c.signer == nil && g.IntN(2) == 0 {
		for range g.IntN(3) {
			s.stack = append(s.stack, g.bytes(g.IntN(30)))
		}
	}
	g.write(s)
}

// write puts the stack into the coin's input.
func (g *generator) write(s *spend) {
	c, in := s.coin, s.tx.TxIn[s.index]
	in.SignatureScript, in.Witness = nil, nil
	if c.context == legacy {
		for _, item := range s.stack {
			in.SignatureScript = pushShort(in.SignatureScript, item)
		}
	} else {
		in.Witness = append(in.Witness, s.stack...)
	}
	if c.inside {
		in.Witness = append(in.Witness, c.program.script)
	}
	if c.control != nil {
		in.Witness = append(in.Witness, c.control)
	}
	if s.annex != nil {
		in.Witness = append(in.Witness, s.annex)
	}
	if c.pushed != nil {
		in.SignatureScript = push(in.SignatureScript, c.pushed)
	}
}

// signature signs for an item of the stack.
func (g *generator) signature(s *spend, sp *script.Spend, item slot) []byte {
	c := s.coin
	hashType := g.hashType(c.context)
	s.types = append(s.types, hashType)
	if c.context < tapscript {
		var hash [32]byte
		code := c.program.script[min(item.from, len(c.program.script)):]
		if c.context == legacy {
			hash = sp.LegacySigHash(s.index, code, uint32(hashType))
		} else {
			hash = sp.WitnessSigHash(s.index, code, uint32(hashType))
		}
		return append(ecdsa.Sign(item.key.private, hash[:]).Serialize(), hashType)
	}
	place := script.TapPlace{Annex: s.annex, Separator: item.sep}
	if c.context == tapscript {
		leaf := script.LeafHash(c.leafVer, c.program.script)
		place.Leaf = &leaf
	}
	hash, ok := sp.TaprootSigHash(s.index, hashType, &place)
	if !ok {
		hash = [32]byte{1}
	}
	sig, err := schnorr.Sign(item.key.private, hash[:], schnorr.FastSign(), schnorr.CustomNonce([32]byte{}))
	if err != nil {
		panic(err) // of no key of ours
	}
	raw := sig.Serialize()
	if hashType != 0 {
		raw = append(raw, hashType)
	}
	return raw
}
