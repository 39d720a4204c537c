package rawtxrpc

import (
	"bytes"
	"cmp"
	"encoding/hex"
	"slices"

	"github.com/seed61375155/trawl/internal/rawtx/psbt"
)

// Fields of keys that sign together (BIP373).
type (
	musigMembers struct {
		Aggregate    string   `json:"aggregate_pubkey"`
		Participants []string `json:"participant_pubkeys"`
	}

	musigKey struct {
		Participant string `json:"participant_pubkey"`
		Aggregate   string `json:"aggregate_pubkey"`
		LeafHash    string `json:"leaf_hash,omitempty"`
	}

	musigPubNonce struct {
		musigKey
		PubNonce string `json:"pubnonce"`
	}

	musigPartialSig struct {
		musigKey
		PartialSig string `json:"partial_sig"`
	}
)

// keySize is the size of a compressed public key.
const keySize = 33

func showParticipants(m psbt.Map, kind uint64) []musigMembers {
	var shown []musigMembers
	for _, e := range m.Of(kind) {
		members := musigMembers{Aggregate: keyText(e.Data)}
		for key := range slices.Chunk(e.Value, keySize) {
			members.Participants = append(members.Participants, keyText(key))
		}
		shown = append(shown, members)
	}
	return shown
}

// keyText returns a public key in hex, and an empty text for bytes without the
// form of a public key.
func keyText(key []byte) string {
	if !psbt.IsKey(key) {
		return ""
	}
	return hex.EncodeToString(key)
}

func showPubNonces(input psbt.Map) []musigPubNonce {
	var shown []musigPubNonce
	for _, e := range musigEntries(input, psbt.MusigPubNonce) {
		shown = append(shown, musigPubNonce{newMusigKey(e.Data), hex.EncodeToString(e.Value)})
	}
	return shown
}

func showPartialMusigs(input psbt.Map) []musigPartialSig {
	var shown []musigPartialSig
	for _, e := range musigEntries(input, psbt.MusigPartialSig) {
		// Core reads and shows these 32 bytes as they are.
		shown = append(shown, musigPartialSig{newMusigKey(e.Data), hex.EncodeToString(e.Value)})
	}
	return shown
}

// musigEntries returns entries whose key is participant, aggregate and perhaps a
// leaf, in the order of aggregate, leaf and participant.
func musigEntries(input psbt.Map, kind uint64) []psbt.Entry {
	entries := input.Of(kind)
	slices.SortFunc(entries, func(a, b psbt.Entry) int {
		return cmp.Or(bytes.Compare(a.Data[keySize:], b.Data[keySize:]), bytes.Compare(a.Data, b.Data))
	})
	return entries
}

func newMusigKey(data []byte) musigKey {
	key := psbt.NewValue(data)
	return musigKey{keyText(key.Bytes(keySize)), keyText(key.Bytes(keySize)), hex.EncodeToString(key.Rest)}
}
