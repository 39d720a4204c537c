package rawtxrpc

import "github.com/seed61375155/trawl/rpc/command"

// packetResults documents a [shownPacket]. script documents an output script.
func packetResults(script []command.Result) []command.Result {
	return []command.Result{objectResult("", "",
		optionalResult(objectResult(
			"tx", "the transaction without signatures, of version 0 of the format",
			command.Result{Type: command.Elision, Help: "as decoderawtransaction shows it"},
		)),
		listResult("global_xpubs", "extended public keys",
			textResult("xpub", "an extended public key"),
			hexResult("master_fingerprint", "fingerprint of the key it comes from"),
			textResult("path", "path from that key")),
		v2Number("tx_version", "version of the transaction, of version 2 of the format as the next six"),
		v2Number("fallback_locktime", "its lock time if no input requires one"),
		v2Number("input_count", "number of inputs"),
		v2Number("output_count", "number of outputs"),
		v2Flag("inputs_modifiable", "whether inputs may be added or taken away"),
		v2Flag("outputs_modifiable", "whether outputs may be added or taken away"),
		v2Flag("has_sighash_single", "whether a signature needs an input and an output to stay together"),
		command.Result{Type: command.Number, Key: "psbt_version", Help: "version of the format"},
		proprietaryResults(),
		pairsResult("unknown", "fields of unknown types"),
		listResult("inputs", "what is known of each input", inputResults(script)...),
		listResult("outputs", "what is known of each output", outputResults(script)...),
		optionalResult(command.Result{
			Type: command.Amount, Key: "fee", Help: "the fee, if it is known what all inputs spend",
		}),
	)}
}

func inputResults(script []command.Result) []command.Result {
	return allOptional(
		objectResult("witness_utxo", "the output spent",
			command.Result{Type: command.Number, Key: "amount", Help: "its value"},
			objectResult("scriptPubKey", "its script", script...)),
		objectResult("non_witness_utxo", "the transaction whose output is spent",
			command.Result{Type: command.Elision, Help: "as decoderawtransaction shows it"}),
		pairsResult("partial_signatures", "signatures by public keys"),
		textResult("sighash", "name of the hash type to sign with"),
		scriptFields("redeem_script"),
		scriptFields("witness_script"),
		derivationsResult(),
		objectResult("final_scriptSig", "the finished script",
			textResult("asm", "as words"), hexResult("hex", "as bytes")),
		textsResult("final_scriptwitness", "the finished witness"),
		pairsResult("ripemd160_preimages", "preimages by RIPEMD160 hashes"),
		pairsResult("sha256_preimages", "preimages by SHA256 hashes"),
		pairsResult("hash160_preimages", "preimages by hashes with both, SHA256 first"),
		pairsResult("hash256_preimages", "preimages by double SHA256 hashes"),
		hexResult("previous_txid", "id of the transaction whose output is spent, of version 2 as the next four"),
		v2Number("previous_vout", "number of the output"),
		v2Number("sequence", "sequence number"),
		v2Number("time_locktime", "least time that the input requires as lock time"),
		v2Number("height_locktime", "least height that the input requires as lock time"),
		hexResult("taproot_key_path_sig", "signature by the output key"),
		listResult("taproot_script_path_sigs", "signatures for leaves",
			hexResult("pubkey", "x-only public key"), hexResult("leaf_hash", "hash of the leaf"),
			hexResult("sig", "signature")),
		listResult("taproot_scripts", "leaves", hexResult("script", "script"),
			command.Result{Type: command.Number, Key: "leaf_ver", Help: "version"},
			textsResult("control_blocks", "proofs that the output commits to it")),
		tapDerivationsResult(),
		hexResult("taproot_internal_key", "x-only internal key"),
		hexResult("taproot_merkle_root", "root of the tree of leaves"),
		listResult("p2mr_script_path_sigs", "signatures for leaves of P2MR",
			hexResult("pubkey", "public key"), hexResult("leaf_hash", "hash of the leaf"),
			hexResult("sig", "signature")),
		listResult("p2mr_scripts", "leaves of P2MR", hexResult("script", "script"),
			command.Result{Type: command.Number, Key: "leaf_ver", Help: "version"},
			textsResult("control_blocks", "proofs that the output commits to it")),
		hexResult("p2mr_merkle_root", "root of P2MR that the output pays to"),
		participantsResult(),
		listResult("musig2_pubnonces", "nonces of keys that sign together", append(
			musigResults(), hexResult("pubnonce", "nonce"),
		)...),
		listResult("musig2_partial_sigs", "signatures of keys that sign together",
			append(musigResults(), hexResult("partial_sig", "signature"))...),
		proprietaryResults(),
		pairsResult("unknown", "fields of unknown types"),
	)
}

// v2Number and v2Flag are fields of version 2.
func v2Number(key, help string) command.Result {
	return command.Result{Type: command.Number, Key: key, Optional: true, Help: help}
}

func v2Flag(key, help string) command.Result {
	return command.Result{Type: command.Bool, Key: key, Optional: true, Help: help}
}

func outputResults(script []command.Result) []command.Result {
	return allOptional(
		scriptFields("redeem_script"),
		scriptFields("witness_script"),
		derivationsResult(),
		command.Result{Type: command.Amount, Key: "amount", Help: "what is paid, of version 2 as the next"},
		objectResult("script", "script that is paid to", script...),
		hexResult("taproot_internal_key", "x-only internal key"),
		listResult("taproot_tree", "leaves, as a walk through the tree meets them",
			command.Result{Type: command.Number, Key: "depth", Help: "depth in the tree"},
			command.Result{Type: command.Number, Key: "leaf_ver", Help: "version"},
			hexResult("script", "script")),
		tapDerivationsResult(),
		participantsResult(),
		proprietaryResults(),
		pairsResult("unknown", "fields of unknown types"),
	)
}

func scriptFields(key string) command.Result {
	return objectResult(key, "script that the output pays to by its hash",
		textResult("asm", "as words"), hexResult("hex", "as bytes"), textResult("type", "form, such as multisig"))
}

func derivationFields() []command.Result {
	return []command.Result{
		hexResult("pubkey", "public key"), hexResult("master_fingerprint", "fingerprint of the key it comes from"),
		textResult("path", "path from that key"),
	}
}

func derivationsResult() command.Result {
	return listResult("bip32_derivs", "where keys come from (BIP32)", derivationFields()...)
}

func tapDerivationsResult() command.Result {
	return listResult("taproot_bip32_derivs", "where x-only keys come from (BIP32)",
		append(derivationFields(), textsResult("leaf_hashes", "hashes of the leaves with the key"))...)
}

func participantsResult() command.Result {
	return listResult("musig2_participant_pubkeys", "keys that sign together (BIP373)",
		hexResult("aggregate_pubkey", "their common key"), textsResult("participant_pubkeys", "the keys"))
}

func musigResults() []command.Result {
	return []command.Result{
		hexResult("participant_pubkey", "key of the signer"), hexResult("aggregate_pubkey", "the common key"),
		optionalResult(hexResult("leaf_hash", "leaf that is signed for; none for the internal key")),
	}
}

func proprietaryResults() command.Result {
	return listResult("proprietary", "fields that somebody invented", hexResult("identifier", "whose"),
		command.Result{Type: command.Number, Key: "subtype", Help: "type among these"},
		hexResult("key", "whole key"), hexResult("value", "value"))
}

func objectResult(key, help string, members ...command.Result) command.Result {
	return command.Result{Type: command.Object, Key: key, Help: help, Inner: members}
}

// listResult is an array of objects.
func listResult(key, help string, members ...command.Result) command.Result {
	return command.Result{
		Type: command.Array, Key: key, Help: help, Inner: []command.Result{objectResult("", "", members...)},
	}
}

func textsResult(key, help string) command.Result {
	return command.Result{
		Type: command.Array, Key: key, Help: help, Inner: []command.Result{{Type: command.Hex, Help: "one"}},
	}
}

func pairsResult(key, help string) command.Result {
	return command.Result{
		Type: command.UserKeys, Key: key, Help: help, Inner: []command.Result{hexResult("key", "the value")},
	}
}

func textResult(key, help string) command.Result {
	return command.Result{Type: command.String, Key: key, Help: help}
}

func hexResult(key, help string) command.Result {
	return command.Result{Type: command.Hex, Key: key, Help: help}
}

func optionalResult(r command.Result) command.Result {
	r.Optional = true
	return r
}

func allOptional(results ...command.Result) []command.Result {
	for i := range results {
		results[i].Optional = true
	}
	return results
}
