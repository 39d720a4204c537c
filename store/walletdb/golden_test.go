package walletdb_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/btcutil/base58"

	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/internal/walletfile"
	"github.com/seed61375155/trawl/store/walletdb"
)

// verifyBackup loads a wallet of testdata.
func verifyBackup(t *testing.T, name string) *walletfile.Wallet {
	t.Helper()
	wallet, severity, err := verify(place(t, "backups", name), options, loadOptions)
	if err != nil || severity != walletfile.OK {
		t.Fatalf("severity %d: %v", severity, err)
	}
	return wallet
}

// TestBackupsLoad compares what is read from Core's files with what Core says
// of them: flags, descriptors and private keys.
func TestBackupsLoad(t *testing.T) {
	known := readFacts(t)
	for _, name := range backups(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fact := known.Wallets[name]
			wallet := verifyBackup(t, name)
			if got := wallet.Flags.Names(); !slices.Equal(
				slices.Sorted(slices.Values(got)), slices.Sorted(slices.Values(fact.Info.Flags)),
			) {
				t.Errorf("flags %v, want %v", got, fact.Info.Flags)
			}
			compareDescriptors(t, wallet, fact)
			passphrase, encrypted := known.Passphrases[name]
			if encrypted != wallet.Encrypted() {
				t.Fatalf("encrypted: %v", wallet.Encrypted())
			}
			if encrypted {
				decryptKeys(t, wallet, passphrase)
			}
			compareKeys(t, wallet, fact.Xprvs)
			wallet.Zero()
		})
	}
}

// signature is what a descriptor of a file and one of listdescriptors have in
// common: the scripts at an index and the numbers beside them.
func signature(t *testing.T, text string, index uint32, timestamp uint64, active, internal bool) string {
	t.Helper()
	parsed, err := descriptor.Parse(text, network, descriptor.Options{RequireChecksum: true})
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	scripts, err := parsed[0].Expand(index)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return fmt.Sprintf("%x %d %v %v", scripts, timestamp, active, internal)
}

func compareDescriptors(t *testing.T, wallet *walletfile.Wallet, fact walletFacts) {
	t.Helper()
	compareTexts(t, wallet, fact)
	for _, index := range []uint32{0, 7} {
		var got, expected []string
		for _, d := range wallet.Descriptors {
			text, _, err := d.DerivationText(network, index)
			if err != nil {
				t.Fatal(err)
			}
			active, internal := isActive(wallet, d)
			got = append(got, signature(t, text, index, d.CreationTime, active, internal))
		}
		for _, l := range fact.Public {
			expected = append(
				expected, signature(t, withPrivateKeys(l.Desc, fact.Xprvs), index, l.Timestamp, l.Active, l.Internal),
			)
		}
		slices.Sort(got)
		slices.Sort(expected)
		if !slices.Equal(got, expected) {
			t.Errorf("descriptors at %d\ngot  %q\nwant %q", index, got, expected)
		}
	}
}

// compareTexts compares the texts of listdescriptors.
func compareTexts(t *testing.T, wallet *walletfile.Wallet, fact walletFacts) {
	t.Helper()
	var got, want []string
	for _, d := range wallet.Descriptors {
		text, err := d.NormalizedText(network)
		if err != nil {
			t.Error(err)
		}
		got = append(got, text)
	}
	for _, l := range fact.Public {
		want = append(want, l.Desc)
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("texts\ngot  %q\nwant %q", got, want)
	}
}

// withPrivateKeys puts the private keys of gethdkeys into a public descriptor, so
// that it can be expanded after hardened wildcards.
func withPrivateKeys(text string, xprvs map[string]string) string {
	body, _, _ := strings.Cut(text, "#")
	for xpub, xprv := range xprvs {
		body = strings.ReplaceAll(body, xpub, xprv)
	}
	return descriptor.AddChecksum(body)
}

func isActive(wallet *walletfile.Wallet, d *walletfile.Descriptor) (active, internal bool) {
	for slot, id := range wallet.Active {
		if id == d.ID {
			return true, slot.Internal
		}
	}
	return false, false
}

// decryptKeys puts the private keys of an encrypted wallet in the clear.
func decryptKeys(t *testing.T, wallet *walletfile.Wallet, passphrase string) {
	t.Helper()
	record := wallet.MasterKeys[1]
	master, err := record.Unlock(t.Context(), walletfile.NewSecret([]byte(passphrase)))
	if err != nil {
		t.Fatal(err)
	}
	if err := wallet.CheckMaster(master); err != nil {
		t.Fatal(err)
	}
	for _, d := range wallet.Descriptors {
		for _, key := range d.CryptedKeys {
			secret, err := key.Decrypt(master)
			if err != nil {
				t.Fatal(err)
			}
			d.Keys = append(d.Keys, walletfile.DescriptorKey{Descriptor: d.ID, Public: key.Public, Secret: secret})
			if again := walletfile.EncryptKey(master, key.Public, secret); !bytes.Equal(again, key.Ciphertext) {
				t.Errorf("key %x: encrypts to %x, was %x", key.Public, again, key.Ciphertext)
			}
		}
	}
}

// TestPassphrases tries wrong passphrases, and encrypts a master key again.
func TestPassphrases(t *testing.T) {
	const name = "encrypted-imported"
	passphrase := readFacts(t).Passphrases[name]
	wallet := verifyBackup(t, name)
	record := wallet.MasterKeys[1]
	for _, wrong := range []string{"", passphrase + "x"} {
		master, err := record.Unlock(t.Context(), walletfile.NewSecret([]byte(wrong)))
		if err == nil { // by chance, which the keys tell
			err = wallet.CheckMaster(master)
		}
		if !errors.Is(err, walletfile.ErrPassphrase) {
			t.Errorf("passphrase %q: %v", wrong, err)
		}
	}
	right := walletfile.NewSecret([]byte(passphrase))
	master, err := record.Unlock(t.Context(), right)
	if err != nil {
		t.Fatal(err)
	}
	locked, err := record.Lock(t.Context(), right, master)
	if err != nil || !bytes.Equal(locked.Value(), record.Value()) {
		t.Errorf("master key encrypts to another record (%v)", err)
	}
}

// compareKeys looks for the private keys of gethdkeys.
func compareKeys(t *testing.T, wallet *walletfile.Wallet, xprvs map[string]string) {
	t.Helper()
	have := make(map[string]bool)
	for _, d := range wallet.Descriptors {
		for _, key := range d.Keys {
			have[string(key.Secret.Bytes())] = true
		}
	}
	for xpub, xprv := range xprvs {
		payload := base58.Decode(xprv)
		secret := payload[len(payload)-36 : len(payload)-4] // before the checksum
		if !have[string(secret)] {
			t.Errorf("no private key of %s", xpub)
		}
	}
}

// TestBackupsEncode reads every record of Core's files and writes it again.
func TestBackupsEncode(t *testing.T) {
	for _, name := range backups(t) {
		t.Run(name, func(t *testing.T) {
			for _, r := range records(t, open(t, place(t, "backups", name))) {
				entry, err := walletfile.Parse(r)
				if err != nil {
					t.Errorf("%x: %v", r.Key, err)
					continue
				}
				if again := walletfile.RecordOf(entry); !bytes.Equal(again.Key, r.Key) ||
					!bytes.Equal(again.Value, r.Value) {
					t.Errorf("%T\ngot  %x: %x\nwant %x: %x", entry, again.Key, again.Value, r.Key, r.Value)
				}
			}
		})
	}
}

// laterChecks are the files that load here and that Core refuses, or warns of,
// for what lies outside of the file.
var laterChecks = []string{"other-genesis", "flags-no-private"}

// TestDamagedFiles compares the errors for broken files with Core's.
func TestDamagedFiles(t *testing.T) {
	for _, fact := range readFacts(t).Damaged {
		t.Run(fact.Name, func(t *testing.T) {
			path := place(t, "damaged", fact.Name)
			before, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			_, severity, err := verify(path, options, loadOptions)
			code, message := reply(path, severity, err)
			switch {
			case slices.Contains(laterChecks, fact.Name):
				if err != nil {
					t.Error(err)
				}
			case fact.Error == nil:
				compareWarnings(t, fact.Warnings, severity, err)
			case err == nil:
				t.Errorf("loads, want %q", fact.Error.Message)
			case fact.Crash:
			case code != fact.Error.Code:
				t.Errorf("code %d for %q, want %d for %q", code, message, fact.Error.Code, fact.Error.Message)
			case !fact.CodeOnly && message != core(fact.Error.Message, path):
				t.Errorf("\ngot  %q\nwant %q", message, core(fact.Error.Message, path))
			}
			after, err := os.ReadFile(path)
			if err != nil || !bytes.Equal(before, after) {
				t.Error("the file has changed")
			}
			if got := files(t, path); !slices.Equal(got, []string{walletdb.FileName}) {
				t.Errorf("files left: %q", got)
			}
		})
	}
}

func compareWarnings(t *testing.T, want []string, severity walletfile.Severity, err error) {
	t.Helper()
	var got []string
	if severity != walletfile.OK {
		got = []string{severity.Message("FILE", walletdb.DefaultClient)}
	}
	if err != nil || len(got) != len(want) {
		t.Fatalf("warnings %q, want %q (%v)", got, want, err)
	}
	for i := range want {
		if got[i] != core(want[i], "FILE") {
			t.Errorf("warning %q, want %q", got[i], want[i])
		}
	}
}

// core puts the path of a file in the place of that in a recorded text.
func core(text, path string) string {
	before, after, found := strings.Cut(text, "{{ANY}}/")
	if !found {
		return text
	}
	end := strings.IndexAny(after, "'/:!\n")
	rest := after[end:]
	if inDir, ok := strings.CutPrefix(rest, "/"+walletdb.FileName); ok {
		return before + path + inDir
	}
	return before + strings.TrimSuffix(path, "/"+walletdb.FileName) + rest
}

// reply makes an error of restorewallet from one of Verify, in the way of the
// interface above: a code for each kind, and Core's words.
func reply(path string, severity walletfile.Severity, err error) (code int, message string) {
	var refused *walletdb.Error
	switch {
	case errors.Is(err, walletdb.ErrFormat), errors.Is(err, walletdb.ErrLegacy):
		code = -18
	case err != nil:
		code = -4
	}
	if errors.As(err, &refused) {
		if errors.Is(err, walletdb.ErrSchema) {
			return code, refused.Text
		}
		return code, "Wallet file verification failed. " + refused.Text
	}
	return code, "Wallet loading failed. " + severity.Message(path, walletdb.DefaultClient)
}
