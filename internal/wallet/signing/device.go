package signing

import (
	"encoding/binary"
	"encoding/hex"
	"slices"

	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/rawtx"
	"github.com/seed61375155/trawl/internal/rawtx/psbt"
)

// SamePayment reports whether a transaction that a device answers may stand for the transaction that it was asked
// to sign. Both must spend the same coins and have the same outputs to others. The wallet may get back less
// change, but at most by fee, the fee of the asked transaction.
func SamePayment(asked, got *wire.MsgTx, fee int64, mine func(script []byte) bool) bool {
	if asked.TxHash() == got.TxHash() {
		return true
	}
	own, most := int64(0), fee
	others := make(map[wireOut]int)
	for _, out := range asked.TxOut {
		most += out.Value
		if mine(out.PkScript) {
			own += out.Value
			continue
		}
		others[wireOut{string(out.PkScript), out.Value}]++
	}
	for _, out := range got.TxOut {
		if out.Value < 0 || out.Value > most {
			return false // and the sum below is no larger than there can be
		}
		most -= out.Value
		if mine(out.PkScript) {
			own -= out.Value
			continue
		}
		others[wireOut{string(out.PkScript), out.Value}]--
	}
	for _, n := range others {
		if n != 0 {
			return false
		}
	}
	return own <= fee && slices.Equal(coinsOf(asked), coinsOf(got))
}

// wireOut is an output as a key of maps.
type wireOut struct {
	script string
	value  int64
}

// coinsOf returns what a transaction spends, in an order of its own.
func coinsOf(tx *wire.MsgTx) []string {
	coins := make([]string, len(tx.TxIn))
	for i, in := range tx.TxIn {
		coins[i] = in.PreviousOutPoint.String()
	}
	slices.Sort(coins)
	return coins
}

// FeeOf returns the fee that a packet pays, 0 where it does not say what it spends.
func FeeOf(p *psbt.Packet) int64 {
	fee := int64(0)
	for i := range p.Inputs {
		coin := p.Coin(i)
		if coin == nil {
			return 0
		}
		fee += coin.Value
	}
	for _, out := range p.Tx.TxOut {
		fee -= out.Value
	}
	return max(0, fee)
}

// Concerns reports whether an input has a key of the device.
func Concerns(p *psbt.Packet, fingerprint string) bool {
	wanted, err := hex.DecodeString(fingerprint)
	if err != nil {
		return false
	}
	for i := range p.Inputs {
		for _, kind := range []uint64{psbt.Derivation, psbt.TapDerivation} {
			for _, e := range p.Inputs[i].Of(kind) {
				if origin, ok := originOf(kind, e.Value); ok && slices.Equal(origin[:min(4, len(origin))], wanted) {
					return true
				}
			}
		}
	}
	return false
}

// originOf is the part of a derivation that begins with the fingerprint of the master
// key. In a derivation of taproot the hashes of the leaves come first.
func originOf(kind uint64, value []byte) ([]byte, bool) {
	if kind == psbt.Derivation {
		return value, len(value) >= 4
	}
	const hashSize = 32
	if len(value) == 0 {
		return nil, false
	}
	leaves, head := uint64(value[0]), 1
	if value[0] == 0xfd && len(value) >= 3 {
		leaves, head = uint64(binary.LittleEndian.Uint16(value[1:])), 3
	}
	at := head + int(leaves)*hashSize
	if at+4 > len(value) {
		return nil, false
	}
	return value[at:], true
}

// IsComplete finds out whether the signatures of a packet are all that is wanted.
func IsComplete(p *psbt.Packet, newSigning rawtx.NewSigningFunc, finalize bool) bool {
	s := rawtx.NewPacketSigning(p, newSigning)
	if finalize {
		s.Finalize()
	}
	complete := true
	for i := range p.Inputs {
		complete = complete && s.Verified(i)
	}
	return complete
}
