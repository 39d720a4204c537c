package rawtx

import (
	"errors"
	"fmt"
	"math/bits"

	"github.com/btcsuite/btcd/txscript"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/consensus/script"
	"github.com/seed61375155/trawl/internal/rawtx/psbt"
)

// A Role is the role that has to work on a packet next (BIP174).
type Role uint8

// The roles, in the order in which a packet passes them.
const (
	Creator Role = iota
	Updater
	Signer
	Finalizer
	Extractor
)

// String returns the name of the role.
func (r Role) String() string {
	return [...]string{"creator", "updater", "signer", "finalizer", "extractor"}[r]
}

// An Analysis says how far a packet is.
type Analysis struct {
	Inputs []InputAnalysis
	Fee    *int64 // in satoshis; nil: not known
	Size   *Estimate
	Next   Role
	Error  string // why the packet is not valid, in Core's words; then nothing else is known
}

// An Estimate is how large a transaction will be with all signatures.
type Estimate struct {
	VSize   int64 // in virtual bytes
	FeeRate int64 // in satoshis for 1,000 virtual bytes, rounded down
}

// An InputAnalysis says how far an input is.
type InputAnalysis struct {
	HasCoin bool // it is known what it spends
	Final   bool // it has final scripts that are right
	Missing Missing
	Next    Role
}

// AnalysisRules are what the numbers of an analysis depend on.
type AnalysisRules struct {
	MaxMoney      int64
	WitnessScale  int
	BytesPerSigOp int64 // that a signature operation counts for in a size
}

// Analyze says how far a packet is. The packet is changed, of no use afterwards.
func Analyze(p *psbt.Packet, newSigning NewSigningFunc, rules AnalysisRules) Analysis {
	if p.NoTx {
		return Analysis{Error: "PSBT cannot be made into a valid transaction"}
	}
	a := &analyzer{p: p, s: NewPacketSigning(p, newSigning), rules: rules}
	a.Inputs = make([]InputAnalysis, len(p.Inputs))
	a.Next = Extractor
	known := true
	var spent int64
	for i := range p.Inputs {
		coin := p.Coin(i)
		if coin != nil {
			if !a.inRange(coin.Value) || !a.inRange(spent+coin.Value) {
				return invalid("Input %d has invalid value", i)
			}
			if unspendable(coin.PkScript) {
				return invalid("Input %d spends unspendable output", i)
			}
			spent += coin.Value
		}
		if err := a.input(i, coin); err != nil {
			return invalid("Input %d: %v", i, err)
		}
		known = known && coin != nil
		a.Next = min(a.Next, a.Inputs[i].Next)
	}
	if known && !a.addFee(spent) {
		return invalid("Output amount invalid")
	}
	return a.Analysis
}

func invalid(text string, args ...any) Analysis {
	return Analysis{Error: "PSBT is not valid. " + fmt.Sprintf(text, args...)}
}

// unspendable reports whether nothing can spend an output.
func unspendable(pkScript []byte) bool {
	return len(pkScript) > 0 && pkScript[0] == txscript.OP_RETURN || len(pkScript) > txscript.MaxScriptSize
}

type analyzer struct {
	Analysis

	p     *psbt.Packet
	s     *PacketSigning
	rules AnalysisRules
}

func (a *analyzer) inRange(amount int64) bool { return amount >= 0 && amount <= a.rules.MaxMoney }

// input notes how far an input is, and changes the packet's input as a finalizer would. On networks with
// P2MR, as in the reference, it returns an error if no role can work on the input.
func (a *analyzer) input(i int, coin *wire.TxOut) error {
	in := &a.Inputs[i]
	in.HasCoin = coin != nil
	in.Next = Updater
	if a.s.Verified(i) {
		in.Final, in.Next = true, Extractor
		return nil
	}
	done, missing, err := a.s.Input(i, PacketRole{Finalize: true})
	if done && err == nil {
		in.Next = Finalizer
		return nil
	}
	if err != nil && a.s.spending.hasP2MR && !errors.Is(err, ErrMissingInput) {
		return err
	}
	in.Missing = missing
	if len(missing.Keys) == 0 && missing.Redeem == nil && missing.Witness == nil &&
		len(missing.Signatures)+len(missing.PQCKeys) > 0 {
		in.Next = Signer
	}
	return nil
}

// addFee computes the fee and, where all inputs can be estimated, the size. It is false where the outputs
// pay what nobody can.
func (a *analyzer) addFee(spent int64) bool {
	var paid int64
	for _, out := range a.p.Tx.TxOut {
		if !a.inRange(out.Value) || !a.inRange(paid+out.Value) {
			return false
		}
		paid += out.Value
	}
	fee := spent - paid
	a.Fee = &fee
	coins := make([]*wire.TxOut, len(a.p.Inputs))
	for i := range a.p.Inputs {
		done, _, err := a.s.Input(i, PacketRole{Finalize: true, by: byDummy})
		if coins[i] = a.p.Coin(i); !done || err != nil {
			return true
		}
	}
	tx := a.p.Extract()
	scale := int64(a.rules.WitnessScale)
	weight := int64(tx.SerializeSizeStripped())*(scale-1) + int64(tx.SerializeSize())
	sigOps := int64(script.SigOpCost(tx, coins, script.Standard)) * a.rules.BytesPerSigOp
	size := (max(weight, sigOps) + scale - 1) / scale
	a.Size = &Estimate{VSize: size, FeeRate: perKilo(fee, size)}
	return true
}

// perKilo returns the fee of 1,000 bytes at the rate of a fee for a size, rounded down. It is 0 for no size.
func perKilo(fee, size int64) int64 {
	if size <= 0 {
		return 0
	}
	high, low := bits.Mul64(uint64(max(fee, -fee)), 1000)
	quotient, rest := bits.Div64(high, low, uint64(size))
	rate := int64(quotient)
	if fee < 0 {
		if rate = -rate; rest > 0 {
			rate--
		}
	}
	return rate
}
