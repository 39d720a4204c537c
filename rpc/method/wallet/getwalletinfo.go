package wallet

import (
	"context"
	"slices"
	"time"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/jsontree"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/rpc/command"
)

// legacyVersion is the last version of wallets without descriptors. Core says
// it of all wallets.
const legacyVersion = 169900

// walletInfo is what getwalletinfo returns.
type walletInfo struct {
	Name            string          `json:"walletname"`
	Version         int             `json:"walletversion"`
	Format          string          `json:"format"`
	TxCount         int             `json:"txcount"`
	Keypool         int             `json:"keypoolsize"`
	KeypoolInternal int             `json:"keypoolsize_hd_internal"`
	UnlockedUntil   *int64          `json:"unlocked_until,omitempty"` // encrypted ones
	Fee             jsontree.Amount `json:"paytxfee"`
	PrivateKeys     bool            `json:"private_keys_enabled"`
	AvoidReuse      bool            `json:"avoid_reuse"`
	Scanning        any             `json:"scanning"` // false or scanning
	Descriptors     bool            `json:"descriptors"`
	ExternalSigner  bool            `json:"external_signer"`
	Blank           bool            `json:"blank"`
	Birthtime       int64           `json:"birthtime,omitempty"`
	Flags           []string        `json:"flags"`
	Last            block           `json:"lastprocessedblock"`
}

// scanning is how far a rescan is.
type scanning struct {
	Duration int64   `json:"duration"` // seconds
	Progress float64 `json:"progress"` // 0 to 1
}

// loadingInfo is what getwalletinfo returns for a wallet that is not loaded yet.
type loadingInfo struct {
	Name     string   `json:"walletname"`
	Loading  string   `json:"loading"` // what is being done
	Scanning scanning `json:"scanning"`
}

func (m *methods) getWalletInfo() command.Command {
	return command.Command{
		Name:     "getwalletinfo",
		Category: command.Wallet,
		Summary:  "Returns the state of the wallet. For one that is being loaded or restored it tells how far that is.",
		Results: []command.Result{
			{Type: command.Object, Inner: walletInfoResults},
			{Type: command.Object, When: "for a wallet that the path names and that is being loaded", Inner: []command.Result{
				{Type: command.String, Key: "walletname", Help: "name of the wallet"},
				{Type: command.String, Key: "loading", Help: "what is being done"},
				scanningResult,
			}},
		},
		Examples: []string{`[]`},
		Run: func(ctx context.Context, a *command.Args) (any, error) {
			if a.WalletPath != nil && m.Directory.Lookup(*a.WalletPath) == nil {
				if shown, err := m.loading(ctx, *a.WalletPath); shown != nil || err != nil {
					return shown, err
				}
			}
			return m.on(info)(ctx, a)
		},
	}
}

var scanningResult = command.Result{
	Type: command.Object, Key: "scanning", Help: "how far the rescan is, false when there is none",
	Inner: []command.Result{
		{Type: command.Number, Key: "duration", Help: "seconds since it began"},
		{Type: command.Number, Key: "progress", Help: "what is done, from 0 to 1"},
	},
}

var walletInfoResults = []command.Result{
	{Type: command.String, Key: "walletname", Help: "name of the wallet"},
	{Type: command.Number, Key: "walletversion", Help: "(DEPRECATED) always 169900"},
	{Type: command.String, Key: "format", Help: "format of its file: sqlite"},
	{Type: command.Number, Key: "txcount", Help: "how many transactions it has"},
	{Type: command.Number, Key: "keypoolsize", Help: "how many addresses are derived ahead"},
	{Type: command.Number, Key: "keypoolsize_hd_internal", Optional: true, Help: "how many addresses for change are derived ahead"},
	{
		Type: command.Timestamp, Key: "unlocked_until", Optional: true,
		Help: "(encrypted wallets only) until when it is unlocked, 0 when it is locked",
	},
	{Type: command.Amount, Key: "paytxfee", Help: "always 0"},
	{Type: command.Bool, Key: "private_keys_enabled", Help: "false when it is made only to watch"},
	{Type: command.Bool, Key: "avoid_reuse", Help: "whether coins on addresses that were spent from are told from others"},
	scanningResult,
	{Type: command.Bool, Key: "descriptors", Help: "always true"},
	{Type: command.Bool, Key: "external_signer", Help: "whether its keys are on a signing device"},
	{Type: command.Bool, Key: "blank", Help: "whether it was made without keys"},
	{Type: command.Timestamp, Key: "birthtime", Optional: true, Help: "time before which no block concerns it"},
	{Type: command.Array, Key: "flags", Help: "flags in its file", Inner: []command.Result{
		{Type: command.String, Help: "name of a flag"},
	}},
	lastBlockResult,
}

func info(ctx context.Context, w chosen, _ *command.Args) (any, error) {
	s, err := w.state(ctx)
	if err != nil {
		return nil, err
	}
	shown := walletInfo{
		Name: s.Name, Version: legacyVersion, Format: s.Format, TxCount: s.TxCount,
		Keypool: s.KeypoolSize, KeypoolInternal: s.KeypoolSizeInternal,
		PrivateKeys: s.PrivateKeys, AvoidReuse: s.AvoidReuse, Scanning: false, Descriptors: true,
		ExternalSigner: slices.Contains(s.Flags, "external_signer"), Blank: s.Blank,
		Birthtime: s.Birthtime, Flags: s.Flags, Last: block{s.LastProcessedHash, s.LastProcessedHeight},
	}
	if s.Encrypted {
		var until int64
		if !s.UnlockedUntil.IsZero() {
			until = s.UnlockedUntil.Unix()
		}
		shown.UnlockedUntil = &until
	}
	if s.Scanning {
		shown.Scanning = scanning{seconds(s.ScanDuration), s.ScanProgress}
	}
	return shown, nil
}

// loading tells how far the loading of a wallet is, nil when it is not being
// loaded. Core has no answer.
func (m *methods) loading(ctx context.Context, name string) (*loadingInfo, error) {
	all, err := ask.Control(ctx, m.Wallets, messages.GetLoading{})
	if err != nil {
		return nil, told(err)
	}
	i := slices.IndexFunc(all, func(l messages.WalletLoading) bool { return l.Name == name })
	if i < 0 {
		return nil, nil
	}
	return &loadingInfo{name, all[i].Step, scanning{seconds(time.Since(all[i].Since)), all[i].Progress}}, nil
}

func seconds(d time.Duration) int64 { return int64(d / time.Second) }
