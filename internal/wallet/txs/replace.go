package txs

import (
	"maps"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/wallet/book"
)

// Depth returns how many blocks confirm a transaction of the wallet; it is negative for a
// transaction in conflict with a block.
func (sp *Spending) Depth(id chainhash.Hash) int32 {
	if t := sp.ledger.txs[id]; t != nil {
		return sp.ledger.at.depth(t)
	}
	return 0
}

// ReplacedBy returns the id of the transaction that replaces one of the wallet, as the file
// has it. It is false where none does.
func (sp *Spending) ReplacedBy(id chainhash.Hash) (by string, replaced bool) {
	if t := sp.ledger.txs[id]; t != nil {
		by, replaced = t.record.Values[noteReplacedBy]
	}
	return by, replaced
}

// Rival returns the transaction of the wallet, confirmed or not, that spends an output and stands in the way of a
// replacement of old. It is neither old nor a transaction that old replaced, and neither given up nor in conflict
// with a block.
func (sp *Spending) Rival(at wire.OutPoint, old chainhash.Hash) (id chainhash.Hash, there bool) {
	for _, t := range sp.ledger.spends[at] {
		if kind := t.state.kind; kind != abandoned && kind != conflicted && !sp.Supersedes(old, t.record.ID) {
			return t.record.ID, true
		}
	}
	return id, false
}

// Supersedes reports whether a transaction of the wallet is the other transaction, or replaced it, directly or in
// turn. Both transactions of each step must name each other.
func (sp *Spending) Supersedes(id, other chainhash.Hash) bool {
	for seen := map[chainhash.Hash]bool{}; !seen[id]; {
		if id == other {
			return true
		}
		seen[id] = true
		t := sp.ledger.txs[id]
		if t == nil {
			return false
		}
		before, err := chainhash.NewHashFromStr(t.record.Values[noteReplaces])
		if err != nil {
			return false
		}
		if by, _ := sp.ReplacedBy(*before); by != id.String() {
			return false
		}
		id = *before
	}
	return false
}

// IsChange reports whether an output script is taken for change: it is the wallet's, and
// nobody has given it a label.
func (sp *Spending) IsChange(pkScript []byte) bool {
	return sp.ledger.cfg.Owner.IsMine(pkScript) &&
		sp.reports.labels.Label(book.DestinationOf(sp.reports.net, pkScript)) == nil
}

// HasAddress reports whether there is an address for an output script.
func (sp *Spending) HasAddress(pkScript []byte) bool {
	return book.DestinationOf(sp.reports.net, pkScript) != ""
}

// Replace takes in a transaction that replaces old, a transaction of the wallet. It gets
// the texts of old, but for those in without, and each names the other.
func (sp *Spending) Replace(transaction *wire.MsgTx, old chainhash.Hash, without []string, now int64) {
	replaced := sp.ledger.txs[old]
	values := maps.Clone(replaced.record.Values)
	if values == nil {
		values = make(map[string]string)
	}
	for _, name := range without {
		delete(values, name)
	}
	values[noteReplaces] = old.String()
	sp.Commit(transaction, values, now)
	id := transaction.TxHash()
	t := sp.ledger.txs[id]
	t.record.OrderForm = replaced.record.OrderForm
	sp.ledger.writeTx(t)
	// Both may share one map of texts.
	replaced.record.Values = maps.Clone(replaced.record.Values)
	if replaced.record.Values == nil {
		replaced.record.Values = make(map[string]string)
	}
	replaced.record.Values[noteReplacedBy] = id.String()
	sp.ledger.writeTx(replaced)
}
