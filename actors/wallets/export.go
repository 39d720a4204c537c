package wallets

import (
	"context"
	"errors"
	"os"
	"slices"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/wallet"
	"github.com/seed61375155/trawl/internal/wallet/codes"
	"github.com/seed61375155/trawl/internal/walletfile"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/store/walletdb"
)

var errExport = codes.Errorf(codes.Wallet, "Error: Unable to write the exported wallet")

// exportWatchOnly writes a wallet's file without private keys, of what the file of this one says.
func (t *caller) exportWatchOnly(j *ask.Job, q messages.ExportWatchOnly) (messages.Done, error) {
	if q.Path == "" {
		return messages.Done{}, codes.Errorf(codes.Wallet, "Error: Export destination cannot be empty")
	}
	if _, err := os.Lstat(q.Path); err == nil {
		return messages.Done{}, exists(q.Path)
	}
	file, err := t.savedFile(j, func() { t.ledger.Pool().TopUp() })
	if err == nil {
		err = t.writeWatchOnly(j.Context(), file, q.Path)
	}
	return messages.Done{}, err
}

// writeWatchOnly makes the file, which gets its name when it is complete.
//
// Errors: [*messages.WalletError].
func (h *home) writeWatchOnly(ctx context.Context, from *walletdb.DB, path string) error {
	begun := false
	//nolint:contextcheck // files know no contexts
	made, err := walletdb.Create(path, h.cfg.fileOptions(), func(b *walletdb.Batch) error {
		begun = true
		records, err := h.watchOnly(ctx, from)
		if err != nil {
			return err
		}
		return walletdb.Fill(records)(b)
	})
	if err == nil {
		err = made.Close()
	}
	switch {
	case err == nil, isAnswer(err):
		return err
	case errors.Is(err, walletdb.ErrExists):
		return exists(path)
	}
	h.cfg.Log.Error("wallet not exported", "wallet", h.label(), "err", err)
	if !begun {
		return codes.Errorf(codes.Wallet, "Error: Could not create file '%s'", path)
	}
	return errExport
}

// watchOnly returns the records of a wallet's file without private keys.
func (h *home) watchOnly(ctx context.Context, from *walletdb.DB) ([]walletfile.Record, error) {
	records, err := from.Records()
	if err != nil {
		return nil, err
	}
	defer func() {
		for _, r := range records {
			clear(r.Value)
		}
	}()
	params := h.cfg.params(h.name)
	content, _, err := walletfile.Load(ctx, slices.Values(records), params.LoadOptions())
	if err != nil {
		return nil, err
	}
	defer content.Zero()
	return wallet.WatchOnly(content, params) //nolint:contextcheck // takes a moment
}

func exists(path string) error {
	return codes.Errorf(codes.Wallet, "Error: Export destination '%s' already exists", path)
}
