// Package consensus has the rules about transactions that every kind of chain
// shares, as pure functions: no chain, no disk, no clock. Engines hold blocks
// against them, the memory pool transactions.
package consensus

import (
	"fmt"
	"math"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/messages"
)

// Rules are what differs between networks.
type Rules struct {
	MaxMoney     int64
	MaxWeight    int64 // of a block
	MaxSigOps    int64 // of a block, in weight
	WitnessScale int64 // weight of a byte outside the witness
	Maturity     int32 // blocks until a coinbase may be spent

	// MayPayTo reports whether an output of a block at height may have a script.
	// Nil: any may.
	MayPayTo func(script []byte, height int32) bool

	// IsKept reports whether an output script is kept for later rules, and no transaction that
	// pays to it is relayed. Nil: none is.
	IsKept func(script []byte) bool
}

// A Coin is an output that a transaction spends.
type Coin struct {
	Height   int32 // of the block that created it
	Coinbase bool
	Value    int64
	Script   []byte
}

// A Violation is a rule that a transaction breaks, in Bitcoin Core's words.
type Violation struct {
	Reason string
	Debug  string // details for a person, may be empty
}

// Error implements error.
func (v *Violation) Error() string {
	if v.Debug == "" {
		return v.Reason
	}
	return v.Reason + ", " + v.Debug
}

func violates(reason string) *Violation { return &Violation{Reason: reason} }

// IsNull reports whether an input that names out spends nothing, as that of a
// coinbase.
func IsNull(out *wire.OutPoint) bool {
	return out.Index == math.MaxUint32 && out.Hash == chainhash.Hash{}
}

// IsCoinbase reports whether a transaction creates coins.
func IsCoinbase(tx *wire.MsgTx) bool {
	return len(tx.TxIn) == 1 && IsNull(&tx.TxIn[0].PreviousOutPoint)
}

// The bounds of a coinbase's script.
const (
	minCoinbaseScript = 2
	maxCoinbaseScript = 100
)

// CheckTx checks what of a transaction depends on nothing else; nil: it is right.
func (r *Rules) CheckTx(tx *wire.MsgTx) *Violation {
	switch {
	case len(tx.TxIn) == 0:
		return violates("bad-txns-vin-empty")
	case len(tx.TxOut) == 0:
		return violates("bad-txns-vout-empty")
	case int64(tx.SerializeSizeStripped())*r.WitnessScale > r.MaxWeight:
		return violates("bad-txns-oversize")
	}
	if v := r.checkValues(tx); v != nil {
		return v
	}
	if repeats(tx.TxIn) {
		return violates("bad-txns-inputs-duplicate")
	}
	if IsCoinbase(tx) {
		if n := len(tx.TxIn[0].SignatureScript); n < minCoinbaseScript || n > maxCoinbaseScript {
			return violates("bad-cb-length")
		}
		return nil
	}
	for _, in := range tx.TxIn {
		if IsNull(&in.PreviousOutPoint) {
			return violates("bad-txns-prevout-null")
		}
	}
	return nil
}

func (r *Rules) checkValues(tx *wire.MsgTx) *Violation {
	total := int64(0)
	for _, out := range tx.TxOut {
		switch {
		case out.Value < 0:
			return violates("bad-txns-vout-negative")
		case out.Value > r.MaxMoney:
			return violates("bad-txns-vout-toolarge")
		}
		if total += out.Value; total > r.MaxMoney {
			return violates("bad-txns-txouttotal-toolarge")
		}
	}
	return nil
}

// CheckOutputs checks whether the outputs of a transaction may be in the block at
// height.
func (r *Rules) CheckOutputs(tx *wire.MsgTx, height int32) *Violation {
	if r.MayPayTo == nil {
		return nil
	}
	for _, out := range tx.TxOut {
		if !r.MayPayTo(out.PkScript, height) {
			return violates("bad-txns-output-not-p2mr")
		}
	}
	return nil
}

// fewInputs is how many inputs are compared one by one, which takes no memory.
const fewInputs = 16

func repeats(ins []*wire.TxIn) bool {
	if len(ins) <= fewInputs {
		for i, a := range ins {
			for _, b := range ins[:i] {
				if a.PreviousOutPoint == b.PreviousOutPoint {
					return true
				}
			}
		}
		return false
	}
	seen := make(map[wire.OutPoint]struct{}, len(ins))
	for _, in := range ins {
		seen[in.PreviousOutPoint] = struct{}{}
	}
	return len(seen) < len(ins)
}

// CheckSpend checks what a transaction spends in the block at height: coins has
// the coin of each input. It returns the fee.
func (r *Rules) CheckSpend(tx *wire.MsgTx, coins []Coin, height int32) (fee int64, v *Violation) {
	in := int64(0)
	for i := range coins {
		c := &coins[i]
		if depth := height - c.Height; c.Coinbase && depth < r.Maturity {
			return 0, &Violation{
				"bad-txns-premature-spend-of-coinbase", fmt.Sprintf("tried to spend coinbase at depth %d", depth),
			}
		}
		in += c.Value
		if !r.inRange(c.Value) || !r.inRange(in) {
			return 0, violates("bad-txns-inputvalues-outofrange")
		}
	}
	out := Paid(tx)
	if in < out {
		return 0, &Violation{
			"bad-txns-in-belowout", fmt.Sprintf("value in (%s) < value out (%s)", money(in), money(out)),
		}
	}
	return in - out, nil
}

func (r *Rules) inRange(value int64) bool { return value >= 0 && value <= r.MaxMoney }

// Paid returns the sum of a transaction's outputs.
func Paid(tx *wire.MsgTx) (sum int64) {
	for _, out := range tx.TxOut {
		sum += out.Value
	}
	return sum
}

func money(amount int64) string { return messages.FormatMoney(amount, 2) }

// lockTimeThreshold divides lock times that are heights from those that are
// times.
const lockTimeThreshold = 500_000_000

// Final reports whether the lock time of a transaction allows it in the block at
// height. time is what lock times that are times are held against, in seconds.
func Final(tx *wire.MsgTx, height int32, time int64) bool {
	if tx.LockTime == 0 {
		return true
	}
	limit := int64(height)
	if tx.LockTime >= lockTimeThreshold {
		limit = time
	}
	if int64(tx.LockTime) < limit {
		return true
	}
	for _, in := range tx.TxIn {
		if in.Sequence != wire.MaxTxInSequenceNum {
			return false
		}
	}
	return true
}

// SequenceFinal reports whether the relative lock times of a transaction (BIP68)
// allow it in the block on parent. heights are those of the coins of its inputs,
// at most one above parent.
func SequenceFinal(tx *wire.MsgTx, heights func(input int) int32, parent *chainview.Block) bool {
	if uint32(tx.Version) < 2 {
		return true
	}
	for i, in := range tx.TxIn {
		if in.Sequence&wire.SequenceLockTimeDisabled != 0 {
			continue
		}
		height, wait := heights(i), int64(in.Sequence&wire.SequenceLockTimeMask)
		if in.Sequence&wire.SequenceLockTimeIsSeconds == 0 {
			if int64(height)+wait > int64(parent.Height)+1 {
				return false
			}
			continue
		}
		from := parent.Ancestor(max(height-1, 0)).MedianTimePast()
		if from+wait<<wire.SequenceLockTimeGranularity > parent.MedianTimePast() {
			return false
		}
	}
	return true
}
