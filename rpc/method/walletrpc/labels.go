package walletrpc

import (
	"context"
	"strconv"
	"strings"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/rpc/command"
	"github.com/seed61375155/trawl/rpc/method/walletrpc/internal/labels"
)

func (m *methods) exportLabels() command.Command {
	return command.Command{
		Name:     "exportlabels",
		Category: command.Wallet,
		About:    command.Funds, Effect: command.Reads, Own: true,
		Summary: "Returns the wallet's labels as lines of JSON (BIP329): the address book, the comments of " +
			"transactions, and which\ncoins are locked.",
		Results:  []command.Result{{Type: command.String, Help: "the lines"}},
		Examples: []string{`[]`},
		Run: m.on(func(ctx context.Context, w chosen, _ *command.Args) (any, error) {
			all, err := ask.Ask(ctx, w.ref, messages.GetLabels{})
			if err != nil {
				return nil, err
			}
			return strings.TrimSuffix(string(m.labelLines(&all)), "\n"), nil
		}),
	}
}

// labelLines returns labels as lines.
func (m *methods) labelLines(all *messages.WalletLabels) (lines []byte) {
	for i := range all.Addresses {
		a := &all.Addresses[i]
		lines = labels.Append(lines, &labels.Label{Type: labels.Address, Ref: m.addressOf(a.Script), Label: a.Label})
	}
	for i := range all.Txs {
		t := &all.Txs[i]
		lines = labels.Append(lines, &labels.Label{Type: labels.Tx, Ref: t.TxID.String(), Label: t.Label})
	}
	for i := range all.Outputs {
		o := &all.Outputs[i]
		lines = labels.Append(lines, &labels.Label{Type: labels.Output, Ref: o.Out.String(), Spendable: &o.Spendable})
	}
	return lines
}

func (m *methods) importLabels() command.Command {
	return command.Command{
		Name:     "importlabels",
		Category: command.Wallet,
		About:    command.Funds, Own: true,
		Summary: "Takes labels that this or another wallet has exported (BIP329): of addresses, of transactions, and " +
			"whether outputs\nmay be spent. All are taken in one step, or none if a line cannot be read.",
		Params: []command.Param{{Name: "labels", Type: command.String, Help: "lines of JSON"}},
		Results: []command.Result{{Type: command.Object, Inner: []command.Result{
			{Type: command.Number, Key: "imported", Help: "labels that the wallet has now"},
			{
				Type: command.Number, Key: "skipped",
				Help: "labels that it cannot have: of keys and inputs, of outputs and transactions that are not its " +
					"own",
			},
		}}},
		Examples: []string{`["{\"type\":\"addr\",\"ref\":\"` + exampleAddress + `\",\"label\":\"tabby\"}"]`},
		Run: m.on(func(ctx context.Context, w chosen, a *command.Args) (any, error) {
			text, err := a.String(0)
			if err != nil {
				return nil, err
			}
			lines, err := labels.Parse(text)
			if err != nil {
				return nil, command.Error{Code: command.InvalidParameter, Message: err.Error()}
			}
			q, skipped := m.readLabels(lines)
			done, err := ask.Ask(ctx, w.ref, messages.PutLabels{Labels: q})
			if err != nil {
				return nil, err
			}
			return struct {
				Imported int `json:"imported"`
				Skipped  int `json:"skipped"`
			}{done.Put, skipped + done.Left}, nil
		}),
	}
}

// readLabels returns what a wallet may have of labels, and the number of the others.
func (m *methods) readLabels(lines []labels.Label) (q messages.WalletLabels, skipped int) {
	for i := range lines {
		l := &lines[i]
		switch {
		case l.Type == labels.Address:
			if script, err := descriptor.ScriptOfAddress(l.Ref, m.net); err == nil {
				q.Addresses = append(q.Addresses, messages.AddressLabel{Script: script, Label: l.Label})
				continue
			}
		case l.Type == labels.Tx:
			if id, err := chainhash.NewHashFromStr(l.Ref); err == nil && len(l.Ref) == 2*len(id) {
				q.Txs = append(q.Txs, messages.TxLabel{TxID: *id, Label: l.Label})
				continue
			}
		case l.Type == labels.Output && l.Spendable != nil:
			if at, ok := readOutPoint(l.Ref); ok {
				q.Outputs = append(q.Outputs, messages.OutputLabel{Out: at, Spendable: *l.Spendable})
				continue
			}
		}
		skipped++
	}
	return q, skipped
}

// readOutPoint reads an output as BIP329 writes it.
func readOutPoint(text string) (at wire.OutPoint, ok bool) {
	id, index, _ := strings.Cut(text, ":")
	hash, err := chainhash.NewHashFromStr(id)
	n, wrong := strconv.ParseUint(index, 10, 32)
	if err != nil || wrong != nil || len(id) != 2*len(hash) {
		return at, false
	}
	return wire.OutPoint{Hash: *hash, Index: uint32(n)}, true
}
