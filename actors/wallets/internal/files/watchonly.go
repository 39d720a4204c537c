package files

import (
	"context"
	"errors"
	"os"
	"slices"

	"github.com/seed61375155/trawl/internal/wallet"
	"github.com/seed61375155/trawl/internal/wallet/codes"
	"github.com/seed61375155/trawl/internal/walletfile"
	"github.com/seed61375155/trawl/store/walletdb"
)

var errExport = codes.Errorf(codes.Wallet, "Error: Unable to write the exported wallet")

// CheckExport refuses a path where no exported wallet can be written.
//
// Errors: [*messages.WalletError].
func CheckExport(path string) error {
	if path == "" {
		return codes.Errorf(codes.Wallet, "Error: Export destination cannot be empty")
	}
	if _, err := os.Lstat(path); err == nil {
		return exists(path)
	}
	return nil
}

// Export writes a wallet's file without private keys, of what an open file says. It gets its name when it is complete.
//
// Errors: [*messages.WalletError].
func (s *Spec) Export(ctx context.Context, from *walletdb.DB, path string) error {
	begun := false
	//nolint:contextcheck // files know no contexts
	made, err := walletdb.Create(path, s.cfg.options(), func(b *walletdb.Batch) error {
		begun = true
		records, err := s.watchOnly(ctx, from)
		if err != nil {
			return err
		}
		return walletdb.Fill(records)(b)
	})
	if err == nil {
		err = made.Close()
	}
	switch {
	case err == nil, codes.IsAnswer(err):
		return err
	case errors.Is(err, walletdb.ErrExists):
		return exists(path)
	}
	s.cfg.Log.Error("wallet not exported", "wallet", s.Label(), "err", err)
	if !begun {
		return codes.Errorf(codes.Wallet, "Error: Could not create file '%s'", path)
	}
	return errExport
}

// watchOnly returns the records of a wallet's file without private keys.
func (s *Spec) watchOnly(ctx context.Context, from *walletdb.DB) ([]walletfile.Record, error) {
	records, err := from.Records()
	if err != nil {
		return nil, err
	}
	defer func() {
		for _, r := range records {
			clear(r.Value)
		}
	}()
	params := s.params()
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
