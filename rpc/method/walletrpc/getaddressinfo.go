package walletrpc

import (
	"context"
	"encoding/hex"
	"slices"

	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/rpc/command"
	"github.com/seed61375155/trawl/rpc/method/internal/arg"
)

// addressInfo is what getaddressinfo returns.
type addressInfo struct {
	Address    string `json:"address"`
	Script     string `json:"scriptPubKey"`
	IsMine     bool   `json:"ismine"`
	Solvable   bool   `json:"solvable"`
	Desc       string `json:"desc,omitempty"`
	ParentDesc string `json:"parent_desc,omitempty"`
	WatchOnly  bool   `json:"iswatchonly"`
	arg.AddressDetail
	addressKeys
	IsChange bool `json:"ischange"`
	*keyOrigin
	Labels []string `json:"labels"`
	*pqcUsage
}

// keyOrigin tells where the key of an address comes from.
type keyOrigin struct {
	Timestamp int64  `json:"timestamp"`
	KeyPath   string `json:"hdkeypath"`
	SeedID    string `json:"hdseedid"`
	MasterFP  string `json:"hdmasterfingerprint"`
}

func (m *methods) getAddressInfo() command.Command {
	return command.Command{
		Name:     "getaddressinfo",
		Category: command.Wallet,
		About:    command.Funds, Effect: command.Reads,
		Summary:  "Tells of an address, and what the wallet knows of it.",
		Params:   []command.Param{{Name: "address", Type: command.String, Help: "the address"}},
		Results:  []command.Result{{Type: command.Object, Inner: addressInfoResults()}},
		Examples: []string{`["` + exampleAddress + `"]`},
		Run:      m.on(m.describe),
	}
}

func addressInfoResults() []command.Result {
	return slices.Concat([]command.Result{
		{Type: command.String, Key: "address", Help: "the address in its usual form"},
		{Type: command.Hex, Key: "scriptPubKey", Help: "its script"},
		{Type: command.Bool, Key: "ismine", Help: "whether it is the wallet's"},
		{Type: command.Bool, Key: "solvable", Help: "whether the wallet could spend what is paid to it, had it the " +
			"private keys"},
		{Type: command.String, Key: "desc", Optional: true, Help: "descriptor of this address alone, if it is " +
			"solvable"},
		{Type: command.String, Key: "parent_desc", Optional: true, Help: "descriptor of the wallet that it comes from"},
		{Type: command.Bool, Key: "iswatchonly", Help: "(DEPRECATED) always false"},
	}, arg.AddressDetailResults, addressKeysResults, []command.Result{
		{Type: command.Bool, Key: "ischange", Help: "whether it is an address of the wallet without a label"},
		{Type: command.Timestamp, Key: "timestamp", Optional: true, Help: "time from which on it may have been paid " +
			"to"},
		{Type: command.String, Key: "hdkeypath", Optional: true, Help: "path of its key from the master key"},
		{Type: command.Hex, Key: "hdseedid", Optional: true, Help: "always zeros"},
		{Type: command.Hex, Key: "hdmasterfingerprint", Optional: true, Help: "fingerprint of the master key"},
		{
			Type: command.Array, Key: "labels", Help: "its label, if it has one",
			Inner: []command.Result{{Type: command.String, Help: "the label"}},
		},
	}, pqcUsageResults)
}

func (m *methods) describe(ctx context.Context, w chosen, a *command.Args) (any, error) {
	text, err := a.String(0)
	if err != nil {
		return nil, err
	}
	script, err := descriptor.ScriptOfAddress(text, m.net)
	if err != nil {
		return nil, command.Error{Code: command.InvalidAddressOrKey, Message: arg.AddressFaultOf(text, m.net).Text}
	}
	got, err := ask.Ask(ctx, w.ref, messages.GetAddressInfo{Script: script})
	if err != nil {
		return nil, err
	}
	info := addressInfo{
		Address: m.addressOf(script), Script: hex.EncodeToString(script),
		IsMine: got.IsMine, Solvable: got.Solvable, Desc: got.Desc, ParentDesc: got.ParentDesc,
		AddressDetail: arg.AddressDetailOf(script, m.net), addressKeys: m.keysOf(script, &got),
		IsChange: got.IsChange, Labels: got.Labels,
	}
	if got.HasPath {
		info.keyOrigin = &keyOrigin{got.Timestamp, got.KeyPath, got.SeedID, got.MasterFP}
	}
	info.pqcUsage = newPQCUsage(got.PQCKeys)
	return info, nil
}
