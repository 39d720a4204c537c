package spend

import (
	"slices"

	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/messages"
)

// Sequence numbers of inputs.
const (
	sequenceReplaceable uint32 = messages.MaxReplaceableSequence
	sequenceLockTime    uint32 = wire.MaxTxInSequenceNum - 1
)

// errFeeTooLow says that the coins do not pay for the transaction after all.
var errFeeTooLow error = refusal("Fee needed > fee paid")

// assemble makes the transaction of the coins that were chosen.
func (b *builder) assemble() (*Built, error) {
	tx := wire.NewMsgTx(b.Request.Version)
	for _, out := range b.outputs {
		tx.AddTxOut(wire.NewTxOut(out.Value, out.PkScript))
	}
	built := &Built{
		Tx: tx, Change: -1, Reason: b.reason, Algorithm: b.selected.Algorithm, Waste: b.selected.Waste,
	}
	if err := b.addChange(built); err != nil {
		return nil, err
	}
	b.addInputs(tx)
	weight, ok := b.signedWeight(tx)
	if !ok {
		return nil, refusal("Missing solving data for estimating transaction size")
	}
	built.Weight = weight
	if err := b.setFee(built); err != nil {
		return nil, err
	}
	switch {
	case built.Change >= 0 && len(b.Change.Script) == 0:
		return nil, b.Change.Err
	case weight > maxStandardWeight:
		return nil, refusal("Transaction too large")
	case built.Fee > b.Options.MaxFee:
		return nil, refusal("Fee exceeds maximum configured by user (e.g. -maxtxfee, maxfeerate)")
	}
	return built, b.checkChain(tx, (weight+b.Scale-1)/b.Scale)
}

// addChange puts the output of change, if there is one, in its place.
func (b *builder) addChange(built *Built) error {
	if b.selected.Change == 0 {
		return nil
	}
	outs := &built.Tx.TxOut
	if at := b.Request.ChangePosition; at == nil {
		built.Change = b.Random.IntN(len(*outs) + 1)
	} else if built.Change = *at; *at > len(*outs) {
		return refusal("Transaction change output index out of range")
	}
	*outs = slices.Insert(*outs, built.Change, wire.NewTxOut(b.selected.Change, b.Change.Script))
	return nil
}

// addInputs adds the inputs: those of the request first, in its order, the others in a
// random one. It sets the lock time.
func (b *builder) addInputs(tx *wire.MsgTx) {
	r := b.Request
	sequence := sequenceLockTime
	if b.replaceable() {
		sequence = sequenceReplaceable
	}
	mayLock := r.LockTime == nil
	given := make(map[wire.OutPoint]bool, len(r.Inputs))
	for i := range r.Inputs {
		in := &r.Inputs[i]
		given[in.At] = true
		txIn := &wire.TxIn{
			PreviousOutPoint: in.At, Sequence: sequence, SignatureScript: in.SigScript, Witness: in.Witness,
		}
		if in.Sequence != nil {
			txIn.Sequence, mayLock = *in.Sequence, false
		}
		tx.AddTxIn(txIn)
	}
	var others []wire.OutPoint
	for i := range b.selected.Coins {
		if at := b.selected.Coins[i].At; !given[at] {
			others = append(others, at)
		}
	}
	b.Random.Shuffle(len(others), func(i, j int) { others[i], others[j] = others[j], others[i] })
	for _, at := range others {
		tx.AddTxIn(&wire.TxIn{PreviousOutPoint: at, Sequence: sequence})
	}
	switch {
	case r.Sniped && allMayLock(tx):
		tx.LockTime = b.LockTime()
	case r.LockTime != nil:
		tx.LockTime = *r.LockTime
	case mayLock:
		tx.LockTime = b.LockTime()
	}
}

// allMayLock reports whether the sequence numbers are those that wallets use, with which a
// lock time means nothing but itself.
func allMayLock(tx *wire.MsgTx) bool {
	return !slices.ContainsFunc(tx.TxIn, func(in *wire.TxIn) bool {
		return in.Sequence != sequenceReplaceable && in.Sequence != sequenceLockTime
	})
}

// LockTime returns a lock time that takes from miners the wish to mine the last block
// again for its fees. It is the height of the tip, sometimes a little less, so that
// transactions that were made earlier do not stand out.
func (p *Plan) LockTime() uint32 {
	if !p.Current {
		return 0
	}
	height := p.Tip.Height
	if p.Random.IntN(10) == 0 {
		height = max(height-p.Random.Int32N(100), 0)
	}
	return uint32(height)
}

// signedWeight returns the most that the transaction weighs when it is signed. It is
// false where the size of an input is not known.
func (b *builder) signedWeight(tx *wire.MsgTx) (int, bool) {
	size := 8 + wire.VarIntSerializeSize(uint64(len(tx.TxIn))) + wire.VarIntSerializeSize(uint64(len(tx.TxOut)))
	for _, out := range tx.TxOut {
		size += out.SerializeSize()
	}
	weight := size * b.Scale
	witnessed := slices.ContainsFunc(tx.TxIn, func(in *wire.TxIn) bool {
		return b.coins[in.PreviousOutPoint].Size.Witness
	})
	if witnessed {
		weight += 2 // marker and flag
	}
	for _, in := range tx.TxIn {
		switch c := b.coins[in.PreviousOutPoint]; {
		case c.Weight != 0:
			weight += max(c.Weight, b.leastWeight(c.Script))
		case !c.Known:
			return 0, false
		default:
			weight += c.Size.Of(witnessed, b.Scale)
		}
	}
	return weight, true
}

// setFee sets the fee: what is paid too much goes into the change, and payments that bear
// the fee are reduced.
func (b *builder) setFee(built *Built) error {
	needed := b.params.Rate.Fee(b.virtual(built.Weight)) + b.selected.Bump
	fee := b.selected.Value - sumOf(built.Tx.TxOut)
	if fee < 0 {
		return refusal("Fee paid < 0")
	}
	if built.Change >= 0 && needed < fee {
		built.Tx.TxOut[built.Change].Value += fee - needed
		fee = needed
	}
	if b.bearers > 0 {
		if err := b.subtract(built, needed-fee); err != nil {
			return err
		}
		fee = b.selected.Value - sumOf(built.Tx.TxOut)
	}
	if needed > fee {
		return errFeeTooLow
	}
	built.Fee = fee
	return nil
}

// subtract takes an amount from the payments that bear the fee: the same from each, and
// what cannot be shared from the first.
func (b *builder) subtract(built *Built, amount int64) error {
	share, left := amount/int64(b.bearers), amount%int64(b.bearers)
	at := 0
	for i := range b.Request.Payments {
		if at == built.Change {
			at++
		}
		if out := built.Tx.TxOut[at]; b.Request.Payments[i].SubtractFee {
			out.Value -= share + left
			left = 0
			switch {
			case out.Value >= b.Dust(out, FeeRate(b.Pool.DustFee)):
			case out.Value < 0:
				return refusal("The transaction amount is too small to pay the fee")
			default:
				return refusal("The transaction amount is too small to send " +
					"after the fee has been deducted")
			}
		}
		at++
	}
	return nil
}

func sumOf(outs []*wire.TxOut) (sum int64) {
	for _, out := range outs {
		sum += out.Value
	}
	return sum
}
