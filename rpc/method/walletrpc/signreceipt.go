package walletrpc

import (
	"context"

	"github.com/btcsuite/btcd/btcutil"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/bip322"
	"github.com/seed61375155/trawl/internal/jsontree"
	"github.com/seed61375155/trawl/internal/receipt"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/rpc/command"
)

// receiptMessage begins the message by which a receipt is signed; its digest follows.
const receiptMessage = "Trawl receipt "

func (m *methods) signReceipt() command.Command {
	return command.Command{
		Name:     "signreceipt",
		Category: command.Wallet,
		About:    command.Funds, Own: true,
		Summary: "Signs a receipt of scanblocks or getsearch with the wallet's keys by BIP322, for verifybip322 on " +
			"any node.\nA proof of funds has the keys of all the wallet's coins sign that the receipt is about. The " +
			"wallet must be unlocked.",
		Params: []command.Param{
			{Name: "receipt", Type: command.Object, Help: "the receipt"},
			{
				Name: "address", Type: command.String, Default: "address of the first coin",
				Help: "an address of the wallet, whose key signs in any case",
			},
			{
				Name: "format", Type: command.String, Default: `"proof_of_funds"`,
				Help: "\"proof_of_funds\", or of the address alone \"simple\" (\"full\" where a witness is not " +
					"enough) or \"full\"",
			},
		},
		Results: []command.Result{{Type: command.Object, Inner: []command.Result{
			{Type: command.String, Key: "address", Help: "the address"},
			{Type: command.String, Key: "message", Help: "the message that is signed: it has the receipt's digest"},
			{Type: command.String, Key: "signature", Help: "the signature, as verifybip322 takes it"},
			{Type: command.String, Key: "format", Help: "its form"},
			{Type: command.Number, Key: "coins", Help: "how many coins it proves"},
			{Type: command.Amount, Key: "amount", Help: "their value"},
		}}},
		Examples: []string{`[{"version": 1}]`, `[{"version": 1}, "` + exampleAddress + `", "simple"]`},
		Run:      m.on(m.runSignReceipt),
	}
}

// signedReceipt is what signreceipt returns.
type signedReceipt struct {
	Address   string          `json:"address"`
	Message   string          `json:"message"`
	Signature string          `json:"signature"`
	Format    bip322.Form     `json:"format"`
	Coins     int             `json:"coins"`
	Amount    jsontree.Amount `json:"amount"`
}

// coinsToProve are the coins of a proof of funds.
type coinsToProve struct {
	outs  []wire.OutPoint
	first []byte // script of the first coin
	sum   btcutil.Amount
}

func (m *methods) runSignReceipt(ctx context.Context, w chosen, a *command.Args) (any, error) {
	r, err := statedReceipt(a.Value(0))
	if err != nil {
		return nil, err
	}
	format, err := a.StringOr(2, string(bip322.ProofOfFunds))
	if err != nil {
		return nil, err
	}
	s, err := w.state(ctx)
	if err != nil {
		return nil, err
	}
	if err := s.needUnlocked(); err != nil {
		return nil, err
	}
	if err := s.needCheckedKeys(toSign); err != nil {
		return nil, err
	}
	var coins coinsToProve
	switch bip322.Form(format) {
	case bip322.ProofOfFunds:
		if coins, err = m.coinsOf(ctx, w, r); err != nil {
			return nil, err
		}
	case bip322.Simple, bip322.Full:
		if !a.Has(1) {
			return nil, command.Error{Code: command.InvalidParameter, Message: "That format needs an address"}
		}
	default:
		return nil, command.Errorf(command.InvalidParameter, "Unknown format '%s'", format)
	}
	script := coins.first
	if a.Has(1) {
		text, err := a.String(1)
		if err != nil {
			return nil, err
		}
		if script, err = m.script(text, ""); err != nil {
			return nil, err
		}
	}
	return m.sign322(ctx, w, script, receiptMessage+r.Digest().String(), &coins, bip322.Form(format) == bip322.Full)
}

// statedReceipt reads a receipt whose digest is its own.
func statedReceipt(v *jsontree.Value) (*receipt.Receipt, error) {
	r, digest, err := receipt.Parse(v)
	if err != nil {
		return nil, command.Error{Code: command.InvalidParameter, Message: err.Error()}
	}
	if r.Digest() != digest {
		return nil, command.Error{Code: command.InvalidParameter, Message: "The digest is not the receipt's"}
	}
	return r, nil
}

// coinsOf returns the wallet's coins that are as old as the last block of a receipt, or older, and whose scripts are
// those of its descriptors.
func (m *methods) coinsOf(ctx context.Context, w chosen, r *receipt.Receipt) (c coinsToProve, err error) {
	reader := m.Chain.Open()
	if reader == nil {
		return c, command.Error{Code: command.InWarmup, Message: "Loading block index…"}
	}
	active := reader.Active()
	if last := active.At(r.To); last == nil || last.Hash != r.Block {
		return c, command.Error{
			Code: command.InvalidParameter, Message: "The last block of the receipt is not in the active chain",
		}
	}
	coins, err := ask.Ask(ctx, w.ref, messages.ListUnspent{
		MinConf: active.Height() - r.To + 1, MaxConf: 1<<31 - 1, IncludeUnsafe: true, IncludeImmature: true,
		MaxAmount: btcutil.Amount(m.Network.Rules.MaxMoney),
	})
	if err != nil {
		return c, err
	}
	told := map[string]bool{}
	for i := range coins {
		told[string(coins[i].Script)] = false
	}
	if err := m.findTold(ctx, r, told); err != nil {
		return c, err
	}
	for i := range coins {
		if !told[string(coins[i].Script)] {
			continue
		}
		if c.first == nil {
			c.first = coins[i].Script
		}
		c.outs = append(c.outs, wire.OutPoint{Hash: coins[i].TxID, Index: coins[i].Index})
		c.sum += coins[i].Amount
	}
	if len(c.outs) == 0 {
		return c, command.Error{
			Code: command.InvalidParameter, Message: "The wallet has no coins that the receipt is about",
		}
	}
	return c, nil
}

// maxIndices bounds the indices of a receipt with ranges that only searches have.
const maxIndices = 10_000_000

// findTold sets those of some output scripts that a receipt's descriptors have. A receipt may tell more of them than
// memory holds.
func (m *methods) findTold(ctx context.Context, r *receipt.Receipt, told map[string]bool) error {
	if r.Descriptors == nil {
		return command.Error{
			Code:    command.InvalidParameter,
			Message: "The receipt tells no descriptors: it does not say which coins it is about",
		}
	}
	note := func(_ uint32, scripts [][]byte) error {
		for _, script := range scripts {
			if _, is := told[string(script)]; is {
				told[string(script)] = true
			}
		}
		return nil
	}
	for i := range r.Descriptors {
		branches, err := descriptor.Parse(r.Descriptors[i].Text, m.net, descriptor.Options{})
		parts := r.Descriptors[i].Parts(descriptor.MaxRange)
		if len(parts) > 1 && r.Indices() > maxIndices {
			err = descriptor.ErrRangeSize
		}
		for _, part := range parts {
			for _, branch := range branches {
				if err == nil {
					err = branch.ExpandRange(ctx, part.First, part.Last, 1, note)
				}
			}
		}
		if err != nil {
			return command.Error{Code: command.InvalidAddressOrKey, Message: err.Error()}
		}
	}
	return nil
}

// sign322 signs a message by BIP322, and verifies the signature.
func (m *methods) sign322(
	ctx context.Context, w chosen, script []byte, message string, coins *coinsToProve, full bool,
) (any, error) {
	filled, err := ask.Ask(ctx, w.ref, messages.FillPacket{
		PSBT: bip322.Packet(script, message, coins.outs).Encode(), Sign: true, Finalize: true,
	})
	if err != nil {
		return nil, err
	}
	cannot := command.Error{
		Code: command.WalletError, Message: "The wallet cannot sign for the address and all coins",
	}
	p, err := m.Network.DecodePSBT(filled.PSBT)
	if err != nil || !filled.Complete {
		return nil, cannot
	}
	text, form, err := bip322.Signature(p, full)
	if err != nil {
		return nil, cannot
	}
	if result, err := bip322.Verify(ctx, &m.Network.Rules, script, message, text); err != nil {
		return nil, err
	} else if result.State != bip322.Valid {
		return nil, cannot
	}
	return signedReceipt{
		Address: m.addressOf(script), Message: message, Signature: text, Format: form, Coins: len(coins.outs),
		Amount: jsontree.Amount(coins.sum),
	}, nil
}
