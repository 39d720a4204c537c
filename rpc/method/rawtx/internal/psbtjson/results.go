package psbtjson

import "github.com/seed61375155/trawl/rpc/command"

// Results documents a [Packet]. script documents an output script.
func Results(script []command.Result) []command.Result {
	return []command.Result{object("", "",
		object("tx", "the transaction without signatures", command.Result{
			Type: command.Elision, Help: "as decoderawtransaction shows it",
		}),
		list("global_xpubs", "extended public keys",
			text("xpub", "an extended public key"),
			hexText("master_fingerprint", "fingerprint of the key it comes from"),
			text("path", "path from that key")),
		command.Result{Type: command.Number, Key: "psbt_version", Help: "version of the format"},
		proprietaryResults(),
		pairs("unknown", "fields of unknown types"),
		list("inputs", "what is known of each input", inputResults(script)...),
		list("outputs", "what is known of each output", outputResults()...),
		optional(command.Result{Type: command.Amount, Key: "fee", Help: "the fee, if it is known what all inputs " +
			"spend"}),
	)}
}

func inputResults(script []command.Result) []command.Result {
	return allOptional(
		object("witness_utxo", "the output spent",
			command.Result{Type: command.Number, Key: "amount", Help: "its value"},
			object("scriptPubKey", "its script", script...)),
		object("non_witness_utxo", "the transaction whose output is spent",
			command.Result{Type: command.Elision, Help: "as decoderawtransaction shows it"}),
		pairs("partial_signatures", "signatures by public keys"),
		text("sighash", "name of the hash type to sign with"),
		scriptFields("redeem_script"),
		scriptFields("witness_script"),
		derivations(),
		object("final_scriptSig", "the finished script", text("asm", "as words"), hexText("hex", "as bytes")),
		texts("final_scriptwitness", "the finished witness"),
		pairs("ripemd160_preimages", "preimages by RIPEMD160 hashes"),
		pairs("sha256_preimages", "preimages by SHA256 hashes"),
		pairs("hash160_preimages", "preimages by hashes with both, SHA256 first"),
		pairs("hash256_preimages", "preimages by double SHA256 hashes"),
		hexText("taproot_key_path_sig", "signature by the output key"),
		list("taproot_script_path_sigs", "signatures for leaves",
			hexText("pubkey", "x-only public key"), hexText("leaf_hash", "hash of the leaf"),
			hexText("sig", "signature")),
		list("taproot_scripts", "leaves", hexText("script", "script"),
			command.Result{Type: command.Number, Key: "leaf_ver", Help: "version"},
			texts("control_blocks", "proofs that the output commits to it")),
		tapDerivations(),
		hexText("taproot_internal_key", "x-only internal key"),
		hexText("taproot_merkle_root", "root of the tree of leaves"),
		list("p2mr_script_path_sigs", "signatures for leaves of P2MR",
			hexText("pubkey", "public key"), hexText("leaf_hash", "hash of the leaf"),
			hexText("sig", "signature")),
		list("p2mr_scripts", "leaves of P2MR", hexText("script", "script"),
			command.Result{Type: command.Number, Key: "leaf_ver", Help: "version"},
			texts("control_blocks", "proofs that the output commits to it")),
		hexText("p2mr_merkle_root", "root of P2MR that the output pays to"),
		participants(),
		list("musig2_pubnonces", "nonces of keys that sign together", append(
			musigResults(), hexText("pubnonce", "nonce"),
		)...),
		list("musig2_partial_sigs", "signatures of keys that sign together",
			append(musigResults(), hexText("partial_sig", "signature"))...),
		proprietaryResults(),
		pairs("unknown", "fields of unknown types"),
	)
}

func outputResults() []command.Result {
	return allOptional(
		scriptFields("redeem_script"),
		scriptFields("witness_script"),
		derivations(),
		hexText("taproot_internal_key", "x-only internal key"),
		list("taproot_tree", "leaves, as a walk through the tree meets them",
			command.Result{Type: command.Number, Key: "depth", Help: "depth in the tree"},
			command.Result{Type: command.Number, Key: "leaf_ver", Help: "version"},
			hexText("script", "script")),
		tapDerivations(),
		participants(),
		proprietaryResults(),
		pairs("unknown", "fields of unknown types"),
	)
}

func scriptFields(key string) command.Result {
	return object(key, "script that the output pays to by its hash",
		text("asm", "as words"), hexText("hex", "as bytes"), text("type", "form, such as multisig"))
}

func derivationFields() []command.Result {
	return []command.Result{
		hexText("pubkey", "public key"), hexText("master_fingerprint", "fingerprint of the key it comes from"),
		text("path", "path from that key"),
	}
}

func derivations() command.Result {
	return list("bip32_derivs", "where keys come from (BIP32)", derivationFields()...)
}

func tapDerivations() command.Result {
	return list("taproot_bip32_derivs", "where x-only keys come from (BIP32)",
		append(derivationFields(), texts("leaf_hashes", "hashes of the leaves with the key"))...)
}

func participants() command.Result {
	return list("musig2_participant_pubkeys", "keys that sign together (BIP373)",
		hexText("aggregate_pubkey", "their common key"), texts("participant_pubkeys", "the keys"))
}

func musigResults() []command.Result {
	return []command.Result{
		hexText("participant_pubkey", "key of the signer"), hexText("aggregate_pubkey", "the common key"),
		optional(hexText("leaf_hash", "leaf that is signed for; none for the internal key")),
	}
}

func proprietaryResults() command.Result {
	return list("proprietary", "fields that somebody invented", hexText("identifier", "whose"),
		command.Result{Type: command.Number, Key: "subtype", Help: "type among these"},
		hexText("key", "whole key"), hexText("value", "value"))
}

func object(key, help string, members ...command.Result) command.Result {
	return command.Result{Type: command.Object, Key: key, Help: help, Inner: members}
}

// list is an array of objects.
func list(key, help string, members ...command.Result) command.Result {
	return command.Result{
		Type: command.Array, Key: key, Help: help, Inner: []command.Result{object("", "", members...)},
	}
}

func texts(key, help string) command.Result {
	return command.Result{
		Type: command.Array, Key: key, Help: help, Inner: []command.Result{{Type: command.Hex, Help: "one"}},
	}
}

func pairs(key, help string) command.Result {
	return command.Result{
		Type: command.UserKeys, Key: key, Help: help, Inner: []command.Result{hexText("key", "the value")},
	}
}

func text(key, help string) command.Result {
	return command.Result{Type: command.String, Key: key, Help: help}
}

func hexText(key, help string) command.Result {
	return command.Result{Type: command.Hex, Key: key, Help: help}
}

func optional(r command.Result) command.Result {
	r.Optional = true
	return r
}

func allOptional(results ...command.Result) []command.Result {
	for i := range results {
		results[i].Optional = true
	}
	return results
}
