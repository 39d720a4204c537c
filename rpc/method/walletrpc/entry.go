package walletrpc

import (
	"maps"
	"slices"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/internal/jsontree"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/rpc/command"
)

// entry is a JSON object in the making.
type entry jsontree.Members

func (e *entry) add(key string, value any) { *e = append(*e, jsontree.Member{Key: key, Value: value}) }

// set replaces the member with this key, or adds one.
func (e *entry) set(key string, value any) {
	if i := slices.IndexFunc(*e, func(m jsontree.Member) bool { return m.Key == key }); i >= 0 {
		(*e)[i].Value = value
		return
	}
	e.add(key, value)
}

// entries shows payments. With the details of its transaction each stands for
// itself.
func (m *methods) entries(list []messages.TxEntry, withTx bool) []jsontree.Members {
	shown := make([]jsontree.Members, len(list))
	for i := range list {
		shown[i] = m.entryOf(&list[i], withTx)
	}
	return shown
}

func (m *methods) entryOf(p *messages.TxEntry, withTx bool) jsontree.Members {
	e := make(entry, 0, 32)
	if p.Address != "" {
		e.add("address", p.Address)
	}
	sent := p.Category == "send"
	if !sent {
		e.add("parent_descs", p.ParentDescs)
	}
	e.add("category", p.Category)
	e.add("amount", jsontree.Amount(p.Amount))
	if p.HasLabel {
		e.add("label", p.Label)
	}
	if !p.NoOutput {
		e.add("vout", p.Vout)
	}
	if p.HasFee {
		e.add("fee", jsontree.Amount(p.Fee))
	}
	if !sent {
		e.add("abandoned", p.Abandoned)
	}
	if withTx {
		e.addTx(&p.Tx, m.Network.TxNotes)
	}
	if sent {
		e.add("abandoned", p.Abandoned)
	}
	return jsontree.Members(e)
}

// addTx adds what is known of a transaction. The texts kept with it come last: those of some names, or
// all, of which each stands in place of a member of its name, as in Core 30.
func (e *entry) addTx(tx *messages.WalletTx, names []string) {
	e.add("confirmations", tx.Confirmations)
	if tx.Coinbase {
		e.add("generated", true)
	}
	if tx.BlockHash == (chainhash.Hash{}) {
		e.add("trusted", tx.Trusted)
	} else {
		e.add("blockhash", tx.BlockHash)
		e.add("blockheight", tx.BlockHeight)
		e.add("blockindex", tx.BlockIndex)
		e.add("blocktime", tx.BlockTime)
	}
	e.add("txid", tx.TxID)
	e.add("wtxid", tx.WTxID)
	e.add("walletconflicts", tx.Conflicts)
	e.add("mempoolconflicts", tx.MempoolConflicts)
	e.add("time", tx.Time)
	e.add("timereceived", tx.TimeReceived)
	e.add("bip125-replaceable", tx.Replaceable)
	if names == nil {
		names = slices.Sorted(maps.Keys(tx.Values))
	}
	for _, name := range names {
		if text, there := tx.Values[name]; there {
			e.set(name, text)
		}
	}
}

const categoryHelp = "\"send\": paid by the wallet\n" +
	"\"receive\": paid to it, other than by a coinbase\n" +
	"\"generate\": paid to it by a coinbase and spendable\n" +
	"\"immature\": paid to it by a coinbase and too young to be spent\n" +
	"\"orphan\": paid to it by a coinbase that is not in the chain"

// entryResults declares an entry as it is alone, without its transaction.
var entryResults = []command.Result{
	{Type: command.String, Key: "address", Optional: true, Help: "the address, if the output has one"},
	{
		Type: command.Array, Key: "parent_descs", Optional: true,
		Help:  "(not for \"send\") descriptors of the wallet that the output's script comes from",
		Inner: []command.Result{{Type: command.String, Help: "a descriptor"}},
	},
	{Type: command.String, Key: "category", Help: categoryHelp},
	{Type: command.Amount, Key: "amount", Help: "the amount, negative for \"send\""},
	{Type: command.String, Key: "label", Optional: true, Help: "label of the address, if it has one"},
	{
		Type: command.Number, Key: "vout", Optional: true,
		Help: "number of the output, unless the entry is about a fee alone",
	},
	{Type: command.Amount, Key: "fee", Optional: true, Help: "(only for \"send\") the transaction's fee, negative"},
	{Type: command.Bool, Key: "abandoned", Help: "whether the transaction was given up"},
}

// txResults declares what is known of a transaction.
var txResults = []command.Result{
	{
		Type: command.Number, Key: "confirmations",
		Help: "its confirmations, negative when a block that deep conflicts with it",
	},
	{Type: command.Bool, Key: "generated", Optional: true, Help: "true, for a coinbase"},
	{
		Type: command.Bool, Key: "trusted", Optional: true,
		Help: "(unconfirmed ones only) whether its outputs are safe to spend",
	},
	{Type: command.Hex, Key: "blockhash", Optional: true, Help: "hash of its block"},
	{Type: command.Number, Key: "blockheight", Optional: true, Help: "height of its block"},
	{Type: command.Number, Key: "blockindex", Optional: true, Help: "its position in the block"},
	{Type: command.Timestamp, Key: "blocktime", Optional: true, Help: "time of its block"},
	{Type: command.Hex, Key: "txid", Help: "its id"},
	{Type: command.Hex, Key: "wtxid", Help: "its hash with witnesses"},
	{
		Type: command.Array, Key: "walletconflicts", Help: "transactions of the wallet that it conflicts with",
		Inner: []command.Result{{Type: command.Hex, Help: "id of a transaction"}},
	},
	{
		Type: command.Array, Key: "mempoolconflicts", Help: "transactions in the mempool that it conflicts with",
		Inner: []command.Result{{Type: command.Hex, Help: "id of a transaction"}},
	},
	{Type: command.Timestamp, Key: "time", Help: "its time"},
	{Type: command.Timestamp, Key: "timereceived", Help: "when the wallet first saw it"},
	{
		Type: command.String, Key: "bip125-replaceable", Until: 32, Switch: "bip125",
		Help: "\"yes\", \"no\" or \"unknown\": whether it may be replaced by one with a higher fee",
	},
	{Type: command.String, Key: "comment", Optional: true, Help: "a comment kept with it"},
	{Type: command.String, Key: "to", Optional: true, Help: "a comment kept with it, on who is paid"},
	{Type: command.Hex, Key: "replaced_by_txid", Optional: true, Help: "the transaction that replaced it"},
	{Type: command.Hex, Key: "replaces_txid", Optional: true, Help: "the transaction that it replaced"},
}

// listedEntry declares an entry with its transaction.
var listedEntry = command.Result{Type: command.Object, Inner: slices.Concat(entryResults, txResults)}
