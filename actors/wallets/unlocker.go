package wallets

import (
	"bytes"
	"context"
	"errors"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/wallet"
	"github.com/seed61375155/trawl/internal/wallet/codes"
	"github.com/seed61375155/trawl/internal/wallet/keys"
	"github.com/seed61375155/trawl/internal/walletfile"
	"github.com/seed61375155/trawl/messages"
)

// maxUnlock is the longest time that a wallet stays unlocked, as in Core.
const maxUnlock = 100_000_000 * time.Second

// unlocker is until when the keys of a wallet stay unlocked.
type unlocker struct {
	until time.Time
	timer ask.Timer // of the lock
	late  bool      // the time is over, and a rescan needs the keys yet
}

// lockTimer says that the time of an unlocked wallet is over.
type lockTimer struct{}

func (u *unlocker) stop() {
	u.timer.Stop()
	u.until, u.late = time.Time{}, false
}

// start has the wallet locked after a time.
func (u *unlocker) start(c actor.Context, now time.Time, after time.Duration) {
	u.stop()
	u.until = now.Add(after)
	u.timer.Set(c, after, lockTimer{})
}

// lockTimer locks the wallet, unless a rescan needs its keys: then after that.
func (w *Wallet) lockTimer(c actor.Context) {
	w.unlocker.late = true
	w.lockLate(c)
}

// lockLate locks the wallet if its time is over, and no rescan or import needs the keys.
func (w *Wallet) lockLate(c actor.Context) {
	if !w.unlocker.late || w.usesKeys() || w.ledger == nil {
		return
	}
	w.lockKeys()
	w.lanes.beside.Add(c, func(*ask.Job) { w.cfg.Forget() })
}

// lockKeys locks the wallet. The memory of its secrets is to be made unreadable after that.
func (w *Wallet) lockKeys() {
	w.unlocker.stop()
	w.ledger.Vault().Lock()
}

// unlock makes the keys available for a time.
func (t *caller) unlock(j *ask.Job, q messages.UnlockWallet) (messages.Done, error) {
	defer q.Passphrase.Wipe()
	var masters []walletfile.MasterKey
	err := t.try(j, func() error {
		switch {
		case !t.ledger.Vault().Encrypted():
			return codes.Errorf(codes.WrongEncryption,
				"Error: running with an unencrypted wallet, but walletpassphrase was called.")
		case q.For < 0:
			return codes.Errorf(codes.Parameter, "Timeout cannot be negative.")
		case len(q.Passphrase) == 0:
			return errEmptyPhrase
		}
		masters = t.ledger.Vault().MasterKeys()
		return nil
	})
	if err != nil {
		return messages.Done{}, err
	}
	wrong := wrongPassphrase(q.Passphrase,
		"Error: The wallet passphrase entered is incorrect. It contains a null character (ie - a zero byte). "+
			"If the passphrase was set with a version of this software prior to 25.0, "+
			"please try again with only the characters up to — but not including — the first null character. "+
			"If this is successful, please set a new passphrase to avoid this issue in the future.")
	found := openMasters(j.Context(), masters, q.Passphrase, nil)
	defer wipe(found)
	return messages.Done{}, t.await(j, func(then func(error)) {
		if _, err := t.unlockWith(found); err != nil {
			then(passphraseError(err, wrong))
			return
		}
		t.unlocker.start(t.c, t.cfg.Now(), min(q.For, maxUnlock))
		if t.fault.present() { // signing needs no file
			then(nil)
			return
		}
		_ = t.ledger.Pool().Refill(0) // as far as it goes
		t.save(t.c, then)
		t.keygen.deferFill(t.c)
	})
}

// wrongPassphrase is the answer to a wrong passphrase. Old versions took one
// only up to a zero byte.
func wrongPassphrase(passphrase []byte, withZero string) error {
	if bytes.IndexByte(passphrase, 0) >= 0 {
		return codes.Errorf(codes.Passphrase, "%s", withZero)
	}
	return errPassphrase
}

// passphraseError is the answer when no master key opens the wallet.
func passphraseError(err, wrong error) error {
	if errors.Is(err, walletfile.ErrSomeKeys) {
		return codes.Errorf(
			codes.Misc, "Error unlocking wallet: some keys decrypt but not all. Your wallet file may be corrupt.",
		)
	}
	return wrong
}

// candidate is a master key as a passphrase opens it, right or wrong.
type candidate struct {
	record walletfile.MasterKey
	master *walletfile.Secret
}

// openMasters derives master keys from a passphrase, which it wipes. That takes long. look has a look at each key
// unless look is nil; a key is left out where look fails. The caller wipes the keys.
func openMasters(
	ctx context.Context, masters []walletfile.MasterKey, passphrase messages.Secret, look func(*candidate) error,
) (found []candidate) {
	phrase := walletfile.NewSecret(passphrase)
	defer phrase.Zero()
	passphrase.Wipe()
	for _, record := range masters {
		master, err := record.Unlock(ctx, phrase)
		if err != nil {
			continue
		}
		k := candidate{record, master}
		if look != nil && look(&k) != nil {
			master.Zero()
			continue
		}
		found = append(found, k)
	}
	return found
}

func wipe(keys []candidate) {
	for _, k := range keys {
		k.master.Zero()
	}
}

// unlockWith unlocks the wallet with the master key that is right.
func (t *caller) unlockWith(masters []candidate) (candidate, error) {
	err := walletfile.ErrPassphrase
	for _, k := range masters {
		if err = t.ledger.Unlock(k.master); err == nil {
			return k, nil
		}
		if errors.Is(err, walletfile.ErrSomeKeys) {
			break
		}
	}
	return candidate{}, err
}

func (t *caller) lock(j *ask.Job, _ messages.LockWallet) (messages.Done, error) {
	err := t.try(j, func() error {
		switch {
		case !t.ledger.Vault().Encrypted():
			return codes.Errorf(codes.WrongEncryption,
				"Error: running with an unencrypted wallet, but walletlock was called.")
		case t.usesKeys():
			return inUse("locking the wallet")
		}
		t.lockKeys()
		return nil
	})
	if err == nil {
		t.cfg.Forget()
	}
	return messages.Done{}, err
}

func inUse(doing string) error {
	return codes.Errorf(codes.Wallet, "Error: the wallet is currently being used to rescan the blockchain for related "+
		"transactions. Please call `abortrescan` before %s.", doing)
}

// mayEncrypt refuses what cannot be encrypted, or not now.
func (t *caller) mayEncrypt() error {
	if err := t.ledger.CheckEncryptable(); err != nil {
		return err
	}
	if t.usesKeys() {
		return inUse("encrypting the wallet")
	}
	return nil
}

func (t *caller) encrypt(j *ask.Job, q messages.EncryptWallet) (messages.Done, error) {
	defer q.Passphrase.Wipe()
	seed := newSeed()
	defer seed.Zero()
	var jobs []*keys.Job
	err := t.try(j, func() (err error) {
		if err = t.mayEncrypt(); err == nil {
			err = t.ledger.Vault().CheckEncrypting()
		}
		if err == nil && len(q.Passphrase) == 0 {
			err = errEmptyPhrase
		}
		if err == nil && !t.ledger.Flags().Has(walletfile.Blank) {
			jobs, err = t.ledger.Importer().SetupJobs(seed)
		}
		return err
	})
	if err != nil {
		return messages.Done{}, err
	}
	phrase := walletfile.NewSecret(q.Passphrase)
	q.Passphrase.Wipe()
	e, batches, failed := encryptionOf(j.Context(), phrase, jobs)
	defer e.Master.Zero()
	return messages.Done{}, t.await(j, func(then func(error)) {
		err := t.encryptWith(e, seed, batches, failed)
		t.save(t.c, func(failed error) { then(errors.Join(err, failed)) })
		t.ledger.Pool().Drop()
	})
}

// encryptWith encrypts the wallet with keys that were made, unless there is an error.
func (t *caller) encryptWith(e wallet.Encryption, seed *walletfile.Secret, batches []*keys.Batch, err error) error {
	if err == nil {
		err = t.mayEncrypt() // another request may have been faster
	}
	if err = supply(t.ledger.Pool(), batches, err); err == nil {
		err = t.ledger.Encrypt(e, seed, t.cfg.now())
		t.writer.replace = true // no file is to have what is deleted
	}
	if err != nil && !isAnswer(err) {
		t.cfg.Log.Error("wallet not encrypted", "wallet", t.label(), "err", err)
		err = codes.Errorf(codes.EncryptionFailed, "Error: Failed to encrypt the wallet.")
	}
	return err
}

func (t *caller) changePassphrase(j *ask.Job, q messages.ChangePassphrase) (messages.Done, error) {
	defer q.Old.Wipe()
	defer q.New.Wipe()
	var masters []walletfile.MasterKey
	err := t.try(j, func() error {
		switch {
		case !t.ledger.Vault().Encrypted():
			return codes.Errorf(codes.WrongEncryption,
				"Error: running with an unencrypted wallet, but walletpassphrasechange was called.")
		case t.usesKeys():
			return inUse("changing the passphrase")
		case len(q.Old) == 0 || len(q.New) == 0:
			return errEmptyPhrase
		}
		masters = t.ledger.Vault().MasterKeys()
		return nil
	})
	if err != nil {
		return messages.Done{}, err
	}
	wrong := wrongPassphrase(q.Old,
		"Error: The old wallet passphrase entered is incorrect. It contains a null character (ie - a zero byte). "+
			"If the old passphrase was set with a version of this software prior to 25.0, "+
			"please try again with only the characters up to — but not including — the first null character.")
	fresh := walletfile.NewSecret(q.New)
	defer fresh.Zero()
	q.New.Wipe()
	found := openMasters(j.Context(), masters, q.Old, func(k *candidate) (err error) {
		k.record, err = lockMaster(j.Context(), k.record, fresh, k.master)
		return err
	})
	defer wipe(found)
	return messages.Done{}, t.change(j, func() error {
		locked := t.ledger.Vault().Locked()
		right, err := t.unlockWith(found)
		switch {
		case err != nil: // as in Core: a wrong passphrase locks
			t.lockKeys()
			return passphraseError(err, wrong)
		case locked:
			t.ledger.Vault().Lock()
		}
		t.ledger.Vault().SetMasterKey(right.record)
		t.writer.replace = true // no file is to have what is deleted
		return nil
	})
}

// encryptionOf makes a master key, and the keys of the descriptors that an
// encrypted wallet gets.
func encryptionOf(
	ctx context.Context, phrase *walletfile.Secret, jobs []*keys.Job,
) (wallet.Encryption, []*keys.Batch, error) {
	defer phrase.Zero()
	encryption, err := newEncryption(ctx, phrase)
	if err != nil {
		return encryption, nil, err
	}
	batches, err := makeAll(ctx, jobs)
	return encryption, batches, err
}
