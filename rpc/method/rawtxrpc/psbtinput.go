package rawtxrpc

import (
	"bytes"
	"cmp"
	"encoding/hex"
	"slices"

	"github.com/btcsuite/btcd/btcutil"

	"github.com/seed61375155/trawl/internal/jsontree"
	"github.com/seed61375155/trawl/internal/rawtx/psbt"
	"github.com/seed61375155/trawl/internal/txjson"
)

// inputFields is an input as decodepsbt shows it. Fields that are not there are
// not shown.
type inputFields struct {
	WitnessUTXO    *spentOutput       `json:"witness_utxo,omitempty"`
	NonWitnessUTXO *txjson.Tx         `json:"non_witness_utxo,omitempty"`
	PartialSigs    jsontree.Members   `json:"partial_signatures,omitempty"`
	SigHash        *string            `json:"sighash,omitempty"`
	RedeemScript   *scriptText        `json:"redeem_script,omitempty"`
	WitnessScript  *scriptText        `json:"witness_script,omitempty"`
	Derivations    []keyPath          `json:"bip32_derivs,omitempty"`
	FinalScriptSig *txjson.ScriptSig  `json:"final_scriptSig,omitempty"`
	FinalWitness   []string           `json:"final_scriptwitness,omitempty"`
	Ripemd160      jsontree.Members   `json:"ripemd160_preimages,omitempty"`
	Sha256         jsontree.Members   `json:"sha256_preimages,omitempty"`
	Hash160        jsontree.Members   `json:"hash160_preimages,omitempty"`
	Hash256        jsontree.Members   `json:"hash256_preimages,omitempty"`
	PreviousTxID   string             `json:"previous_txid,omitempty"`
	PreviousVout   *uint32            `json:"previous_vout,omitempty"`
	Sequence       *uint32            `json:"sequence,omitempty"`
	TimeLock       *uint32            `json:"time_locktime,omitempty"`
	HeightLock     *uint32            `json:"height_locktime,omitempty"`
	TapKeySig      string             `json:"taproot_key_path_sig,omitempty"`
	TapScriptSigs  []tapScriptSig     `json:"taproot_script_path_sigs,omitempty"`
	TapScripts     []tapScript        `json:"taproot_scripts,omitempty"`
	TapDerivations []tapDerivation    `json:"taproot_bip32_derivs,omitempty"`
	TapInternalKey string             `json:"taproot_internal_key,omitempty"`
	TapMerkleRoot  string             `json:"taproot_merkle_root,omitempty"`
	P2MRSigs       []tapScriptSig     `json:"p2mr_script_path_sigs,omitempty"`
	P2MRScripts    []tapScript        `json:"p2mr_scripts,omitempty"`
	P2MRRoot       string             `json:"p2mr_merkle_root,omitempty"`
	Participants   []musigMembers     `json:"musig2_participant_pubkeys,omitempty"`
	PubNonces      []musigPubNonce    `json:"musig2_pubnonces,omitempty"`
	PartialMusigs  []musigPartialSig  `json:"musig2_partial_sigs,omitempty"`
	Proprietary    []proprietaryField `json:"proprietary,omitempty"`
	Unknown        jsontree.Members   `json:"unknown,omitempty"`
}

type spentOutput struct {
	Amount jsontree.Amount     `json:"amount"`
	Script txjson.ScriptPubKey `json:"scriptPubKey"`
}

type tapScriptSig struct {
	PubKey   string `json:"pubkey"`
	LeafHash string `json:"leaf_hash"`
	Sig      string `json:"sig"`
}

type tapScript struct {
	Script        string   `json:"script"`
	LeafVersion   int      `json:"leaf_ver"`
	ControlBlocks []string `json:"control_blocks"`
}

func showInput(p *txjson.Printer, input psbt.Map) inputFields {
	shown := inputFields{
		PartialSigs:    showPartialSigs(input),
		SigHash:        showSigHash(input),
		RedeemScript:   showScript(p, input, psbt.RedeemScript),
		WitnessScript:  showScript(p, input, psbt.WitnessScript),
		Derivations:    showDerivations(input, psbt.Derivation),
		FinalWitness:   showFinalWitness(input),
		Ripemd160:      showPairs(input, psbt.Ripemd160),
		Sha256:         showPairs(input, psbt.Sha256),
		Hash160:        showPairs(input, psbt.Hash160),
		Hash256:        showPairs(input, psbt.Hash256),
		TapKeySig:      showHex(input, psbt.TapKeySig),
		TapScriptSigs:  showLeafSigs(input, psbt.TapScriptSig),
		TapScripts:     showLeaves(input, psbt.TapLeaf),
		TapDerivations: showTapDerivations(input, psbt.TapDerivation),
		TapInternalKey: showHash(input, psbt.TapInternalKey),
		TapMerkleRoot:  showHash(input, psbt.TapMerkleRoot),
		P2MRSigs:       showLeafSigs(input, psbt.P2MRSig),
		P2MRScripts:    showLeaves(input, psbt.P2MRLeaf),
		P2MRRoot:       showHash(input, psbt.P2MRRoot),
		Participants:   showParticipants(input, psbt.MusigParticipants),
		PubNonces:      showPubNonces(input),
		PartialMusigs:  showPartialMusigs(input),
		Proprietary:    showProprietary(input),
		Unknown:        showUnknown(input, inputTypes),
	}
	if raw, ok := input.One(psbt.WitnessUTXO); ok {
		if out := psbt.NewValue(raw).Output(); out.Value != -1 {
			shown.WitnessUTXO = &spentOutput{jsontree.Amount(out.Value), p.ScriptPubKey(out.PkScript)}
		}
	}
	if raw, ok := input.One(psbt.NonWitnessUTXO); ok {
		shown.NonWitnessUTXO = new(p.Tx(psbt.NewValue(raw).Tx(true), txjson.Options{}))
	}
	if script, _ := input.One(psbt.FinalScriptSig); len(script) > 0 {
		shown.FinalScriptSig = new(txjson.NewScriptSig(script))
	}
	return shown
}

// showPartialSigs shows signatures in the order of the hashes of their keys, as
// Core keeps them.
func showPartialSigs(input psbt.Map) jsontree.Members {
	entries := input.Of(psbt.PartialSig)
	slices.SortFunc(entries, func(a, b psbt.Entry) int {
		return bytes.Compare(btcutil.Hash160(a.Data), btcutil.Hash160(b.Data))
	})
	return pairsOf(entries)
}

// showSigHash names the hash type; one without a name is empty.
func showSigHash(input psbt.Map) *string {
	raw, ok := input.One(psbt.SigHash)
	if !ok {
		return nil
	}
	return new(txjson.HashTypeName(raw[0]))
}

func showFinalWitness(input psbt.Map) []string {
	raw, ok := input.One(psbt.FinalWitness)
	if !ok {
		return nil
	}
	var items []string
	for _, item := range psbt.NewValue(raw).Witness() {
		items = append(items, hex.EncodeToString(item))
	}
	return items
}

// showLeafSigs shows signatures of leaves, of taproot or P2MR.
func showLeafSigs(input psbt.Map, kind uint64) []tapScriptSig {
	var sigs []tapScriptSig
	for _, e := range input.Of(kind) {
		key := psbt.NewValue(e.Data)
		sigs = append(sigs, tapScriptSig{
			hex.EncodeToString(key.Bytes(32)), hex.EncodeToString(key.Rest), hex.EncodeToString(e.Value),
		})
	}
	return sigs
}

// showLeaves shows the leaves of taproot or P2MR in the order of their scripts and versions,
// each with its control blocks, the shortest first.
func showLeaves(input psbt.Map, kind uint64) []tapScript {
	entries := input.Of(kind)
	leafOf := func(e psbt.Entry) ([]byte, byte) {
		last := len(e.Value) - 1
		return e.Value[:last], e.Value[last]
	}
	slices.SortFunc(entries, func(a, b psbt.Entry) int {
		script, version := leafOf(a)
		otherScript, otherVersion := leafOf(b)
		return cmp.Or(
			bytes.Compare(script, otherScript), cmp.Compare(version, otherVersion),
			cmp.Compare(len(a.Data), len(b.Data)), bytes.Compare(a.Data, b.Data))
	})
	var leaves []tapScript
	for i, e := range entries {
		if i == 0 || !bytes.Equal(e.Value, entries[i-1].Value) {
			script, version := leafOf(e)
			leaves = append(leaves, tapScript{Script: hex.EncodeToString(script), LeafVersion: int(version)})
		}
		leaf := &leaves[len(leaves)-1]
		leaf.ControlBlocks = append(leaf.ControlBlocks, hex.EncodeToString(e.Data))
	}
	return leaves
}
