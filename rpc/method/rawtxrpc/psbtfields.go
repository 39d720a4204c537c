package rawtxrpc

import (
	"bytes"
	"cmp"
	"encoding/hex"
	"slices"
	"strconv"
	"strings"

	"github.com/btcsuite/btcd/btcutil/base58"
	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/internal/jsontree"
	"github.com/seed61375155/trawl/internal/rawtx/psbt"
	"github.com/seed61375155/trawl/internal/txjson"
)

// Fields that several maps of a partially signed transaction have.
type (
	scriptText struct {
		Asm  string `json:"asm"`
		Hex  string `json:"hex"`
		Type string `json:"type"`
	}

	xpubEntry struct {
		XPub string `json:"xpub"`
		keyOrigin
	}

	keyPath struct {
		PubKey string `json:"pubkey"`
		keyOrigin
	}

	tapDerivation struct {
		keyPath
		LeafHashes []string `json:"leaf_hashes"`
	}

	// keyOrigin is where a key comes from (BIP32).
	keyOrigin struct {
		Fingerprint string `json:"master_fingerprint"`
		Path        string `json:"path"`
	}

	proprietaryField struct {
		Identifier string `json:"identifier"`
		Subtype    uint64 `json:"subtype"`
		Key        string `json:"key"`
		Value      string `json:"value"`
	}
)

// Types that the maps show under names. All others are unknown.
var (
	globalTypes = []uint64{psbt.XPub, psbt.FallbackLockTime, psbt.TxModifiable, psbt.Proprietary}
	inputTypes  = []uint64{
		psbt.NonWitnessUTXO, psbt.WitnessUTXO, psbt.PartialSig, psbt.SigHash,
		psbt.RedeemScript, psbt.WitnessScript, psbt.Derivation, psbt.FinalScriptSig,
		psbt.FinalWitness, psbt.Ripemd160, psbt.Sha256, psbt.Hash160, psbt.Hash256,
		psbt.TapKeySig, psbt.TapScriptSig, psbt.TapLeaf, psbt.TapDerivation,
		psbt.TapInternalKey, psbt.TapMerkleRoot, psbt.MusigParticipants,
		psbt.MusigPubNonce, psbt.MusigPartialSig, psbt.Proprietary,
		psbt.P2MRSig, psbt.P2MRLeaf, psbt.P2MRRoot,
		psbt.Sequence, psbt.TimeLock, psbt.HeightLock,
	}
	outputTypes = []uint64{
		psbt.OutRedeemScript, psbt.OutWitnessScript, psbt.OutDerivation,
		psbt.OutTapInternalKey, psbt.OutTapTree, psbt.OutTapDerivation,
		psbt.OutMusigParticipants, psbt.Proprietary,
	}
)

// showUnknown shows the entries of all types but the known ones.
func showUnknown(m psbt.Map, known []uint64) jsontree.Members {
	var unknown jsontree.Members
	for _, e := range m {
		if !slices.Contains(known, e.Type) {
			unknown = append(
				unknown, jsontree.Member{Key: hex.EncodeToString(e.Key), Value: hex.EncodeToString(e.Value)},
			)
		}
	}
	return unknown
}

func showProprietary(m psbt.Map) []proprietaryField {
	var shown []proprietaryField
	for _, e := range m.Of(psbt.Proprietary) {
		key := psbt.NewValue(e.Data)
		shown = append(shown, proprietaryField{
			Identifier: hex.EncodeToString(key.VarBytes()),
			Subtype:    key.CompactSize(),
			Key:        hex.EncodeToString(e.Key),
			Value:      hex.EncodeToString(e.Value),
		})
	}
	return shown
}

// showPairs shows the data of keys as names of their values.
func showPairs(m psbt.Map, kind uint64) jsontree.Members { return pairsOf(m.Of(kind)) }

func pairsOf(entries []psbt.Entry) jsontree.Members {
	var pairs jsontree.Members
	for _, e := range entries {
		pairs = append(pairs, jsontree.Member{Key: hex.EncodeToString(e.Data), Value: hex.EncodeToString(e.Value)})
	}
	return pairs
}

func showHex(m psbt.Map, kind uint64) string {
	value, _ := m.One(kind)
	return hex.EncodeToString(value)
}

// showHash is showHex for 32 bytes, of which zeros stand for none.
func showHash(m psbt.Map, kind uint64) string {
	value, _ := m.One(kind)
	if bytes.Equal(value, make([]byte, 32)) {
		return ""
	}
	return hex.EncodeToString(value)
}

func showScript(p *txjson.Printer, from psbt.Map, kind uint64) *scriptText {
	script, _ := from.One(kind)
	if len(script) == 0 {
		return nil
	}
	shown := p.ScriptPubKey(script)
	return &scriptText{txjson.Asm(script), shown.Hex.String(), shown.Type}
}

// showXPubs shows extended keys in the order of where they come from, then of
// their public keys and chain codes, of which no two entries share both.
func showXPubs(global psbt.Map) []xpubEntry {
	entries := global.Of(psbt.XPub)
	slices.SortFunc(entries, func(a, b psbt.Entry) int {
		return cmp.Or(compareOrigins(
			a.Value, b.Value,
		), bytes.Compare(xpubKey(a), xpubKey(b)), bytes.Compare(chainCode(a), chainCode(b)))
	})
	var xpubs []xpubEntry
	for _, e := range entries {
		xpubs = append(xpubs, xpubEntry{base58.CheckEncode(e.Data[1:], e.Data[0]), originOf(psbt.NewValue(e.Value))})
	}
	return xpubs
}

// xpubKey returns the public key at the end of an extended one.
func xpubKey(xpub psbt.Entry) []byte { return xpub.Data[len(xpub.Data)-keySize:] }

// chainCode returns the chain code, which is before the public key.
func chainCode(xpub psbt.Entry) []byte {
	end := len(xpub.Data) - keySize
	return xpub.Data[end-chainhash.HashSize : end]
}

// compareOrigins orders by the fingerprints, then by the lengths of the paths,
// then by these, number by number.
func compareOrigins(a, b []byte) int {
	first, second := psbt.NewValue(a), psbt.NewValue(b)
	return cmp.Or(
		bytes.Compare(first.Bytes(4), second.Bytes(4)), cmp.Compare(len(a), len(b)),
		slices.Compare(pathOf(first), pathOf(second)))
}

func pathOf(v *psbt.Value) []uint32 {
	var path []uint32
	for len(v.Rest) > 0 {
		path = append(path, v.Uint32())
	}
	return path
}

// originOf reads a fingerprint and the path behind it.
func originOf(v *psbt.Value) keyOrigin {
	const hardened = 1 << 31
	origin := keyOrigin{Fingerprint: hex.EncodeToString(v.Bytes(4))}
	var path strings.Builder
	path.WriteByte('m')
	for _, step := range pathOf(v) {
		path.WriteString("/" + strconv.FormatUint(uint64(step&^hardened), 10))
		if step&hardened != 0 {
			path.WriteByte('h')
		}
	}
	origin.Path = path.String()
	return origin
}

func showDerivations(m psbt.Map, kind uint64) []keyPath {
	var shown []keyPath
	for _, e := range m.Of(kind) {
		shown = append(shown, keyPath{hex.EncodeToString(e.Data), originOf(psbt.NewValue(e.Value))})
	}
	return shown
}

// showTapDerivations shows keys with the leaves they are in. The hashes of these
// are a set.
func showTapDerivations(m psbt.Map, kind uint64) []tapDerivation {
	var shown []tapDerivation
	for _, e := range m.Of(kind) {
		v := psbt.NewValue(e.Value)
		var hashes []string
		for range v.CompactSize() {
			hashes = append(hashes, hex.EncodeToString(v.Bytes(32)))
		}
		slices.Sort(hashes)
		hashes = slices.Compact(hashes)
		shown = append(shown, tapDerivation{keyPath{hex.EncodeToString(e.Data), originOf(v)}, hashes})
	}
	return shown
}
