package migrate

import (
	"crypto/sha256"

	"github.com/btcsuite/btcd/btcutil"
	"golang.org/x/crypto/ripemd160" //nolint:staticcheck // what scripts use

	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/internal/walletfile"
)

const compressedSize = 33

// The planning half: what a legacy wallet of Bitcoin Core could spend, watched and could solve,
// described by descriptors. A legacy wallet has keys, scripts and watched scripts, and decides by
// rules of its own which outputs are the wallet's. The memory for content of files is bounded by
// their size.
//
// Source: Bitcoin Core v30, wallet/scriptpubkeyman.cpp (LegacyDataSPKM).

// store is the keys and scripts of a legacy wallet.
type store struct {
	net     *descriptor.Network
	keys    map[walletfile.KeyID]walletfile.PublicKey // whose private keys there are
	public  map[walletfile.KeyID]walletfile.PublicKey // and those that are watched
	scripts map[walletfile.KeyID][]byte
	watched map[string]bool
	known   *descriptor.Known
}

func newStore(old *walletfile.LegacyContent, net *descriptor.Network) *store {
	s := &store{
		net:  net,
		keys: make(map[walletfile.KeyID]walletfile.PublicKey), public: make(map[walletfile.KeyID]walletfile.PublicKey),
		scripts: make(map[walletfile.KeyID][]byte), watched: make(map[string]bool),
		known: descriptor.NewKnown(net),
	}
	for _, key := range old.Keys {
		s.addKey(key.Public)
	}
	for _, key := range old.CryptedKeys {
		s.addKey(key.Public)
	}
	for _, script := range old.Scripts {
		s.addScript(script)
	}
	for _, script := range old.Watched {
		s.watched[string(script)] = true
		t := net.Template(script)
		if t.Form == formPubKey && descriptor.NewKnown(net).AddPublic(t.Data[0]) {
			s.addPublic(t.Data[0])
		}
	}
	for id, public := range s.public {
		if meta, ok := old.KeyMeta[id]; ok {
			fingerprint, steps := origin(id, &meta)
			s.known.AddOrigin(public, fingerprint, steps)
		}
	}
	return s
}

// origin returns where a key is from. A key of unknown origin is from itself.
func origin(id walletfile.KeyID, meta *walletfile.KeyMetadata) (fingerprint [4]byte, steps []uint32) {
	if meta.HasOrigin {
		return meta.Fingerprint, meta.Steps
	}
	return [4]byte(id[:4]), nil
}

func (s *store) addKey(public walletfile.PublicKey) {
	s.keys[walletfile.KeyIDOf(public)] = public
	s.addPublic(public)
}

// addPublic adds a public key, and the key's script of P2WPKH, which a wallet has too.
func (s *store) addPublic(public []byte) {
	id := walletfile.KeyIDOf(public)
	if s.public[id] == nil {
		s.public[id] = public
	}
	s.known.AddPublic(public)
	if len(public) == compressedSize {
		s.addScript(witnessKeyScript(id[:]))
	}
}

func (s *store) addScript(script []byte) {
	s.scripts[walletfile.KeyIDOf(script)] = script
	s.known.AddScript(script)
}

// candidates returns the scripts that may be the wallet's, each once.
func (s *store) candidates() map[string]bool {
	found := make(map[string]bool)
	for id, public := range s.keys {
		wpkh := witnessKeyScript(id[:])
		for _, script := range [][]byte{pubKeyScript(public), pubKeyHashScript(id[:]), wpkh, scriptHashScript(wpkh)} {
			found[string(script)] = true
		}
	}
	add := func(script []byte) {
		wsh := witnessScriptScript(script)
		for _, script := range [][]byte{script, scriptHashScript(script), wsh, scriptHashScript(wsh)} {
			found[string(script)] = true
		}
	}
	for _, script := range s.scripts {
		add(script)
	}
	for script := range s.watched {
		add([]byte(script))
	}
	return found
}

func pubKeyScript(public []byte) []byte {
	return append(append([]byte{byte(len(public))}, public...), 0xac)
}

func pubKeyHashScript(id []byte) []byte {
	return append(append([]byte{0x76, 0xa9, 20}, id...), 0x88, 0xac)
}

func witnessKeyScript(id []byte) []byte { return append([]byte{0, 20}, id...) }

func scriptHashScript(script []byte) []byte {
	return append(append([]byte{0xa9, 20}, btcutil.Hash160(script)...), 0x87)
}

func witnessScriptScript(script []byte) []byte {
	hash := sha256.Sum256(script)
	return append([]byte{0, 32}, hash[:]...)
}

// witnessScriptID is the name of the script behind the hash in a P2WSH output.
func witnessScriptID(hash []byte) walletfile.KeyID {
	h := ripemd160.New()
	h.Write(hash)
	return walletfile.KeyID(h.Sum(nil))
}
