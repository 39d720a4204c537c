package walletrpc

import (
	"context"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/rpc/command"
)

var (
	errNothingToEncrypt = command.Error{
		Code:    command.WalletEncryptionFailed,
		Message: "Error: wallet does not contain private keys, nothing to encrypt.",
	}
	errEncrypted = command.Error{
		Code:    command.WalletWrongEncState,
		Message: "Error: running with an encrypted wallet, but encryptwallet was called.",
	}
)

const encryptedText = "wallet encrypted; The keypool has been flushed and a new HD seed was generated. " +
	"You need to make a new backup with the backupwallet RPC."

func (m *methods) encryptWallet() command.Command {
	return command.Command{
		Name:     "encryptwallet",
		Category: command.Wallet,
		About:    command.Funds,
		Summary: "Encrypts the private keys of a wallet for the first time. From then on walletpassphrase has to " +
			"come\n" +
			"before whatever needs them; walletpassphrasechange changes the passphrase.\n" +
			"A new seed and new active descriptors are made, since copies of the old ones may lie about without\n" +
			"encryption: make a new backup afterwards.",
		Params: []command.Param{
			{
				Name: "passphrase", Type: command.String,
				Help: "the passphrase: at least one character, better a long text", Secret: true,
			},
		},
		Results:  []command.Result{{Type: command.String, Help: "what is to be done now"}},
		Examples: []string{`["my pass phrase"]`},
		Run:      m.on(encrypt),
	}
}

func encrypt(ctx context.Context, w chosen, a *command.Args) (any, error) {
	s, err := w.state(ctx)
	if err != nil {
		return nil, err
	}
	if !s.PrivateKeys {
		return nil, errNothingToEncrypt
	}
	if s.Encrypted {
		return nil, errEncrypted
	}
	if err := s.needNoRescan("encrypting the wallet"); err != nil {
		return nil, err
	}
	passphrase, err := readSecret(a.Value(0))
	if err != nil {
		return nil, err
	}
	if len(passphrase) == 0 {
		return nil, errEmptyPassphrase
	}
	if _, err := ask.Ask(ctx, w.ref, messages.EncryptWallet{Passphrase: passphrase}); err != nil {
		return nil, err
	}
	return encryptedText, nil
}
