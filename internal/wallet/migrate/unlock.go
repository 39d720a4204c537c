package migrate

import (
	"context"
	"errors"
	"slices"

	"github.com/seed61375155/trawl/internal/wallet/codes"
	"github.com/seed61375155/trawl/internal/walletfile"
	"github.com/seed61375155/trawl/messages"
)

// Unlock returns the master key of an encrypted wallet, nil of another. The caller wipes it.
//
// Errors: [*messages.WalletError], that of the context.
func Unlock(
	ctx context.Context, old *walletfile.LegacyContent, passphrase messages.Secret,
) (*walletfile.Secret, error) {
	if !old.Encrypted() {
		return nil, nil
	}
	secret := walletfile.NewSecret(passphrase)
	defer secret.Zero()
	for _, record := range old.MasterKeys {
		master, err := record.Unlock(ctx, secret)
		if err != nil {
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			continue
		}
		err = old.CheckMaster(master)
		if err == nil {
			return master, nil
		}
		master.Zero()
		if errors.Is(err, walletfile.ErrSomeKeys) {
			return nil, codes.Errorf(codes.Misc,
				"Error unlocking wallet: some keys decrypt but not all. Your wallet file may be corrupt.")
		}
	}
	return nil, wrongPassphrase(passphrase)
}

func wrongPassphrase(passphrase messages.Secret) error {
	if slices.Contains(passphrase, 0) {
		return codes.Errorf(codes.Wallet, "Error: Wallet decryption failed, the wallet passphrase entered was "+
			"incorrect. The passphrase contains a null character (ie - a zero byte). If this passphrase was set "+
			"with a version of this software prior to 25.0, please try again with only the characters up to — but "+
			"not including — the first null character.")
	}
	return codes.Errorf(codes.Wallet,
		"Error: Wallet decryption failed, the wallet passphrase was not provided or was incorrect.")
}
