package txs

import (
	"slices"

	"github.com/btcsuite/btcd/btcutil"
	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/messages"
)

// The categories of entries of the history.
const (
	categorySend     = "send"
	categoryReceive  = "receive"
	categoryGenerate = "generate"
	categoryImmature = "immature"
	categoryOrphan   = "orphan"
)

// listing says which entries of the history are which.
type listing struct {
	label  *string // only received entries with it; nil: all
	change bool    // outputs of change too
	all    bool    // whatever the depth; else received entries are at least at 0
	fees   bool    // the fee of what pays change alone, unless change is told of
	trust  *trust
}

// ListTransactions returns the newest entries of the history, the oldest of
// them first.
func (rs *Reports) ListTransactions(r messages.ListTransactions) []messages.TxEntry {
	wanted := int64(r.Count) + int64(r.Skip)
	var found []messages.TxEntry // newest first
	which := listing{label: r.Label, trust: newTrust(rs.ledger), fees: rs.ledger.cfg.FeeEntries}
	for _, t := range slices.Backward(rs.ledger.history.ordered) {
		found = append(found, rs.entries(t, which)...)
		if int64(len(found)) >= wanted {
			break
		}
	}
	from := min(r.Skip, len(found))
	found = found[from:min(from+r.Count, len(found))]
	slices.Reverse(found)
	return found
}

// entries returns the entries of one transaction: what it sent, then what it
// received.
func (rs *Reports) entries(t *tx, which listing) []messages.TxEntry {
	debit := rs.debit(t)
	var sent, received []messages.TxEntry
	shown := rs.txOf(t, which.trust)
	for _, out := range t.outs {
		if debit > 0 && (which.change || !rs.change(out.to)) && which.label == nil {
			sent = append(sent, rs.sentEntry(out, shown, debit))
		}
		skip := debit > 0 && !which.change && rs.change(out.to)
		if out.to.mine && !skip && (which.all || rs.ledger.at.depth(t) >= 0) && rs.labelled(out, which.label) {
			received = append(received, rs.receivedEntry(out, shown))
		}
	}
	if len(sent) == 0 && which.fees && !which.change && which.label == nil && debit > t.value() {
		sent = append(sent, feeEntry(shown, t.value()-debit))
	}
	return append(sent, received...)
}

// feeEntry tells of a transaction that pays change alone.
func feeEntry(shown messages.WalletTx, fee btcutil.Amount) messages.TxEntry {
	return messages.TxEntry{
		Tx: shown, Category: categorySend, NoOutput: true, Fee: fee, HasFee: true, Abandoned: shown.Abandoned,
	}
}

func (rs *Reports) labelled(out *output, wanted *string) bool {
	if wanted == nil {
		return true
	}
	label := rs.labels.Label(out.to.dest)
	return label != nil && *label == *wanted || label == nil && *wanted == ""
}

func (rs *Reports) outputEntry(out *output, shown messages.WalletTx) messages.TxEntry {
	e := messages.TxEntry{Tx: shown, Vout: out.index, Abandoned: shown.Abandoned}
	e.Address, _ = descriptor.AddressOf(out.to.pkScript, rs.net)
	if label := rs.labels.Label(out.to.dest); label != nil && out.to.dest != "" {
		e.Label, e.HasLabel = *label, true
	}
	return e
}

func (rs *Reports) sentEntry(out *output, shown messages.WalletTx, debit btcutil.Amount) messages.TxEntry {
	e := rs.outputEntry(out, shown)
	e.Category, e.Amount = categorySend, -out.amount
	e.Fee, e.HasFee = out.tx.value()-debit, true
	return e
}

func (rs *Reports) receivedEntry(out *output, shown messages.WalletTx) messages.TxEntry {
	e := rs.outputEntry(out, shown)
	e.Amount, e.ParentDescs = out.amount, rs.descriptors.Parents(out.to.pkScript)
	switch {
	case !out.tx.coinbase():
		e.Category = categoryReceive
	case rs.ledger.at.depth(out.tx) < 1:
		e.Category = categoryOrphan
	case rs.ledger.at.immature(out.tx):
		e.Category = categoryImmature
	default:
		e.Category = categoryGenerate
	}
	return e
}

// debit returns what a transaction spends of the wallet.
func (rs *Reports) debit(t *tx) (sum btcutil.Amount) {
	for _, in := range t.record.Tx.TxIn {
		if out := rs.ledger.ownOutput(in.PreviousOutPoint); out != nil {
			sum += out.amount
		}
	}
	return sum
}

// credit returns what a transaction pays to the wallet.
func (t *tx) credit() (sum btcutil.Amount) {
	for _, out := range t.outs {
		if out.to.mine {
			sum += out.amount
		}
	}
	return sum
}

// value returns the sum of all outputs.
func (t *tx) value() (sum btcutil.Amount) {
	for _, out := range t.outs {
		sum += out.amount
	}
	return sum
}

// Since is what the chain knows of the block of a [messages.ListSinceBlock].
type Since struct {
	Fork      *int32             // height of the block, or of the last one below it in the chain; nil: all
	Removed   [][]chainhash.Hash // transactions of the blocks that left the chain, from the block down
	LastBlock chainhash.Hash     // to be asked for next time
}

// SinceBlock returns the entries of the history from blocks above the given one,
// and unconfirmed ones, in the order in which the transactions came.
func (rs *Reports) SinceBlock(r messages.ListSinceBlock, s Since) messages.SinceBlock {
	reply := messages.SinceBlock{LastBlock: s.LastBlock}
	which := listing{label: r.Label, change: r.IncludeChange, trust: newTrust(rs.ledger)}
	for _, t := range rs.ledger.history.ordered {
		depth := rs.ledger.at.depth(t)
		if s.Fork == nil || max(depth, -depth) < rs.ledger.at.tip.Height+1-*s.Fork {
			reply.Transactions = append(reply.Transactions, rs.entries(t, which)...)
		}
	}
	if !r.IncludeRemoved {
		return reply
	}
	which.all = true
	for _, block := range s.Removed {
		for _, id := range block {
			if t := rs.ledger.txs[id]; t != nil {
				reply.Removed = append(reply.Removed, rs.entries(t, which)...)
			}
		}
	}
	return reply
}
