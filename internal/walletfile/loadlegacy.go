package walletfile

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"
)

// maxScriptSize is the size above which no output can be spent by a script's hash.
const maxScriptSize = 520

// hardened is the bit of hardened child numbers.
const hardened = 1 << 31

// LegacyContent is what the records of a legacy wallet say.
type LegacyContent struct {
	// Wallet has what legacy wallets have in common with others; it has no
	// descriptors.
	*Wallet

	// AnyKeys tells whether there is any record that only legacy wallets have.
	AnyKeys bool

	// HasBestBlock is false where there is no record of the last block.
	HasBestBlock bool

	Chain    HDChain   // the chain of the latest keys; without a seed there is none
	Inactive []HDChain // those before it, by their seeds

	Keys        []LegacyKey
	CryptedKeys []LegacyCryptedKey
	KeyMeta     map[KeyID]KeyMetadata
	Scripts     [][]byte
	Watched     [][]byte
	ScriptMeta  map[KeyID]KeyMetadata

	// Rest are the records that a descriptor wallet may have too.
	Rest []Record
}

// Zero wipes the private keys.
func (l *LegacyContent) Zero() {
	for _, key := range l.Keys {
		key.Secret.Zero()
	}
	l.Wallet.Zero()
}

// CheckMaster checks that a master key decrypts all private keys.
//
// Errors: ErrPassphrase, ErrSomeKeys.
func (l *LegacyContent) CheckMaster(master *Secret) error {
	keys := make([]DescriptorCryptedKey, len(l.CryptedKeys))
	for i, key := range l.CryptedKeys {
		keys[i] = DescriptorCryptedKey{Public: key.Public, Ciphertext: key.Ciphertext}
	}
	return CheckMaster(master, keys)
}

// LoadLegacy puts the records of a legacy wallet together like [Load], with what Core
// checks before it migrates one. A wallet with the flag of descriptor wallets is
// returned without keys.
//
// Errors: ErrTooNew, ErrLoadFail, ErrUnexpectedLegacy, ErrCorrupt.
func LoadLegacy(records iter.Seq[Record], opts LoadOptions) (*LegacyContent, Severity, error) {
	l := newLoader(context.Background(), opts)
	l.collect(records)
	old := &LegacyContent{
		Wallet: l.wallet, KeyMeta: make(map[KeyID]KeyMetadata), ScriptMeta: make(map[KeyID]KeyMetadata),
	}
	l.loadLegacy(old)
	if reason := severityErrors[l.severity]; reason != nil {
		old.Zero()
		return nil, l.severity, fmt.Errorf("%w: %w", reason, l.cause)
	}
	return old, l.severity, nil
}

func (l *loader) loadLegacy(old *LegacyContent) {
	if version, ok := single[Version](l, "version"); ok {
		l.wallet.Version = &version
	}
	l.wallet.Flags, _ = single[Flags](l, "flags") // older wallets have none
	if !l.wallet.Flags.Tolerable() {
		l.found(TooNew, fmt.Errorf("flags %v", l.wallet.Flags.Names()))
		return
	}
	for name, same := range l.records {
		if slices.Contains(legacyTypes, name) {
			old.AnyKeys = true
		} else {
			old.Rest = append(old.Rest, same...)
		}
	}
	slices.SortFunc(old.Rest, func(a, b Record) int { return bytes.Compare(a.Key, b.Key) })
	if l.wallet.Flags.Has(Descriptors) {
		if old.AnyKeys {
			l.found(UnexpectedLegacy, errors.New("legacy record in a descriptor wallet"))
		}
		return
	}
	l.loadLegacyKeys(old)
	l.loadKeyMeta(old)
	l.loadWatched(old)
	l.loadAddresses()
	l.loadMasterKeys()
	if len(old.Keys) > 0 && len(l.wallet.MasterKeys) > 0 {
		l.found(Corrupt, errors.New("keys in the clear in an encrypted wallet"))
	}
	l.loadTxs()
	l.loadBestBlock()
	_, seen := single[BestBlockNoMerkle](l, "bestblock_nomerkle")
	old.HasBestBlock = seen || len(l.wallet.BestBlock) > 0
}

func (l *loader) loadLegacyKeys(old *LegacyContent) {
	each(l, "hdchain", Corrupt, func(c HDChain) { old.Chain = c })
	each(l, "key", Corrupt, func(k LegacyKey) { old.Keys = append(old.Keys, k) })
	each(l, "ckey", Corrupt, func(k LegacyCryptedKey) { old.CryptedKeys = append(old.CryptedKeys, k) })
	each(l, "cscript", Corrupt, func(s LegacyScript) {
		if len(s.Script) <= maxScriptSize {
			old.Scripts = append(old.Scripts, s.Script)
		}
	})
	each(l, "defaultkey", Corrupt, func(DefaultKey) {})
	if len(l.records["wkey"]) > 0 {
		l.found(LoadFail, errors.New("record of type wkey"))
	}
}

func (l *loader) loadWatched(old *LegacyContent) {
	each(l, "watchs", Corrupt, func(s WatchedScript) {
		if s.Mark == watchedMark {
			old.Watched = append(old.Watched, s.Script)
		}
	})
	each(l, "watchmeta", Corrupt, func(m WatchedMeta) { old.ScriptMeta[KeyIDOf(m.Script)] = m.KeyMetadata })
}

// loadKeyMeta reads the metadata of keys. They tell of the chains that keys were made
// from before the present one.
func (l *loader) loadKeyMeta(old *LegacyContent) {
	chains := make(map[KeyID]*HDChain)
	each(l, "keymeta", Corrupt, func(m KeyMeta) {
		old.KeyMeta[KeyIDOf(m.Public)] = m.KeyMetadata
		if !m.fromSeed() {
			return
		}
		internal, index, err := m.place()
		if err != nil {
			l.found(NonCritical, err)
			return
		}
		chain := chains[m.Seed]
		if chain == nil {
			chain = &HDChain{Version: 1, Seed: m.Seed}
			chains[m.Seed] = chain
		}
		if internal {
			chain.Version, chain.Internal = hdChainSplit, max(chain.Internal, index+1)
		} else {
			chain.External = max(chain.External, index+1)
		}
	})
	for seed, chain := range chains {
		if seed != old.Chain.Seed {
			old.Inactive = append(old.Inactive, *chain)
		}
	}
	slices.SortFunc(old.Inactive, func(a, b HDChain) int { return bytes.Compare(a.Seed[:], b.Seed[:]) })
}

var errPath = errors.New("unexpected path of a key")

// place returns where in the chain of its seed a key stands. A seed stands for the
// first key.
func (m *KeyMetadata) place() (internal bool, index uint32, err error) {
	if m.IsSeed() {
		return false, 0, nil
	}
	steps := m.Steps
	if !m.HasOrigin {
		if steps, err = pathSteps(m.Path); err != nil {
			return false, 0, err
		}
	}
	if len(steps) != 3 || steps[0] != hardened || steps[1]&^1 != hardened || steps[2]&hardened == 0 {
		return false, 0, errPath
	}
	return steps[1] == hardened|1, steps[2] &^ hardened, nil
}

// pathSteps reads a path such as m/0'/1'/5'.
func pathSteps(path string) ([]uint32, error) {
	var steps []uint32
	for i, part := range strings.Split(path, "/") {
		if part == "m" && i == 0 {
			continue
		}
		number, hard := strings.CutSuffix(part, "'")
		n, err := strconv.ParseUint(number, 10, 32)
		if err != nil {
			return nil, errPath
		}
		step := uint32(n)
		if hard {
			step |= hardened
		}
		steps = append(steps, step)
	}
	return steps, nil
}
