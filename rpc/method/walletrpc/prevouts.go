package walletrpc

import (
	"bytes"
	"context"

	"github.com/btcsuite/btcd/btcutil"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/jsontree"
	"github.com/seed61375155/trawl/internal/txjson"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/rpc/command"
	"github.com/seed61375155/trawl/rpc/method/internal/arg"
)

// prevOuts returns the outputs that a transaction spends, as far as they are
// known: those of the chain, and in the place of or beside them those that the
// client brings.
func (m *methods) prevOuts(ctx context.Context, tx *wire.MsgTx, list *jsontree.Value) ([]messages.PrevOut, error) {
	known := prevOutSet{index: make(map[wire.OutPoint]int)}
	if m.Unspent != nil {
		for _, in := range tx.TxIn {
			out, err := m.Unspent(ctx, &in.PreviousOutPoint)
			if err != nil {
				return nil, err
			}
			if out != nil {
				known.put(in.PreviousOutPoint, out.PkScript, new(btcutil.Amount(out.Value)))
			}
		}
	}
	payable, err := arg.Payable(m.net, m.Network.Rules.MayPayTo, m.Chain.Height)
	if err != nil {
		return nil, err
	}
	for _, v := range list.Elements() {
		if err := m.bring(v, payable, &known); err != nil {
			return nil, err
		}
	}
	return known.list, nil
}

// bring adds an output that the client brings. If it replaces an output of the
// chain, both must have the same script.
func (m *methods) bring(v *jsontree.Value, payable func(script []byte) bool, known *prevOutSet) error {
	at, script, err := arg.PrevOut(v, payable)
	if err != nil {
		return err
	}
	if i, ok := known.index[at]; ok && !bytes.Equal(known.list[i].Script, script) {
		return command.Errorf(command.DeserializationError, "Previous output scriptPubKey mismatch:\n%s\nvs:\n%s",
			txjson.Asm(known.list[i].Script), txjson.Asm(script))
	}
	var amount *btcutil.Amount
	if given := v.Get("amount"); given != nil {
		value, err := given.AsAmount(jsontree.Amount(m.Network.Rules.MaxMoney))
		if err != nil {
			return err
		}
		amount = new(btcutil.Amount(value))
	}
	known.put(at, script, amount)
	return nil
}

// prevOutSet is a list of outputs with each of them once.
type prevOutSet struct {
	list  []messages.PrevOut
	index map[wire.OutPoint]int
}

// put adds an output or replaces the output of the same outpoint.
func (s *prevOutSet) put(at wire.OutPoint, script []byte, amount *btcutil.Amount) {
	out := messages.PrevOut{TxID: at.Hash, Index: at.Index, Script: script, Amount: amount}
	if i, ok := s.index[at]; ok {
		s.list[i] = out
		return
	}
	s.index[at] = len(s.list)
	s.list = append(s.list, out)
}
