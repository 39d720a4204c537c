// Package legacytest makes the records of legacy wallets as old versions of Bitcoin
// Core wrote them, for tests: always the same ones, of keys that anybody knows.
package legacytest

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/internal/walletfile"
)

// Passphrase is that of the wallet that is encrypted.
const Passphrase = "correct horse"

const (
	created  = 1_500_000_000 // of keys, in Unix time
	hardened = 1 << 31
)

// A Wallet is a legacy wallet in the making.
type Wallet struct {
	Net     *descriptor.Network
	Records []walletfile.Record

	// Own are scripts of which the wallet can spend outputs, Watched those that it
	// watches.
	Own, Watched [][]byte

	// Keys are those of which the wallet has the private keys.
	Keys []descriptor.PrivateKey

	master *walletfile.Secret // nil: the wallet is not encrypted
	name   string
	keys   int
}

// New returns a wallet with the flags and the last block that it has seen.
func New(name string, net *descriptor.Network, flags walletfile.Flags, seen walletfile.Locator) *Wallet {
	w := &Wallet{Net: net, name: name}
	w.Put(walletfile.Version(210000))
	w.Put(walletfile.MinVersion(169900))
	w.Put(flags)
	w.Put(walletfile.BestBlock(nil))
	w.Put(walletfile.BestBlockNoMerkle(seen))
	w.Put(walletfile.OrderPosNext(0))
	return w
}

// Put adds a record, in the place of an older one.
func (w *Wallet) Put(e walletfile.Entry) {
	r := walletfile.RecordOf(e)
	w.Records = slices.DeleteFunc(w.Records, func(old walletfile.Record) bool {
		return string(old.Key) == string(r.Key)
	})
	w.Records = append(w.Records, r)
}

// Encrypt has all keys that follow put under a passphrase.
func (w *Wallet) Encrypt(passphrase string) {
	master := sha256.Sum256([]byte("master of " + w.name))
	w.master = walletfile.NewSecret(master[:])
	record := walletfile.MasterKey{ID: 1, Salt: []byte("saltsalt"), Iterations: walletfile.MinIterations}
	record, err := record.Lock(context.Background(), walletfile.NewSecret([]byte(passphrase)), w.master)
	if err != nil {
		panic(err)
	}
	w.Put(record)
}

// NewKey returns the next key of those that the wallet may have.
func (w *Wallet) NewKey(compressed bool) descriptor.PrivateKey {
	w.keys++
	return descriptor.PrivateKey{
		Compressed: compressed, Scalar: sha256.Sum256(fmt.Appendf(nil, "%s %d", w.name, w.keys)),
	}
}

// AddKey adds a private key, with metadata unless meta is nil.
func (w *Wallet) AddKey(key descriptor.PrivateKey, meta *walletfile.KeyMetadata) walletfile.PublicKey {
	public := walletfile.PublicKey(key.PublicKey())
	secret := walletfile.NewSecret(key.Scalar[:])
	if w.master != nil {
		w.Put(walletfile.LegacyCryptedKey{
			Public: public, Ciphertext: walletfile.EncryptKey(w.master, public, secret),
		})
	} else {
		w.Put(walletfile.LegacyKey{Public: public, Secret: secret})
	}
	if meta != nil {
		w.Put(walletfile.KeyMeta{Public: public, KeyMetadata: *meta})
	}
	w.Own, w.Keys = append(w.Own, w.Script("pkh", public)), append(w.Keys, key)
	return public
}

// AddSeed adds a seed with keys for receiving and for change, and makes it the present
// one. The version of metadata is 10 or 12.
func (w *Wallet) AddSeed(version int32, chain, external, internal uint32) {
	seed := w.NewKey(true)
	public := walletfile.PublicKey(seed.PublicKey())
	id := walletfile.KeyIDOf(public)
	w.AddKey(seed, &walletfile.KeyMetadata{
		Version: version, Created: created, Path: "s", Seed: id, HasOrigin: version >= 12,
		Fingerprint: [4]byte(id[:4]),
	})
	root, scalar, _ := descriptor.Master(seed.Scalar[:])
	rootID := walletfile.KeyIDOf(root[len(root)-33:])
	for use, count := range []uint32{external, internal} {
		for i := range count {
			steps := []uint32{hardened, hardened | uint32(use), hardened | i}
			key, _ := descriptor.DeriveKey(&root, &scalar, steps)
			meta := walletfile.KeyMetadata{
				Version: version, Created: created, Path: fmt.Sprintf("m/0'/%d'/%d'", use, i), Seed: id,
			}
			if version >= 12 {
				meta.Fingerprint, meta.Steps, meta.HasOrigin = [4]byte(rootID[:4]), steps, true
			}
			public := w.AddKey(key, &meta)
			w.Own = append(w.Own, w.Script("wpkh", public), w.Script("sh(wpkh", public))
			w.Put(walletfile.PoolKey{
				Index: int64(len(w.Records)), Version: 210000, Time: created, Public: public, Internal: use == 1,
			})
		}
	}
	w.Put(walletfile.HDChain{Version: int32(chain), External: external, Internal: internal, Seed: id})
}

// Script returns the script of a key in a function such as pkh, or sh(wpkh.
func (w *Wallet) Script(function string, public []byte) []byte {
	closing := strings.Repeat(")", 1+strings.Count(function, "("))
	return w.scriptOf(function + "(" + hex.EncodeToString(public) + closing)
}

func (w *Wallet) scriptOf(text string) []byte {
	parsed, err := descriptor.Parse(text, w.Net, descriptor.Options{})
	if err != nil {
		panic(err)
	}
	scripts, err := parsed[0].Expand(0)
	if err != nil {
		panic(err)
	}
	return scripts[0]
}

// Watch adds a script that is watched.
func (w *Wallet) Watch(script []byte) {
	w.Put(walletfile.NewWatchedScript(script))
	w.Put(walletfile.WatchedMeta{
		Script: script, KeyMetadata: walletfile.KeyMetadata{Version: 1, Created: created + 1},
	})
	w.Watched = append(w.Watched, script)
}

// AddScript adds a script that outputs pay to by its hash.
func (w *Wallet) AddScript(script []byte) {
	w.Put(walletfile.LegacyScript{ID: walletfile.KeyIDOf(script), Script: script})
}

// Multisig returns a script of some of the keys.
func (w *Wallet) Multisig(threshold int, keys ...[]byte) []byte {
	text := []string{fmt.Sprintf("multi(%d", threshold)}
	for _, key := range keys {
		text = append(text, hex.EncodeToString(key))
	}
	return w.scriptOf(strings.Join(text, ",") + ")")
}

// Hashed returns the script of P2SH, or of P2WSH, of a script.
func Hashed(script []byte, witness bool) []byte {
	if witness {
		hash := sha256.Sum256(script)
		return append([]byte{0, 32}, hash[:]...)
	}
	id := walletfile.KeyIDOf(script)
	return append(append([]byte{0xa9, 20}, id[:]...), 0x87)
}

// Label adds an address to the address book.
func (w *Wallet) Label(script []byte, label, purpose string) {
	address, ok := descriptor.AddressOf(script, w.Net)
	if !ok {
		panic("no address")
	}
	w.Put(walletfile.Name{Address: address, Label: label})
	if purpose != "" {
		w.Put(walletfile.Purpose{Address: address, Purpose: purpose})
	}
}

// AddTx adds a transaction.
func (w *Wallet) AddTx(tx *walletfile.Tx) {
	tx.ID = tx.Tx.TxHash()
	w.Put(tx)
	w.Put(walletfile.OrderPosNext(tx.OrderPos + 1))
}

// Dump writes the records in the form that db5.3_load reads.
func Dump(to io.Writer, records []walletfile.Record) error {
	const header = "VERSION=3\nformat=bytevalue\ndatabase=main\ntype=btree\ndb_pagesize=4096\nHEADER=END\n"
	_, err := io.WriteString(to, header)
	for _, r := range records {
		if err == nil {
			_, err = fmt.Fprintf(to, " %x\n %x\n", r.Key, r.Value)
		}
	}
	if err == nil {
		_, err = io.WriteString(to, "DATA=END\n")
	}
	return err
}

// number is the hash of a number, for what only has to be different.
func number(n int) chainhash.Hash {
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], uint64(n))
	return sha256.Sum256(b[:])
}
