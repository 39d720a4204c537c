package txpool

import (
	"fmt"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/messages"
)

// maxReplaced is how many transactions a replacement may drive out.
const maxReplaced = 100

// checkReplacement applies the rules on replacing what a candidate conflicts
// with.
func (v *verdict) checkReplacement(c *candidate) *messages.TxReject {
	e, suffix := c.entry, c.siblingSuffix()
	for _, other := range sorted(c.conflicts) {
		if e.rate().Compare(other.rate()) <= 0 {
			return refuse(messages.TxReconsiderable, "insufficient fee"+suffix, fmt.Sprintf(
				"rejecting replacement %v; new feerate %s <= old feerate %s", e.ID, e.rate().Text(v.rules.Unit),
				other.rate().Text(v.rules.Unit)))
		}
	}
	all, problem := v.relatives.conflicts(e, c.conflicts)
	if problem != "" {
		return refuse(messages.TxPolicy, "too many potential replacements"+suffix, problem)
	}
	if at := v.newUnconfirmed(e.Tx, all); at >= 0 {
		return refuse(messages.TxPolicy, "replacement-adds-unconfirmed"+suffix,
			fmt.Sprintf("replacement %v adds unconfirmed input, idx %d", e.ID, at))
	}
	if problem := v.paysFor(all, e.Modified, e.VSize, &e.ID); problem != "" {
		return refuse(messages.TxReconsiderable, "insufficient fee"+suffix, problem)
	}
	v.replaced = all
	return nil
}

// siblingSuffix is what reasons say where a sibling is to be replaced.
func (c *candidate) siblingSuffix() string {
	if c.sibling {
		return " (including sibling eviction)"
	}
	return ""
}

// conflicts bounds the transactions that leave.
func (*ancestors) conflicts(e *Entry, direct map[*Entry]struct{}) (map[*Entry]struct{}, string) {
	count := 0
	for _, other := range sorted(direct) {
		if count += other.Descendants.Count; count > maxReplaced {
			return nil, fmt.Sprintf(
				"rejecting replacement %v; too many potential replacements (%d > %d)", e.ID, count, maxReplaced,
			)
		}
	}
	return withDescendants(direct), ""
}

// newUnconfirmed returns the first input that spends from the pool, and not from
// what the replaced ones spend from; -1: none does.
func (v *verdict) newUnconfirmed(tx *wire.MsgTx, replaced map[*Entry]struct{}) int {
	parents := make(map[chainhash.Hash]struct{})
	for other := range replaced {
		for _, in := range other.Tx.TxIn {
			parents[in.PreviousOutPoint.Hash] = struct{}{}
		}
	}
	for i, in := range tx.TxIn {
		_, known := parents[in.PreviousOutPoint.Hash]
		if !known && v.byID[in.PreviousOutPoint.Hash] != nil {
			return i
		}
	}
	return -1
}

// paysFor returns why a fee does not pay for the replaced transactions and for
// its own relay, empty if it does.
func (v *verdict) paysFor(replaced map[*Entry]struct{}, fee, vsize int64, id *chainhash.Hash) string {
	before := int64(0)
	for other := range replaced {
		before += other.Modified
	}
	if fee < before {
		return fmt.Sprintf(
			"rejecting replacement %v, less fees than conflicting txs; %s < %s", id, money(fee), money(before),
		)
	}
	if more, needed := fee-before, v.policy.IncrementalFee.Fee(vsize); more < needed {
		return fmt.Sprintf(
			"rejecting replacement %v, not enough additional fees to relay; %s < %s", id, money(more), money(needed),
		)
	}
	return ""
}
