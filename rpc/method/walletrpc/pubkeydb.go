package walletrpc

import (
	"context"
	"encoding/hex"
	"strconv"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/jsontree"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/rpc/command"
)

// lowWatermark is how many imported keys should be left to be given out.
const lowWatermark = 100

// pubKeyEntry is a public key of P2MR with its place as far as that is known.
type pubKeyEntry struct {
	Key     string `json:"pubkey"`
	Account *int64 `json:"account,omitempty"`
	Change  *bool  `json:"change,omitempty"`
	Index   *int64 `json:"index,omitempty"`
}

func (m *methods) exportPubKeyDB() command.Command {
	return command.Command{
		Name:     "exportpubkeydb",
		Category: command.Wallet,
		About:    command.Funds,
		Summary:  "Returns the public keys of P2MR that the wallet knows, for a wallet that only watches to import.",
		Results: []command.Result{{Type: command.Object, Inner: []command.Result{
			{Type: command.Number, Key: "count", Help: "how many there are"},
			{Type: command.Array, Key: "pubkeys", Help: "the keys, in ascending order", Inner: []command.Result{
				{Type: command.Object, Inner: []command.Result{
					{Type: command.Hex, Key: "pubkey", Help: "the public key"},
					{Type: command.Number, Key: "account", Optional: true, Help: "its account, if known"},
					{Type: command.Bool, Key: "change", Optional: true, Help: "whether it is for change, if known"},
					{Type: command.Number, Key: "index", Optional: true, Help: "its index, if known"},
				}},
			}},
		}}},
		Examples: []string{`[]`},
		Run: m.on(func(ctx context.Context, w chosen, _ *command.Args) (any, error) {
			keys, err := ask.Ask(ctx, w.ref, messages.ExportPubKeys{})
			if err != nil {
				return nil, err
			}
			shown := make([]pubKeyEntry, len(keys))
			for i, key := range keys {
				shown[i] = pubKeyEntry{hex.EncodeToString(key.Key[:]), key.Account, key.Change, key.Index}
			}
			return struct {
				Count int           `json:"count"`
				Keys  []pubKeyEntry `json:"pubkeys"`
			}{len(shown), shown}, nil
		}),
	}
}

// pubKeyAddress is what getnextpubkeydbaddress returns.
type pubKeyAddress struct {
	Address   string `json:"address"`
	Key       string `json:"pubkey"`
	Internal  bool   `json:"internal"`
	Account   int64  `json:"account"`
	Index     int64  `json:"index"`
	Remaining int    `json:"remaining"`
}

func (m *methods) getNextPubKeyDBAddress() command.Command {
	return command.Command{
		Name:     "getnextpubkeydbaddress",
		Category: command.Wallet,
		About:    command.Funds,
		Summary:  "Gives out the next address of imported public keys that nobody has paid to.",
		Params: []command.Param{
			{Name: "internal", Type: command.Bool, Default: "false", Help: "whether it is for change"},
			{Name: "account", Type: command.Number, Default: "0", Help: "the account"},
		},
		Results: []command.Result{{Type: command.Object, Inner: []command.Result{
			{Type: command.String, Key: "address", Help: "the address"},
			{Type: command.Hex, Key: "pubkey", Help: "its public key"},
			{Type: command.Bool, Key: "internal", Help: "whether it is for change"},
			{Type: command.Number, Key: "account", Help: "its account"},
			{Type: command.Number, Key: "index", Help: "its index"},
			{Type: command.Number, Key: "remaining", Help: "how many can be given out after it"},
		}}},
		Examples: []string{`[]`, `[true]`},
		Run: m.on(func(ctx context.Context, w chosen, a *command.Args) (any, error) {
			var q messages.NextPubKey
			var err error
			if q.Internal, err = a.BoolOr(0, false); err != nil {
				return nil, err
			}
			if a.Has(1) {
				if q.Account, err = a.Value(1).AsInt64(); err != nil {
					return nil, err
				}
			}
			got, err := ask.Ask(ctx, w.ref, q)
			if err != nil {
				return nil, err
			}
			return pubKeyAddress{
				got.Address, hex.EncodeToString(got.Key[:]), q.Internal, q.Account, got.Index, got.Remaining,
			}, nil
		}),
	}
}

// pubKeyPool is a pool of imported keys as listpubkeydbstatus shows it.
type pubKeyPool struct {
	Account      int64 `json:"account"`
	Internal     bool  `json:"internal"`
	Next         int64 `json:"next_index"`
	Highest      int64 `json:"highest_imported_index"`
	Remaining    int   `json:"remaining"`
	LowWatermark int   `json:"low_watermark"`
	NeedsTopUp   bool  `json:"needs_topup"`
}

func (m *methods) listPubKeyDBStatus() command.Command {
	return command.Command{
		Name:     "listpubkeydbstatus",
		Category: command.Wallet,
		About:    command.Funds,
		Summary:  "Tells how many addresses of imported public keys are left.",
		Results: []command.Result{{Type: command.Object, Inner: []command.Result{
			{Type: command.Array, Key: "chains", Help: "the pools of keys, by account", Inner: []command.Result{
				{Type: command.Object, Inner: []command.Result{
					{Type: command.Number, Key: "account", Help: "the account"},
					{Type: command.Bool, Key: "internal", Help: "whether they are for change"},
					{
						Type: command.Number, Key: "next_index",
						Help: "index of the next key; behind the highest if there is none",
					},
					{Type: command.Number, Key: "highest_imported_index", Help: "the highest index"},
					{Type: command.Number, Key: "remaining", Help: "how many can be given out"},
					{Type: command.Number, Key: "low_watermark", Help: "how many should be left"},
					{Type: command.Bool, Key: "needs_topup", Help: "whether no more than that are left"},
				}},
			}},
		}}},
		Examples: []string{`[]`},
		Run: m.on(func(ctx context.Context, w chosen, _ *command.Args) (any, error) {
			pools, err := ask.Ask(ctx, w.ref, messages.ListPubKeyPools{})
			if err != nil {
				return nil, err
			}
			shown := make([]pubKeyPool, len(pools))
			for i, p := range pools {
				shown[i] = pubKeyPool{
					p.Account, p.Internal, p.Next, p.Highest, p.Remaining, lowWatermark, p.Remaining <= lowWatermark,
				}
			}
			return struct {
				Chains []pubKeyPool `json:"chains"`
			}{shown}, nil
		}),
	}
}

func (m *methods) importPubKeyDB() command.Command {
	return command.Command{
		Name:     "importpubkeydb",
		Category: command.Wallet,
		About:    command.Funds,
		Summary: "Adds public keys of P2MR to a wallet without private keys, and looks for what they were paid.\n" +
			"Those with an index are given out by getnextpubkeydbaddress.",
		Params: []command.Param{
			{
				Name: "pubkeys", Type: command.Array, Help: "the keys, as exportpubkeydb returns them",
				Inner: []command.Param{
					{Type: command.Object, Optional: true, Inner: []command.Param{
						{Name: "pubkey", Type: command.Hex, Help: "the public key"},
						{Name: "account", Type: command.Number, Optional: true, Help: "its account"},
						{Name: "change", Type: command.Bool, Optional: true, Help: "whether it is for change"},
						{Name: "index", Type: command.Number, Optional: true, Help: "its index"},
					}},
				},
			},
			{
				Name: "internal", Type: command.Bool, Default: "false",
				Help: "whether keys are for change that do not tell",
			},
			{
				Name: "timestamp", Type: command.Number, Optional: true, AnyType: true,
				Help: "time from which on they may have been paid to, or \"now\", which is the default",
			},
		},
		Results: []command.Result{{Type: command.Object, Inner: []command.Result{
			{Type: command.Number, Key: "imported", Help: "how many entries were new"},
		}}},
		Examples: []string{`[[{"pubkey": "3d69debe97aea0e7a8e04ba7e6eec390013f9d276b447b6681730e71e3934ddf", "index": 0}]]`},
		Run: m.on(func(ctx context.Context, w chosen, a *command.Args) (any, error) {
			q := messages.ImportPubKeys{Timestamp: messages.NowTimestamp}
			internal, err := a.BoolOr(1, false)
			if err != nil {
				return nil, err
			}
			if a.Has(2) {
				q.Timestamp, q.BadTime = pubKeyTime(a.Value(2))
			}
			for _, v := range a.Value(0).Elements() {
				item, refused := readPubKey(v, internal)
				if refused != nil {
					q.Refused = refused
					break
				}
				q.Entries = append(q.Entries, item)
			}
			imported, err := ask.Ask(ctx, w.ref, q)
			if err != nil {
				return nil, err
			}
			return struct {
				Imported int `json:"imported"`
			}{imported}, nil
		}),
	}
}

// refusal is what is wrong with an argument that the wallet is yet to come to.
func refusal(code command.Code, text string) *messages.WalletError {
	return &messages.WalletError{Code: int(code), Text: text}
}

func pubKeyTime(v *jsontree.Value) (int64, *messages.WalletError) {
	const want = "Expected integer or \"now\" timestamp value, got "
	switch v.Kind() {
	case jsontree.Number, jsontree.String:
		if v.Kind() == jsontree.String && v.Text() == "now" {
			return messages.NowTimestamp, nil
		}
		at, err := strconv.ParseInt(v.Text(), 10, 64)
		if err != nil {
			return 0, refusal(command.TypeError, want+v.Text())
		}
		return at, nil
	default:
		return 0, refusal(command.TypeError, want+"type "+v.Kind().String())
	}
}

// readPubKey reads one key, checking in the reference's order.
func readPubKey(v *jsontree.Value, internal bool) (item messages.PubKeyItem, refused *messages.WalletError) {
	if v.Kind() != jsontree.Object || v.Get("pubkey") == nil {
		return item, refusal(command.TypeError, "Each pubkey entry must be an object with a 'pubkey' field")
	}
	account, refused := pubKeyNumber(v, "account")
	if refused != nil {
		return item, refused
	}
	if item.Index, refused = pubKeyNumber(v, "index"); refused != nil {
		return item, refused
	}
	if account != nil {
		item.Account = *account
	}
	text, err := v.Get("pubkey").AsString()
	if err != nil {
		return item, refusal(command.TypeError, err.Error())
	}
	raw, err := hex.DecodeString(text)
	switch {
	case err != nil || len(raw) == 0:
		return item, refusal(command.InvalidParameter, "Invalid hex in 'pubkey' field")
	case len(raw) != len(item.Key):
		return item, refusal(command.InvalidParameter, "P2MR pubkey must be 32 bytes")
	}
	item.Key, item.Text = [32]byte(raw), text
	item.Internal, item.Refused = pubKeyUse(v, internal)
	return item, nil
}

func pubKeyNumber(v *jsontree.Value, name string) (*int64, *messages.WalletError) {
	field := v.Get(name)
	if field == nil {
		return nil, nil
	}
	if field.Kind() != jsontree.Number {
		return nil, refusal(command.TypeError, "Pubkey entry field '"+name+"' must be a number")
	}
	n, err := field.AsInt64()
	switch {
	case err != nil:
		return nil, refusal(command.MiscError, err.Error())
	case n < 0:
		return nil, refusal(command.InvalidParameter, "Pubkey entry field '"+name+"' must be non-negative")
	}
	return &n, nil
}

// pubKeyUse reads whether a key is for change.
func pubKeyUse(v *jsontree.Value, internal bool) (bool, *messages.WalletError) {
	var given *bool
	for _, name := range []string{"change", "internal"} {
		field := v.Get(name)
		if field == nil {
			continue
		}
		use, err := field.AsBool()
		switch {
		case err != nil:
			return false, refusal(command.TypeError, "Pubkey entry field '"+name+"' must be a boolean")
		case given != nil && *given != use:
			return false, refusal(command.InvalidParameter,
				"Pubkey entry fields 'change' and 'internal' must match when both are provided")
		}
		given = &use
	}
	if given != nil {
		internal = *given
	}
	return internal, nil
}
