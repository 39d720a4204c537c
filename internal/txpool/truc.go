package txpool

import (
	"fmt"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/messages"
)

// Limits of transactions that are topologically restricted until confirmation
// (BIP431).
const (
	trucVersion = 3
	trucLimit   = 2 // of ancestors and of descendants, itself included
)

func trucViolation(format string, args ...any) *messages.TxReject {
	return refuse(messages.TxPolicy, "TRUC-violation", fmt.Sprintf(format, args...))
}

// named names a transaction in texts.
func named(id, wid *chainhash.Hash) string { return fmt.Sprintf("%v (wtxid=%v)", id, wid) }

// String names the entry as texts do.
func (e *Entry) String() string { return named(&e.ID, &e.WID) }

// checkTRUC applies the rules to one transaction. Where only another child of
// its parent is in the way, that child becomes a conflict.
func (v *verdict) checkTRUC(c *candidate) *messages.TxReject {
	e, ancestors := c.entry, sorted(c.ancestors)
	truc := e.Tx.Version == trucVersion
	for _, a := range ancestors {
		switch restricted := a.Tx.Version == trucVersion; {
		case !truc && restricted:
			return trucViolation("non-version=3 tx %v cannot spend from version=3 tx %v", e, a)
		case truc && !restricted:
			return trucViolation("version=3 tx %v cannot spend from non-version=3 tx %v", e, a)
		}
	}
	switch {
	case !truc:
		return nil
	case e.VSize > v.rules.TRUCSize:
		return trucViolation("version=3 tx %v is too big: %d > %d virtual bytes", e, e.VSize, v.rules.TRUCSize)
	case len(ancestors)+1 > trucLimit, len(ancestors) == 1 && ancestors[0].Ancestors.Count+1 > trucLimit:
		return trucViolation("tx %v would have too many ancestors", e)
	case len(ancestors) == 0:
		return nil
	case e.VSize > v.rules.TRUCChildSize:
		return trucViolation(
			"version=3 child tx %v is too big: %d > %d virtual bytes", e, e.VSize, v.rules.TRUCChildSize,
		)
	}
	return v.checkSibling(c, ancestors[0])
}

// checkSibling allows one child of a parent.
func (v *verdict) checkSibling(c *candidate, parent *Entry) *messages.TxReject {
	children := sorted(parent.children)
	for _, child := range children {
		if _, leaves := c.conflicts[child]; leaves {
			return nil
		}
	}
	if parent.Descendants.Count+1 <= trucLimit {
		return nil
	}
	if v.sibling && parent.Descendants.Count == trucLimit && children[0].Ancestors.Count == trucLimit {
		c.conflicts[children[0]] = struct{}{}
		c.sibling = true
		return nil
	}
	return trucViolation("tx %v would exceed descendant count limit", parent)
}

// checkPackageTRUC applies the rules to a transaction of a package, after checkTRUC has
// with regard to the pool.
func (v *verdict) checkPackageTRUC(c *candidate, txs []*wire.MsgTx) *messages.TxReject {
	e := c.entry
	var parents []*wire.MsgTx
	for _, tx := range txs {
		if tx != e.Tx && spendsFrom(e.Tx, tx.TxHash()) {
			parents = append(parents, tx)
		}
	}
	if e.Tx.Version != trucVersion {
		return checkNotTRUC(c, parents)
	}
	ancestors := sorted(c.ancestors)
	switch {
	case len(ancestors)+len(parents)+1 > trucLimit,
		len(ancestors) == 1 && ancestors[0].Ancestors.Count+len(parents)+1 > trucLimit:
		return trucViolation("tx %v would have too many ancestors", e)
	case len(ancestors)+len(parents) == 0:
		return nil
	case e.VSize > v.rules.TRUCChildSize:
		return trucViolation(
			"version=3 child tx %v is too big: %d > %d virtual bytes", e, e.VSize, v.rules.TRUCChildSize,
		)
	}
	var id, wid chainhash.Hash
	var version int32
	if len(ancestors) > 0 {
		a := ancestors[0]
		id, wid, version = a.ID, a.WID, a.Tx.Version
	} else {
		id, wid, version = parents[0].TxHash(), parents[0].WitnessHash(), parents[0].Version
	}
	if version != trucVersion {
		return trucViolation("version=3 tx %v cannot spend from non-version=3 tx %s", e, named(&id, &wid))
	}
	for _, tx := range txs {
		if tx == e.Tx {
			continue
		}
		for _, in := range tx.TxIn {
			if in.PreviousOutPoint.Hash == id {
				return trucViolation("tx %s would exceed descendant count limit", named(&id, &wid))
			}
			if in.PreviousOutPoint.Hash == e.ID {
				otherID, otherWID := tx.TxHash(), tx.WitnessHash()
				return trucViolation("tx %s would have too many ancestors", named(&otherID, &otherWID))
			}
		}
	}
	return nil
}

// checkNotTRUC keeps other transactions from spending from restricted ones.
func checkNotTRUC(c *candidate, parents []*wire.MsgTx) *messages.TxReject {
	for _, parent := range parents {
		if parent.Version == trucVersion {
			id, wid := parent.TxHash(), parent.WitnessHash()
			return trucViolation("non-version=3 tx %v cannot spend from version=3 tx %s", c.entry, named(&id, &wid))
		}
	}
	return nil
}

func spendsFrom(tx *wire.MsgTx, id chainhash.Hash) bool {
	for _, in := range tx.TxIn {
		if in.PreviousOutPoint.Hash == id {
			return true
		}
	}
	return false
}

// checkDustSpends asks that a transaction that spends from one with dust spends
// the dust too.
func (v *verdict) checkDustSpends(tx *wire.MsgTx) *messages.TxReject {
	if !v.policy.RequireStandard {
		return nil
	}
	left := make(map[wire.OutPoint]struct{})
	seen := make(map[chainhash.Hash]struct{})
	for _, in := range tx.TxIn {
		id := in.PreviousOutPoint.Hash
		if _, done := seen[id]; done {
			continue
		}
		seen[id] = struct{}{}
		parent := v.together[id]
		if e := v.byID[id]; parent == nil && e != nil {
			parent = e.Tx
		}
		if parent == nil {
			continue
		}
		for _, i := range v.dust(parent) {
			left[wire.OutPoint{Hash: id, Index: i}] = struct{}{}
		}
	}
	for _, in := range tx.TxIn {
		delete(left, in.PreviousOutPoint)
	}
	if len(left) == 0 {
		return nil
	}
	id, wid := tx.TxHash(), tx.WitnessHash()
	return refuse(messages.TxPolicy, "missing-ephemeral-spends",
		fmt.Sprintf("tx %s did not spend parent's ephemeral dust", named(&id, &wid)))
}
