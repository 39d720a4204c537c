package txpool

import (
	"fmt"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/messages"
)

// Limits of packages (src/policy/packages.h).
const (
	MaxPackageCount  = 25
	maxPackageWeight = 404_000
)

// outcome is what became of a package that is checked together.
type outcome struct {
	failed  *messages.TxReject
	policy  bool                                 // failed is about the package itself
	results map[chainhash.Hash]messages.TxResult // by witness id
}

func policyFailure(reason, debug string) outcome {
	return outcome{failed: refuse(messages.TxPolicy, reason, debug), policy: true}
}

// partFailure is the failure of a package because of one of its transactions.
func partFailure(reason string, wid chainhash.Hash, r messages.TxResult) outcome {
	return outcome{
		failed:  refuse(messages.TxPolicy, reason, ""),
		results: map[chainhash.Hash]messages.TxResult{wid: r},
	}
}

const partFailed = "transaction failed"

// Try checks transactions together and changes nothing.
func (p *Pool) Try(txs []*wire.MsgTx, chain Coins, now Now) messages.PackageResult {
	if len(txs) == 1 {
		r := p.Accept(txs[0], chain, now, Options{Test: true})
		return messages.PackageResult{Failed: r.Rejected, Results: []messages.TxResult{r}}
	}
	v := p.newVerdict(mode{Options: Options{Test: true}, now: now}, chain)
	return v.jointly(txs).inOrder(txs)
}

func (o outcome) inOrder(txs []*wire.MsgTx) messages.PackageResult {
	result := messages.PackageResult{Failed: o.failed, Policy: o.policy, Results: make([]messages.TxResult, len(txs))}
	for i, tx := range txs {
		result.Results[i] = o.results[tx.WitnessHash()]
	}
	return result
}

// Submit puts a child with its parents into the pool: each by itself if it can,
// else together, so that the child pays for its parents.
func (p *Pool) Submit(txs []*wire.MsgTx, chain Coins, now Now, maxRate FeeRate) messages.PackageResult {
	if failed := wellFormed(txs, int(p.rules.WitnessScale)); failed != nil {
		return failed.inOrder(txs)
	}
	if len(txs) > 1 && !ChildWithParents(txs) {
		return policyFailure("package-not-child-with-parents", "").inOrder(txs)
	}
	m := mode{
		Options: Options{MaxRate: maxRate}, now: now, inPackage: true, packageFees: true, replace: true,
	}
	settled := make(map[chainhash.Hash]messages.TxResult)
	alone := make(map[chainhash.Hash]messages.TxResult)
	var rest []*wire.MsgTx
	var last outcome
	quit := false
	for _, tx := range txs {
		wid := tx.WitnessHash()
		if known, there := p.known(tx); there {
			settled[wid] = known
			continue
		}
		one := m
		one.packageFees, one.carveOut, one.sibling = false, false, true
		result := p.accept(tx, chain, one)
		switch r := result.Rejected; {
		case r == nil:
			settled[wid] = result
		case len(txs) == 1 || r.Kind != messages.TxReconsiderable && r.Kind != messages.TxMissingInputs:
			quit = true
			alone[wid] = result
		default:
			alone[wid] = result
			rest = append(rest, tx)
		}
	}
	switch {
	case len(rest) > 1 && !quit:
		last = p.newVerdict(m, chain).jointly(rest)
	case len(alone) > 0: // a single rest has been refused already
		last.failed = refuse(messages.TxPolicy, partFailed, "")
	}
	p.Limit(now.Time)
	return p.finish(txs, last, settled, alone)
}

// known returns what there is to say of a transaction that is in the pool.
func (p *Pool) known(tx *wire.MsgTx) (messages.TxResult, bool) {
	if e := p.byWID[tx.WitnessHash()]; e != nil {
		return messages.TxResult{Known: true, InPool: true, VSize: e.VSize, Fee: e.Fee}, true
	}
	if e := p.byID[tx.TxHash()]; e != nil {
		return messages.TxResult{Known: true, InPool: true, OtherWitness: &e.WID}, true
	}
	return messages.TxResult{}, false
}

// finish puts the results together. A transaction that got in may have been driven out again.
func (p *Pool) finish(
	txs []*wire.MsgTx, last outcome, settled, alone map[chainhash.Hash]messages.TxResult,
) messages.PackageResult {
	full := messages.TxResult{Known: true, Rejected: refuse(messages.TxPolicy, "mempool full", "")}
	result := messages.PackageResult{Results: make([]messages.TxResult, len(txs))}
	for i, tx := range txs {
		wid := tx.WitnessHash()
		got, ok := last.results[wid]
		if !ok {
			got, ok = settled[wid]
		}
		if !ok {
			result.Results[i] = alone[wid]
			continue
		}
		if got.Rejected == nil && p.byID[tx.TxHash()] == nil {
			last.failed, last.policy = refuse(messages.TxPolicy, partFailed, ""), false
			got = full
		}
		result.Results[i] = got
	}
	result.Failed, result.Policy = last.failed, last.policy
	return result
}

// jointly checks transactions together. Their fees count together if the mode has packageFees.
func (v *verdict) jointly(txs []*wire.MsgTx) outcome {
	if failed := wellFormed(txs, int(v.rules.WitnessScale)); failed != nil {
		return *failed
	}
	list := make([]*candidate, len(txs))
	var vsize, fees int64
	wids := make([]chainhash.Hash, len(txs))
	for i, tx := range txs {
		c := v.candidate(tx)
		list[i], wids[i] = c, c.entry.WID
		if r := v.check(c); r != nil {
			return partFailure(partFailed, c.entry.WID, messages.TxResult{Known: true, Rejected: r})
		}
		if r := v.checkMaxRate(c); r != nil {
			return partFailure(partFailed, c.entry.WID, messages.TxResult{Known: true, Rejected: r})
		}
		v.together[c.entry.ID] = tx
		vsize, fees = vsize+c.entry.VSize, fees+c.entry.Modified
	}
	for _, c := range list {
		if r := v.checkPackageTRUC(c, txs); r != nil {
			return outcome{failed: r, policy: true}
		}
	}
	rate := RateOf(fees, vsize)
	if v.packageFees {
		if r := v.checkRate(vsize, fees); r != nil {
			last := messages.TxResult{Known: true, Rejected: r, Rate: rate.PerKvB(), RateOf: wids}
			return partFailure(partFailed, wids[len(wids)-1], last)
		}
	}
	if len(txs) > 1 {
		if failed := v.relatives.admitPackage(v, list, vsize, fees); failed != nil {
			return *failed
		}
	}
	for _, tx := range txs {
		if r := v.checkDustSpends(tx); r != nil {
			return partFailure("unspent-dust", tx.WitnessHash(), messages.TxResult{Known: true, Rejected: r})
		}
	}
	return v.conclude(list, rate, wids)
}

// conclude executes the scripts of a package and takes it in.
func (v *verdict) conclude(list []*candidate, rate FeeRate, wids []chainhash.Hash) outcome {
	o := outcome{results: make(map[chainhash.Hash]messages.TxResult, len(list))}
	for i, c := range list {
		if r := v.checkScripts(c); r != nil {
			o.failed = refuse(messages.TxPolicy, partFailed, "")
			if !v.Test { // those before it are not taken in
				clear(o.results)
			}
			o.results[c.entry.WID] = messages.TxResult{Known: true, Rejected: r}
			return o
		}
		effective, of := c.entry.rate(), wids[i:i+1]
		if v.packageFees {
			effective, of = rate, wids
		}
		result := v.accepted(c, effective, of)
		if i > 0 {
			result.Replaced = nil
		}
		o.results[c.entry.WID] = result
	}
	if !v.Test {
		v.apply(list...)
	}
	return o
}

// packageFailure says why a package replaces nothing.
func packageFailure(reason, debug string) *outcome {
	o := policyFailure("package RBF failed: "+reason, debug)
	return &o
}

// checkPackageReplacement applies the rules on replacement to a package.
func (v *verdict) checkPackageReplacement(list []*candidate, vsize, fees int64) *outcome {
	direct := make(map[*Entry]struct{})
	ancestors := 0
	for _, c := range list {
		for other := range c.conflicts {
			direct[other] = struct{}{}
		}
		ancestors += len(c.ancestors)
	}
	if len(direct) == 0 {
		return nil
	}
	switch {
	case len(list) != 2:
		return packageFailure("package must be 1-parent-1-child", "")
	case ancestors > 0:
		return packageFailure("new transaction cannot have mempool ancestors", "")
	}
	parent, child := list[0].entry, list[1].entry
	all, problem := v.relatives.conflicts(child, direct)
	if problem != "" {
		return packageFailure("too many potential replacements", problem)
	}
	if problem := v.paysFor(all, fees, vsize, &child.ID); problem != "" {
		return packageFailure("insufficient anti-DoS fees", problem)
	}
	rate := RateOf(fees, vsize)
	if rate.Compare(parent.rate()) <= 0 {
		return packageFailure("package feerate is less than or equal to parent feerate",
			fmt.Sprintf("package feerate %s <= parent feerate is %s", rate.Text(v.rules.Unit),
				parent.rate().Text(v.rules.Unit)))
	}
	if failed := v.relatives.improves(v, list, all); failed != nil {
		return failed
	}
	v.replaced = all
	return nil
}

// packageLimits bounds the ancestors of a package, as if each of its
// transactions had all these ancestors.
func (v *verdict) packageLimits(list []*candidate, vsize int64) string {
	limits, n := v.policy.Limits, len(list)
	switch {
	case n > limits.Ancestors:
		return fmt.Sprintf("package count %d exceeds ancestor count limit [limit: %d]", n, limits.Ancestors)
	case n > limits.Descendants:
		return fmt.Sprintf("package count %d exceeds descendant count limit [limit: %d]", n, limits.Descendants)
	case vsize > limits.AncestorVSize:
		return fmt.Sprintf("package size %d exceeds ancestor size limit [limit: %d]", vsize, limits.AncestorVSize)
	case vsize > limits.DescendantVSize:
		return fmt.Sprintf("package size %d exceeds descendant size limit [limit: %d]", vsize, limits.DescendantVSize)
	}
	parents := make(map[*Entry]struct{})
	for _, c := range list {
		for _, in := range c.entry.Tx.TxIn {
			if parent := v.byID[in.PreviousOutPoint.Hash]; parent != nil {
				parents[parent] = struct{}{}
				if len(parents)+n > limits.Ancestors {
					return fmt.Sprintf("too many unconfirmed parents [limit: %d]", limits.Ancestors)
				}
			}
		}
	}
	if _, problem := withinLimits(parents, vsize, n, limits); problem != "" {
		return "possibly " + problem
	}
	return ""
}

// wellFormed applies the rules on packages that need no context; nil: all kept. scale is the weight
// of a byte outside the witness.
func wellFormed(txs []*wire.MsgTx, scale int) *outcome {
	fail := func(reason string) *outcome {
		o := policyFailure(reason, "")
		return &o
	}
	if len(txs) > MaxPackageCount {
		return fail("package-too-many-transactions")
	}
	weight := 0
	later := make(map[chainhash.Hash]struct{}, len(txs))
	for _, tx := range txs {
		weight += (scale-1)*tx.SerializeSizeStripped() + tx.SerializeSize()
		later[tx.TxHash()] = struct{}{}
	}
	switch {
	case len(txs) > 1 && weight > maxPackageWeight:
		return fail("package-too-large")
	case len(later) != len(txs):
		return fail("package-contains-duplicates")
	}
	for _, tx := range txs {
		for _, in := range tx.TxIn {
			if _, behind := later[in.PreviousOutPoint.Hash]; behind {
				return fail("package-not-sorted")
			}
		}
		delete(later, tx.TxHash())
	}
	if !consistent(txs) {
		return fail("conflict-in-package")
	}
	return nil
}

// consistent reports whether no two transactions spend the same.
func consistent(txs []*wire.MsgTx) bool {
	spent := make(map[wire.OutPoint]int)
	for i, tx := range txs {
		if len(tx.TxIn) == 0 {
			return false
		}
		for _, in := range tx.TxIn {
			if by, duplicate := spent[in.PreviousOutPoint]; duplicate && by != i {
				return false
			}
			spent[in.PreviousOutPoint] = i
		}
	}
	return true
}

// ChildWithParents reports whether the last transaction spends from all others.
func ChildWithParents(txs []*wire.MsgTx) bool {
	if len(txs) < 2 {
		return false
	}
	child := txs[len(txs)-1]
	for _, tx := range txs[:len(txs)-1] {
		if !spendsFrom(child, tx.TxHash()) {
			return false
		}
	}
	return true
}
