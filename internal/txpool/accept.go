package txpool

import (
	"fmt"
	"strconv"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/txpool/linear"
	"github.com/seed61375155/trawl/messages"
)

// Options say how a transaction is checked.
type Options struct {
	Test    bool    // change nothing
	Bypass  bool    // it was in a block: fees and limits of the pool do not count
	MaxRate FeeRate // refuse what pays more; nothing: pay what you want
	MaxFee  int64   // the same, without the operator's additions; 0: any
	Time    int64   // when it came; 0: now
}

// ReasonMaxFee is the reason for refusing what pays more than [Options.MaxFee].
const ReasonMaxFee = "max-fee-exceeded"

// mode is Options with what depends on whether a package is checked.
type mode struct {
	Options
	now Now

	inPackage   bool // the size of the pool is limited afterwards
	packageFees bool // minimum fees are those of the package
	replace     bool // conflicts may be replaced
	carveOut    bool // the limits have their exceptions
	sibling     bool // a sibling may be replaced (TRUC)
	byItself    bool // it was submitted without others
}

func single(now Now, o Options) mode {
	return mode{Options: o, now: now, replace: true, carveOut: true, sibling: true, byItself: true}
}

// A candidate is a transaction that is being checked.
type candidate struct {
	entry   *Entry
	coins   []messages.Coin // by input
	spent   []*wire.TxOut
	sibling bool // a sibling is to be replaced

	conflicts map[*Entry]struct{} // direct ones
	ancestors map[*Entry]struct{} // by clusters: parents alone
}

// A verdict is about one transaction, or some that are checked together.
type verdict struct {
	*Pool
	mode

	chain    Coins
	together map[chainhash.Hash]*wire.MsgTx // of the package, checked before
	replaced map[*Entry]struct{}            // what is to leave

	trial  *linear.Trial                 // by clusters: what would come of it
	staged map[chainhash.Hash]*linear.Tx // that it adds
}

func (p *Pool) newVerdict(m mode, chain Coins) *verdict {
	return &verdict{
		Pool: p, mode: m, chain: chain,
		together: make(map[chainhash.Hash]*wire.MsgTx), replaced: make(map[*Entry]struct{}),
	}
}

// Needs returns the outputs of the chain that a transaction is checked by: those
// that it spends, and its own. Its own show whether it is in the chain.
func Needs(tx *wire.MsgTx) []wire.OutPoint {
	outs := make([]wire.OutPoint, 0, len(tx.TxIn)+len(tx.TxOut))
	for _, in := range tx.TxIn {
		outs = append(outs, in.PreviousOutPoint)
	}
	id := tx.TxHash()
	for i := range tx.TxOut {
		outs = append(outs, wire.OutPoint{Hash: id, Index: uint32(i)})
	}
	return outs
}

// Confirmed reports whether outputs of a transaction are in the chain.
func Confirmed(tx *wire.MsgTx, chain Coins) bool {
	id := tx.TxHash()
	for i := range tx.TxOut {
		if _, there := chain[wire.OutPoint{Hash: id, Index: uint32(i)}]; there {
			return true
		}
	}
	return false
}

// Accept checks one transaction and puts it into the pool. chain has those of
// the outputs that it [Needs] which are not spent.
func (p *Pool) Accept(tx *wire.MsgTx, chain Coins, now Now, o Options) messages.TxResult {
	return p.accept(tx, chain, single(now, o))
}

func (p *Pool) accept(tx *wire.MsgTx, chain Coins, m mode) messages.TxResult {
	v := p.newVerdict(m, chain)
	c := v.candidate(tx)
	if r := v.check(c); r != nil {
		return v.refused(c, r)
	}
	if r := p.relatives.admit(v, c); r != nil {
		return v.refused(c, r)
	}
	if r := v.checkScripts(c); r != nil {
		return v.refused(c, r)
	}
	if v.MaxFee > 0 && c.entry.Fee > v.MaxFee {
		return v.refused(c, refuse(messages.TxPolicy, ReasonMaxFee, ""))
	}
	result := v.accepted(c, c.entry.rate(), []chainhash.Hash{c.entry.WID})
	if v.Test {
		return result
	}
	v.apply(c)
	if v.inPackage || v.Bypass {
		return result
	}
	p.Limit(v.now.Time)
	if p.byID[c.entry.ID] == nil {
		p.unsay(c.entry)
		return v.refused(c, refuse(messages.TxReconsiderable, "mempool full", ""))
	}
	return result
}

func (v *verdict) candidate(tx *wire.MsgTx) *candidate {
	at := v.Time
	if at == 0 {
		at = v.now.Time
	}
	e := &Entry{
		Tx: tx, ID: tx.TxHash(), WID: tx.WitnessHash(), Time: at, Height: v.now.Tip.Height,
		Weight: v.rules.Weight(tx),
	}
	return &candidate{entry: e, conflicts: make(map[*Entry]struct{})}
}

func (*verdict) refused(c *candidate, r *messages.TxReject) messages.TxResult {
	result := messages.TxResult{Known: true, Rejected: r}
	if r.Kind == messages.TxReconsiderable {
		result.Rate, result.RateOf = c.entry.rate().PerKvB(), []chainhash.Hash{c.entry.WID}
	}
	return result
}

func (v *verdict) accepted(c *candidate, rate FeeRate, of []chainhash.Hash) messages.TxResult {
	return messages.TxResult{
		Known: true, VSize: c.entry.VSize, Fee: c.entry.Fee, Rate: rate.PerKvB(), RateOf: of,
		Replaced: ids(sorted(v.replaced)),
	}
}

// apply makes the change of one or more candidates.
func (v *verdict) apply(candidates ...*candidate) {
	v.removeSet(v.replaced, messages.PoolReplaced)
	for _, c := range candidates {
		c.entry.Sequence = v.sequence
		if v.Bypass {
			c.entry.Sequence = 0
		}
		v.insert(c.entry)
		c.entry.Alone = v.byItself && !v.Bypass && len(c.entry.parents) == 0
	}
}

// check applies all rules but those on replacement, dust that must be spent, and
// scripts.
func (v *verdict) check(c *candidate) *messages.TxReject {
	tx := c.entry.Tx
	if r := v.checkForm(c.entry); r != nil {
		return r
	}
	if v.byWID[c.entry.WID] != nil {
		return refuse(messages.TxConflict, "txn-already-in-mempool", "")
	}
	if v.byID[c.entry.ID] != nil {
		return refuse(messages.TxConflict, "txn-same-nonwitness-data-in-mempool", "")
	}
	for _, in := range tx.TxIn {
		if other := v.spends[in.PreviousOutPoint]; other != nil {
			if !v.replace {
				return refuse(messages.TxPolicy, "bip125-replacement-disallowed", "")
			}
			c.conflicts[other] = struct{}{}
		}
	}
	if r := v.lookUp(c); r != nil {
		return r
	}
	if r := v.checkSpending(c); r != nil {
		return r
	}
	return v.checkPolicy(c)
}

// checkForm applies the rules that do not depend on the spent outputs.
func (v *verdict) checkForm(e *Entry) *messages.TxReject {
	if r := v.checkTx(e.Tx); r != nil {
		return r
	}
	if may := v.rules.MayPayTo; may != nil {
		for _, out := range e.Tx.TxOut {
			if !may(out.PkScript, v.now.Tip.Height+1) {
				return invalid("tx-output-not-p2mr", "")
			}
		}
	}
	if v.policy.RequireStandard {
		if r := v.checkStandard(e.Tx, e.Weight); r != nil {
			return r
		}
	}
	if e.Tx.SerializeSizeStripped() < minStandardSize {
		return nonStandard("tx-size-small")
	}
	if !Final(e.Tx, v.now.Tip) {
		return refuse(messages.TxPremature, "non-final", "")
	}
	return nil
}

// lookUp finds what is spent.
func (v *verdict) lookUp(c *candidate) *messages.TxReject {
	tx := c.entry.Tx
	for _, in := range tx.TxIn {
		coin, ok := v.coin(in.PreviousOutPoint)
		if !ok {
			if Confirmed(tx, v.chain) {
				return refuse(messages.TxConflict, "txn-already-known", "")
			}
			return refuse(messages.TxMissingInputs, "bad-txns-inputs-missingorspent", "")
		}
		c.coins = append(c.coins, coin)
		c.spent = append(c.spent, coin.Output)
	}
	return nil
}

// coin returns an output of the package, of the pool, or of the chain.
func (v *verdict) coin(at wire.OutPoint) (messages.Coin, bool) {
	tx := v.together[at.Hash]
	if e := v.byID[at.Hash]; tx == nil && e != nil {
		tx = e.Tx
	}
	if tx == nil {
		coin, ok := v.chain[at]
		return coin, ok
	}
	if int64(at.Index) >= int64(len(tx.TxOut)) {
		return messages.Coin{}, false
	}
	return messages.Coin{Output: tx.TxOut[at.Index], Height: v.now.Tip.Height + 1}, true
}

// checkSpending applies the rules about what is spent.
func (v *verdict) checkSpending(c *candidate) *messages.TxReject {
	e := c.entry
	if !sequenceFinal(e.Tx, c.coins, v.now.Tip) {
		return refuse(messages.TxPremature, "non-BIP68-final", "")
	}
	fee, r := v.checkSpend(e.Tx, c.coins, v.now.Tip.Height+1)
	if r != nil {
		return r
	}
	if v.policy.RequireStandard {
		if r := v.checkStandardInputs(e.Tx, c.spent); r != nil {
			return r
		}
		if r := v.checkWitness(e.Tx, c.spent); r != nil {
			return r
		}
	}
	for i := range c.coins {
		e.spendsCoinbase = e.spendsCoinbase || c.coins[i].Coinbase
	}
	e.Fee, e.Modified = fee, saturatingAdd(fee, v.deltas[e.ID])
	e.SigOps = v.sigOpCost(e.Tx, c.spent)
	e.VSize = virtual(max(e.Weight, e.SigOps*v.policy.BytesPerSigOp), v.rules.WitnessScale)
	return nil
}

// Weight is that of a transaction.
func (r *Rules) Weight(tx *wire.MsgTx) int64 {
	return int64(tx.SerializeSizeStripped())*(r.WitnessScale-1) + int64(tx.SerializeSize())
}

func virtual(weight, scale int64) int64 { return (weight + scale - 1) / scale }

// checkPolicy applies the rules on fees and on what a transaction depends on.
func (v *verdict) checkPolicy(c *candidate) *messages.TxReject {
	e := c.entry
	if v.policy.RequireStandard && (e.Fee != 0 || e.Modified != 0) && len(v.dust(e.Tx)) > 0 {
		return refuse(messages.TxNotStandard, "dust", "tx with dust output must be 0-fee")
	}
	if e.SigOps > maxStandardSigOps {
		return refuse(messages.TxNotStandard, "bad-txns-too-many-sigops", strconv.FormatInt(e.SigOps, 10))
	}
	alone := !v.rules.ZeroFeeParents && e.Tx.Version != trucVersion // no child can pay for it
	if minimum := v.policy.MinRelayFee.Fee(e.VSize); !v.Bypass && alone && e.Modified < minimum {
		return refuse(messages.TxPolicy, "min relay fee not met", fmt.Sprintf("%d < %d", e.Modified, minimum))
	}
	if !v.Bypass && !v.packageFees {
		if r := v.checkRate(e.VSize, e.Modified); r != nil {
			return r
		}
	}
	return v.relatives.check(v, c)
}

// checkMaxRate refuses what pays more than the sender wants.
func (v *verdict) checkMaxRate(c *candidate) *messages.TxReject {
	if v.MaxRate != (FeeRate{}) && c.entry.rate().Compare(v.MaxRate) > 0 {
		return refuse(messages.TxPolicy, "max feerate exceeded", "")
	}
	return nil
}

func spendsConflict(e, conflict *Entry) *messages.TxReject {
	return invalid(
		"bad-txns-spends-conflicting-tx", fmt.Sprintf("%v spends conflicting transaction %v", e.ID, conflict.ID),
	)
}

// checkRate compares a fee with what the pool asks for.
func (v *verdict) checkRate(vsize, fee int64) *messages.TxReject {
	if floor := v.MinFee(v.now.Time).Fee(vsize); floor > 0 && fee < floor {
		return refuse(messages.TxReconsiderable, "mempool min fee not met", fmt.Sprintf("%d < %d", fee, floor))
	}
	if floor := v.policy.MinRelayFee.Fee(vsize); fee < floor {
		return refuse(messages.TxReconsiderable, "min relay fee not met", fmt.Sprintf("%d < %d", fee, floor))
	}
	return nil
}

// verifyVersion is the version of the rules by which scripts are executed now.
func (v *verdict) verifyVersion() int {
	if v.rules.VerifyVersion == nil {
		return 0
	}
	return v.rules.VerifyVersion(v.now.Tip.Height + 1)
}

// checkScripts executes the scripts.
func (v *verdict) checkScripts(c *candidate) *messages.TxReject {
	err := v.rules.Verify(c.entry.Tx, c.spent, v.now.Tip.Height+1)
	if err == nil {
		c.entry.verified = v.verifyVersion()
		return nil
	}
	kind := messages.TxNotStandard
	if !c.entry.Tx.HasWitness() && spendsWitness(c.entry.Tx, c.spent) {
		kind = messages.TxWitnessStripped
	}
	text, debug := err.Error(), ""
	if failed, ok := err.(interface{ Input() string }); ok {
		debug = failed.Input()
	}
	return refuse(kind, "mempool-script-verify-flag-failed ("+text+")", debug)
}
