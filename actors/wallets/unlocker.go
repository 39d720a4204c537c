package wallets

import (
	"cmp"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/seed61375155/trawl/actors/wallets/internal/files"
	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/wallet"
	"github.com/seed61375155/trawl/internal/wallet/codes"
	"github.com/seed61375155/trawl/internal/wallet/keys"
	"github.com/seed61375155/trawl/internal/walletfile"
	"github.com/seed61375155/trawl/messages"
)

// maxUnlock is the longest time that a wallet stays unlocked, as in Core.
const maxUnlock = 100_000_000 * time.Second

var errEmptyPhrase = codes.Errorf(codes.Parameter, "passphrase cannot be empty")

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
func (w *Wallet) lockTimer() {
	w.unlocker.late = true
	w.lockLate()
}

// lockLate locks the wallet if its time is over, and no rescan or import needs the keys.
func (w *Wallet) lockLate() {
	if !w.unlocker.late || w.usesKeys() || w.ledger == nil {
		return
	}
	w.lockKeys()
	w.beside(func(*ask.Job) { w.cfg.Forget() })
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
	wrong := wallet.WrongPassphrase(q.Passphrase,
		"Error: The wallet passphrase entered is incorrect. It contains a null character (ie - a zero byte). "+
			"If the passphrase was set with a version of this software prior to 25.0, "+
			"please try again with only the characters up to — but not including — the first null character. "+
			"If this is successful, please set a new passphrase to avoid this issue in the future.")
	found := wallet.OpenMasters(j.Context(), masters, q.Passphrase, nil)
	defer found.Wipe()
	var b *batch
	err = t.try(j, func() error {
		if _, err := found.Unlock(t.ledger); err != nil {
			return wallet.PassphraseError(err, wrong)
		}
		t.unlocker.start(t.c, t.cfg.Now(), min(q.For, maxUnlock))
		if t.fault.present() { // signing needs no file
			return nil
		}
		_ = t.ledger.Pool().Refill(0) // as far as it goes
		b = t.save(t.refuse)
		t.keygen.deferFill()
		return nil
	})
	return messages.Done{}, cmp.Or(err, b.wait(j))
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
	seed := files.NewSeed()
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
	e, failed := files.NewEncryption(j.Context(), phrase)
	phrase.Zero()
	defer e.Master.Zero()
	var batches []*keys.Batch
	if failed == nil {
		batches, failed = keys.MakeAll(j.Context(), jobs)
	}
	return messages.Done{}, t.change(j, func() error {
		defer t.ledger.Pool().Drop()
		return t.encryptWith(e, seed, batches, failed)
	})
}

// encryptWith encrypts the wallet with keys that were made, unless there is an error.
func (t *caller) encryptWith(e wallet.Encryption, seed *walletfile.Secret, batches []*keys.Batch, err error) error {
	if err == nil {
		err = t.mayEncrypt() // another request may have been faster
	}
	if err = keys.SupplyAll(t.ledger.Pool(), batches, err); err == nil {
		err = t.ledger.Encrypt(e, seed, t.cfg.now())
		t.writer.next.replace = true // no file is to have what is deleted
	}
	if err != nil && !codes.IsAnswer(err) {
		t.cfg.Log.Error("wallet not encrypted", "wallet", t.Label(), "err", err)
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
	wrong := wallet.WrongPassphrase(q.Old,
		"Error: The old wallet passphrase entered is incorrect. It contains a null character (ie - a zero byte). "+
			"If the old passphrase was set with a version of this software prior to 25.0, "+
			"please try again with only the characters up to — but not including — the first null character.")
	fresh := walletfile.NewSecret(q.New)
	defer fresh.Zero()
	q.New.Wipe()
	found := wallet.OpenMasters(j.Context(), masters, q.Old, func(k *wallet.Encryption) (err error) {
		k.Record, err = files.LockMaster(j.Context(), k.Record, fresh, k.Master)
		return err
	})
	defer found.Wipe()
	return messages.Done{}, t.change(j, func() error {
		locked := t.ledger.Vault().Locked()
		right, err := found.Unlock(t.ledger)
		switch {
		case err != nil: // as in Core: a wrong passphrase locks
			t.lockKeys()
			return wallet.PassphraseError(err, wrong)
		case locked:
			t.ledger.Vault().Lock()
		}
		t.ledger.Vault().SetMasterKey(right.Record)
		t.writer.next.replace = true // no file is to have what is deleted
		return nil
	})
}
