package keys

import (
	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/internal/wallet/book"
	"github.com/seed61375155/trawl/internal/wallet/codes"
	"github.com/seed61375155/trawl/internal/walletfile"
)

// A Migrated descriptor stands for keys of a legacy wallet.
type Migrated struct {
	Public  *descriptor.Descriptor // without private keys
	Created uint64                 // Unix time in seconds
	End     int32                  // the first index after the range of a ranged one
	Keys    []descriptor.PrivateKey
}

// AddMigrated adds a descriptor with its range as it is: nothing is derived ahead.
// The wallet is unlocked.
//
// Errors: [*messages.WalletError].
func (im *Importer) AddMigrated(d Migrated) error {
	m := newManager(d.Public, d.Created)
	if im.set.byID[m.id()] != nil {
		return codes.Errorf(codes.Wallet,
			"Error: Duplicate descriptors created during migration. Your wallet may be corrupted.")
	}
	m.record.RangeEnd = d.End
	im.set.add(m)
	im.vault.AddKeys(m.id(), d.Keys)
	if d.Public.IsRanged() && d.End == 0 {
		im.set.write(m)
		return nil
	}
	if err := im.pool.topUp(m, d.End); err != nil {
		return codes.Errorf(codes.Wallet, "%v", err)
	}
	return nil
}

// AddWatched adds a descriptor of one script, whose address enters the address book.
//
// Errors: [*messages.WalletError].
func (im *Importer) AddWatched(d Migrated) error {
	if im.set.byID[walletfile.DescriptorID(d.Public)] != nil {
		return nil
	}
	if err := im.AddMigrated(d); err != nil {
		return err
	}
	scripts, err := d.Public.Expand(0)
	if err != nil {
		return codes.Errorf(codes.Wallet, "%v", errTopUp)
	}
	for _, pkScript := range scripts {
		if book.DestinationOf(im.set.params.Network, pkScript) != "" {
			im.set.labels.SetLabel(pkScript, "", book.PurposeReceive)
		}
	}
	return nil
}

// SetupFrom makes the standard descriptors like [Importer.Setup], of an extended key
// that there is already.
//
// Errors: one if the wallet is locked.
func (im *Importer) SetupFrom(key descriptor.XPub, secret *walletfile.Secret, now int64) error {
	root := &hdRoot{key: key, secret: secret}
	return im.setupAll(root, now)
}
