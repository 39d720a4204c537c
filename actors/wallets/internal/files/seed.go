package files

import (
	"context"
	"crypto/rand"
	"errors"
	"time"

	"github.com/seed61375155/trawl/internal/wallet"
	"github.com/seed61375155/trawl/internal/walletfile"
)

// seedSize is the size of the seed of a wallet's keys, in bytes.
const seedSize = 32

// NewSeed returns fresh randomness for keys.
func NewSeed() *walletfile.Secret {
	var seed [seedSize]byte
	_, _ = rand.Read(seed[:]) // never fails
	defer clear(seed[:])
	return walletfile.NewSecret(seed[:])
}

// NewEncryption makes a master key and puts it under a passphrase, which takes
// about 100 ms.
func NewEncryption(ctx context.Context, passphrase *walletfile.Secret) (wallet.Encryption, error) {
	record := walletfile.MasterKey{ID: 1, Salt: make([]byte, walletfile.SaltSize)}
	_, _ = rand.Read(record.Salt) // never fails
	master := NewSeed()
	record, err := LockMaster(ctx, record, passphrase, master)
	if err != nil {
		master.Zero()
		return wallet.Encryption{}, err
	}
	return wallet.Encryption{Record: record, Master: master}, nil
}

// LockMaster puts a master key under a passphrase, with as many iterations as
// this machine does in the time that Core allows.
func LockMaster(
	ctx context.Context, record walletfile.MasterKey, passphrase, master *walletfile.Secret,
) (walletfile.MasterKey, error) {
	var failed error
	record.Iterations = walletfile.TuneIterations(func(iterations uint32) time.Duration {
		trial := record
		trial.Iterations = iterations
		began := time.Now()
		_, err := trial.Lock(ctx, passphrase, master)
		failed = errors.Join(failed, err)
		return time.Since(began)
	})
	if failed != nil {
		return record, failed
	}
	return record.Lock(ctx, passphrase, master)
}
