package wallet

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

// listing says which entries of the history are wanted.
type listing struct {
	label  *string // only received entries with it; nil: all
	change bool    // outputs of change too
	all    bool    // whatever the depth; else received entries are at least at 0
	trust  *trust
}

// ListTransactions returns the newest entries of the history, the oldest of
// them first.
func (w *Wallet) ListTransactions(r messages.ListTransactions) []messages.TxEntry {
	wanted := int64(r.Count) + int64(r.Skip)
	var found []messages.TxEntry // newest first
	l := listing{label: r.Label, trust: w.newTrust()}
	for _, t := range slices.Backward(w.ordered) {
		found = append(found, w.entries(t, l)...)
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
func (w *Wallet) entries(t *tx, l listing) []messages.TxEntry {
	debit := w.debit(t)
	var sent, received []messages.TxEntry
	shown := w.txOf(t, l.trust)
	for _, out := range t.outs {
		if debit > 0 && (l.change || !w.change(out.script)) && l.label == nil {
			sent = append(sent, w.sentEntry(out, shown, debit))
		}
		skip := debit > 0 && !l.change && w.change(out.script)
		if out.script.mine() && !skip && (l.all || w.depth(t) >= 0) && w.labelled(out, l.label) {
			received = append(received, w.receivedEntry(out, shown))
		}
	}
	return append(sent, received...)
}

func (w *Wallet) labelled(out *output, wanted *string) bool {
	if wanted == nil {
		return true
	}
	label := w.book.Label(out.script.dest)
	return label != nil && *label == *wanted || label == nil && *wanted == ""
}

func (w *Wallet) outputEntry(out *output, shown messages.WalletTx) messages.TxEntry {
	e := messages.TxEntry{Tx: shown, Vout: out.index, Abandoned: shown.Abandoned}
	e.Address, _ = descriptor.AddressOf(out.script.bytes, w.params.Network)
	if label := w.book.Label(out.script.dest); label != nil && out.script.dest != "" {
		e.Label, e.HasLabel = *label, true
	}
	return e
}

func (w *Wallet) sentEntry(out *output, shown messages.WalletTx, debit btcutil.Amount) messages.TxEntry {
	e := w.outputEntry(out, shown)
	e.Category, e.Amount = categorySend, -out.amount
	e.Fee, e.HasFee = out.tx.value()-debit, true
	return e
}

func (w *Wallet) receivedEntry(out *output, shown messages.WalletTx) messages.TxEntry {
	e := w.outputEntry(out, shown)
	e.Amount, e.ParentDescs = out.amount, w.parents(out.script)
	switch {
	case !out.tx.coinbase():
		e.Category = categoryReceive
	case w.depth(out.tx) < 1:
		e.Category = categoryOrphan
	case w.immature(out.tx):
		e.Category = categoryImmature
	default:
		e.Category = categoryGenerate
	}
	return e
}

// parents returns the descriptors that have a script, as far as they are shown.
func (w *Wallet) parents(s *script) []string {
	texts := make([]string, 0, len(s.owners))
	for _, by := range s.owners {
		if text, ok := w.shown(by.source); ok {
			texts = append(texts, text)
		}
	}
	return texts
}

// debit returns what a transaction spends of the wallet.
func (w *Wallet) debit(t *tx) (sum btcutil.Amount) {
	for _, in := range t.record.Tx.TxIn {
		if out := w.ownOutput(in.PreviousOutPoint); out != nil {
			sum += out.amount
		}
	}
	return sum
}

// credit returns what a transaction pays to the wallet.
func (t *tx) credit() (sum btcutil.Amount) {
	for _, out := range t.outs {
		if out.script.mine() {
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
func (w *Wallet) SinceBlock(r messages.ListSinceBlock, s Since) messages.SinceBlock {
	reply := messages.SinceBlock{LastBlock: s.LastBlock}
	l := listing{label: r.Label, change: r.IncludeChange, trust: w.newTrust()}
	for _, t := range w.ordered {
		depth := w.depth(t)
		if s.Fork == nil || max(depth, -depth) < w.tip.Height+1-*s.Fork {
			reply.Transactions = append(reply.Transactions, w.entries(t, l)...)
		}
	}
	if !r.IncludeRemoved {
		return reply
	}
	l.all = true
	for _, block := range s.Removed {
		for _, id := range block {
			if t := w.txs[id]; t != nil {
				reply.Removed = append(reply.Removed, w.entries(t, l)...)
			}
		}
	}
	return reply
}
