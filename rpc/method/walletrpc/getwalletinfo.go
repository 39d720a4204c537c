package walletrpc

import (
	"context"
	"slices"
	"time"

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
	PQC             *validation     `json:"pqc_key_validation,omitempty"` // networks that pay to P2MR
	ExternalSigner  bool            `json:"external_signer"`
	Blank           bool            `json:"blank"`
	Birthtime       *int64          `json:"birthtime,omitempty"`
	Flags           []string        `json:"flags"`
	Last            block           `json:"lastprocessedblock"`
}

// validation is how far private keys of P2MR have been checked.
type validation struct {
	Status      string  `json:"status"`
	Progress    float64 `json:"progress"` // 0 to 1
	Plain       int     `json:"plaintext_records"`
	Pending     int     `json:"pending_records"`
	Valid       int     `json:"validated_records"`
	Failed      int     `json:"failed_records"`
	Blocked     bool    `json:"signing_blocked"`
	Recommended bool    `json:"encryption_recommended"`
}

func newValidation(v messages.PQCValidation) *validation {
	plain := v.Pending + v.Valid + v.Failed
	shown := &validation{
		Status: "not_required", Progress: 1, Plain: plain, Pending: v.Pending, Valid: v.Valid, Failed: v.Failed,
		Blocked: v.Pending+v.Failed > 0, Recommended: !v.Encrypted && plain > 0 && v.Failed == 0,
	}
	if plain > 0 {
		shown.Progress = float64(v.Valid) / float64(plain)
	}
	switch {
	case v.Failed > 0:
		shown.Status = "failed"
	case v.Pending > 0:
		shown.Status = "running"
	case plain > 0:
		shown.Status = "complete"
	}
	return shown
}

// scanning is how far a rescan is.
type scanning struct {
	Duration int64   `json:"duration"` // seconds
	Progress float64 `json:"progress"` // 0 to 1
}

func (m *methods) getWalletInfo() command.Command {
	return command.Command{
		Name:     "getwalletinfo",
		Category: command.Wallet,
		About:    command.Funds, Effect: command.Reads,
		Summary:  "Returns the state of the wallet.",
		Results:  []command.Result{{Type: command.Object, Inner: walletInfoResults}},
		Examples: []string{`[]`},
		Run:      m.on(m.info),
	}
}

var scanningResult = command.Result{
	Type: command.Object, Key: "scanning", Help: "how far the rescan is, false when there is none", OrFalse: true,
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
	{
		Type: command.Number, Key: "keypoolsize_hd_internal", Optional: true,
		Help: "how many addresses for change are derived ahead",
	},
	{
		Type: command.Timestamp, Key: "unlocked_until", Optional: true,
		Help: "(encrypted wallets only) until when it is unlocked, 0 when it is locked",
	},
	{
		Type: command.Amount, Key: "paytxfee", Until: 32,
		Help: "fee rate for 1000 virtual bytes that settxfee set; 0 for none",
	},
	{Type: command.Bool, Key: "private_keys_enabled", Help: "false when it is made only to watch"},
	{
		Type: command.Bool, Key: "avoid_reuse",
		Help: "whether coins on addresses that were spent from are told from others",
	},
	scanningResult,
	{Type: command.Bool, Key: "descriptors", Help: "always true"},
	{
		Type: command.Object, Key: "pqc_key_validation", Optional: true,
		Help: "how far unencrypted private keys of P2MR have been checked; networks that pay to P2MR",
		Inner: []command.Result{
			{Type: command.String, Key: "status", Help: "not_required, running, complete or failed"},
			{Type: command.Number, Key: "progress", Help: "what is done, from 0 to 1"},
			{Type: command.Number, Key: "plaintext_records", Help: "how many there are"},
			{Type: command.Number, Key: "pending_records", Help: "how many are yet to be checked"},
			{Type: command.Number, Key: "validated_records", Help: "how many are right"},
			{Type: command.Number, Key: "failed_records", Help: "how many do not belong to their public keys"},
			{Type: command.Bool, Key: "signing_blocked", Help: "whether nothing is signed because of that"},
			{Type: command.Bool, Key: "encryption_recommended", Help: "whether the wallet should get a passphrase"},
		},
	},
	{Type: command.Bool, Key: "external_signer", Help: "whether its keys are on a signing device"},
	{Type: command.Bool, Key: "blank", Help: "whether it was made without keys"},
	{Type: command.Timestamp, Key: "birthtime", Optional: true, Help: "time before which no block concerns it"},
	{Type: command.Array, Key: "flags", Help: "flags in its file", Inner: []command.Result{
		{Type: command.String, Help: "name of a flag"},
	}},
	lastBlockResult,
}

func (m *methods) info(ctx context.Context, w chosen, _ *command.Args) (any, error) {
	s, err := w.state(ctx)
	if err != nil {
		return nil, err
	}
	shown := walletInfo{
		Name: s.Name, Version: legacyVersion, Format: s.Format, TxCount: s.TxCount,
		Keypool: s.KeypoolSize, KeypoolInternal: s.KeypoolSizeInternal,
		Fee:         jsontree.Amount(s.PayFee),
		PrivateKeys: s.PrivateKeys, AvoidReuse: s.AvoidReuse, Scanning: false, Descriptors: true,
		ExternalSigner: hasSigner(s), Blank: s.Blank,
		Flags: s.Flags, Last: block{s.LastProcessedHash, s.LastProcessedHeight},
	}
	if m.Network.Wallet().SlowKeys {
		shown.PQC = newValidation(s.PQC)
	}
	if s.Born {
		shown.Birthtime = &s.Birthtime
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

// hasSigner reports whether the keys of a wallet are on a signing device.
func hasSigner(s state) bool { return slices.Contains(s.Flags, "external_signer") }

func seconds(d time.Duration) int64 { return int64(d / time.Second) }
