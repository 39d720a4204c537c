package walletrpc_test

import (
	"encoding/hex"
	"testing"
	"time"

	"github.com/btcsuite/btcd/btcutil"
	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/internal/jsontree"
	"github.com/seed61375155/trawl/messages"
)

// A shown is a recorded object, from which the reply of a wallet is made again.
type shown struct {
	t testing.TB
	v *jsontree.Value
}

func (s shown) has(key string) bool { return s.v.Get(key) != nil }

func (s shown) at(key string) shown { return shown{s.t, s.v.Get(key)} }

func (s shown) text(key string) string { return s.v.Get(key).Text() }

func (s shown) isTrue(key string) bool {
	yes, _ := s.v.Get(key).AsBool()
	return yes
}

func (s shown) number(key string) int64 {
	if !s.has(key) {
		return 0
	}
	n, err := s.v.Get(key).AsInt64()
	if err != nil {
		s.t.Fatalf("%s: %v", key, err)
	}
	return n
}

func (s shown) amount(key string) btcutil.Amount { return amountOf(s.t, s.v.Get(key)) }

func amountOf(tb testing.TB, v *jsontree.Value) btcutil.Amount {
	tb.Helper()
	if v == nil {
		return 0
	}
	n, ok := jsontree.ParseFixedPoint(v.Text(), jsontree.AmountDecimals)
	if !ok {
		tb.Fatalf("no amount: %v", v)
	}
	return btcutil.Amount(n)
}

func (s shown) bytes(key string) []byte { return bytesOf(s.t, s.text(key)) }

func bytesOf(tb testing.TB, text string) []byte {
	tb.Helper()
	if text == "" {
		return nil
	}
	raw, err := hex.DecodeString(text)
	if err != nil {
		tb.Fatal(err)
	}
	return raw
}

func (s shown) hash(key string) (hash chainhash.Hash) {
	if err := chainhash.Decode(&hash, s.text(key)); err != nil {
		s.t.Fatal(err)
	}
	return hash
}

func (s shown) hashes(key string) (list []chainhash.Hash) {
	for _, v := range s.v.Get(key).Elements() {
		var hash chainhash.Hash
		if err := chainhash.Decode(&hash, v.Text()); err != nil {
			s.t.Fatal(err)
		}
		list = append(list, hash)
	}
	return list
}

func (s shown) texts(key string) (list []string) {
	for _, v := range s.v.Get(key).Elements() {
		list = append(list, v.Text())
	}
	return list
}

// each makes a list of the elements of an array.
func each[T any](s shown, of func(shown) T) (list []T) {
	for _, v := range s.v.Elements() {
		list = append(list, of(shown{s.t, v}))
	}
	return list
}

func (s shown) tip() messages.Tip {
	return messages.Tip{Hash: s.hash("hash"), Height: int32(s.number("height"))}
}

func descriptorOf(s shown) messages.WalletDescriptor {
	d := messages.WalletDescriptor{
		Desc: messages.Secret(s.text("desc")), Timestamp: s.number("timestamp"), Active: s.isTrue("active"),
		Internal: s.isTrue("internal"),
		Ranged:   s.has("range"), Next: int32(s.number("next")),
	}
	if d.Ranged {
		d.First, _ = s.v.Get("range").At(0).AsInt32()
		d.Last, _ = s.v.Get("range").At(1).AsInt32()
	}
	return d
}

func keyOf(s shown) messages.HDKey {
	return messages.HDKey{
		XPub: s.text("xpub"), HasPrivate: s.isTrue("has_private"), XPrv: messages.Secret(s.text("xprv")),
		Descriptors: each(s.at("descriptors"), func(s shown) messages.HDKeyUse {
			return messages.HDKeyUse{Desc: s.text("desc"), Active: s.isTrue("active")}
		}),
	}
}

func receivedOf(s shown) messages.Received {
	return messages.Received{
		Address: s.text("address"), Label: s.text("label"), Amount: s.amount("amount"),
		Confirmations: int32(s.number("confirmations")), TxIDs: s.hashes("txids"),
	}
}

func infoOf(s shown) messages.WalletInfo {
	last := s.at("lastprocessedblock").tip()
	info := messages.WalletInfo{
		Name: s.text("walletname"), Format: s.text("format"), TxCount: int(s.number("txcount")),
		KeypoolSize: int(s.number("keypoolsize")), KeypoolSizeInternal: int(s.number("keypoolsize_hd_internal")),
		Encrypted: s.has("unlocked_until"), PrivateKeys: s.isTrue("private_keys_enabled"), AvoidReuse: s.isTrue("avoid_reuse"),
		Blank: s.isTrue("blank"), Birthtime: s.number("birthtime"),
		Born: s.number("birthtime") != 0, Flags: s.texts("flags"),
		LastProcessedHash: last.Hash, LastProcessedHeight: last.Height,
	}
	if until := s.number("unlocked_until"); until != 0 {
		info.UnlockedUntil = time.Unix(until, 0)
	}
	return info
}

func balancesOf(s shown) messages.Balances {
	mine := s.at("mine")
	return messages.Balances{
		Trusted: mine.amount("trusted"), Pending: mine.amount("untrusted_pending"), Immature: mine.amount("immature"),
		Used: mine.amount("used"), HasUsed: mine.has("used"), Last: s.at("lastprocessedblock").tip(),
	}
}

// ownTxMembers are the members of a transaction that are not texts kept in the
// wallet.
var ownTxMembers = map[string]bool{
	"amount": true, "fee": true, "confirmations": true, "generated": true, "trusted": true, "blockhash": true,
	"blockheight": true, "blockindex": true, "blocktime": true, "txid": true, "wtxid": true, "walletconflicts": true,
	"mempoolconflicts": true, "time": true, "timereceived": true, "bip125-replaceable": true, "details": true,
	"hex": true, "decoded": true, "lastprocessedblock": true, "address": true, "parent_descs": true, "category": true,
	"label": true, "vout": true, "abandoned": true,
}

func txOf(s shown) messages.WalletTx {
	tx := messages.WalletTx{
		TxID: s.hash("txid"), WTxID: s.hash("wtxid"), Raw: s.bytes("hex"),
		Confirmations: int32(s.number("confirmations")),
		Coinbase:      s.has("generated"), Trusted: s.isTrue("trusted"), BlockHash: s.hash("blockhash"),
		BlockHeight: int32(s.number("blockheight")), BlockIndex: int(s.number("blockindex")),
		BlockTime: s.number("blocktime"),
		Time:      s.number("time"), TimeReceived: s.number("timereceived"), Conflicts: s.hashes("walletconflicts"),
		MempoolConflicts: s.hashes("mempoolconflicts"), Replaceable: s.text("bip125-replaceable"),
		Values: map[string]string{},
	}
	for key, v := range s.v.Members() {
		if !ownTxMembers[key] {
			tx.Values[key] = v.Text()
		}
	}
	return tx
}

func entryOf(s shown) messages.TxEntry {
	e := messages.TxEntry{
		Category: s.text("category"), Address: s.text("address"), Label: s.text("label"), HasLabel: s.has("label"),
		Amount: s.amount("amount"), Vout: uint32(s.number("vout")), Fee: s.amount("fee"), HasFee: s.has("fee"),
		Abandoned: s.isTrue("abandoned"), ParentDescs: s.texts("parent_descs"),
	}
	if s.has("txid") {
		e.Tx = txOf(s)
	}
	return e
}

func detailsOf(s shown) messages.TxDetails {
	return messages.TxDetails{
		Tx: txOf(s), Amount: s.amount("amount"), Fee: s.amount("fee"), HasFee: s.has("fee"),
		Details: each(s.at("details"), entryOf), Last: s.at("lastprocessedblock").tip(),
	}
}

func unspentOf(s shown) messages.Unspent {
	return messages.Unspent{
		TxID: s.hash("txid"), Index: uint32(s.number("vout")), Script: s.bytes("scriptPubKey"),
		Label: s.text("label"), HasLabel: s.has("label"), Amount: s.amount("amount"),
		Confirmations: int32(s.number("confirmations")), RedeemScript: s.bytes("redeemScript"),
		WitnessScript: s.bytes("witnessScript"), Spendable: s.isTrue("spendable"), Solvable: s.isTrue("solvable"),
		Desc: s.text("desc"), ParentDescs: s.texts("parent_descs"), Reused: s.isTrue("reused"),
		HasReused: s.has("reused"),
		Safe:      s.isTrue("safe"), AncestorCount: int(s.number("ancestorcount")),
		AncestorSize: int(s.number("ancestorsize")),
		AncestorFees: btcutil.Amount(s.number("ancestorfees")), HasAncestors: s.has("ancestorcount"),
	}
}

func addressInfoOf(s shown) messages.AddressInfo {
	info := messages.AddressInfo{
		IsMine: s.isTrue("ismine"), Solvable: s.isTrue("solvable"), Desc: s.text("desc"),
		ParentDesc: s.text("parent_desc"),
		IsChange:   s.isTrue("ischange"), Timestamp: s.number("timestamp"), HasPath: s.has("hdkeypath"),
		KeyPath: s.text("hdkeypath"), SeedID: s.text("hdseedid"), MasterFP: s.text("hdmasterfingerprint"),
		Labels: s.texts("labels"), Redeem: s.bytes("hex"),
	}
	within := s
	if s.has("embedded") {
		within = s.at("embedded")
		info.Witness = within.bytes("hex")
	}
	for within.has("embedded") {
		within = within.at("embedded")
	}
	info.PubKey = within.bytes("pubkey")
	info.SigsNeeded = int(within.number("sigsrequired"))
	for _, key := range within.texts("pubkeys") {
		info.Keys = append(info.Keys, bytesOf(s.t, key))
	}
	return info
}

func signedOf(s shown) messages.Signed {
	return messages.Signed{
		RawTx: s.bytes("hex"), Complete: s.isTrue("complete"),
		Errors: each(s.at("errors"), func(s shown) messages.SignError {
			e := messages.SignError{
				TxID: s.hash("txid"), Index: uint32(s.number("vout")), ScriptSig: s.bytes("scriptSig"),
				Sequence: uint32(s.number("sequence")), Text: s.text("error"),
			}
			for _, item := range s.texts("witness") {
				e.Witness = append(e.Witness, bytesOf(s.t, item))
			}
			return e
		}),
	}
}

func importOf(s shown) messages.ImportResult {
	r := messages.ImportResult{Warnings: s.texts("warnings")}
	if s.has("error") {
		r.Err = &messages.WalletError{Code: int(s.at("error").number("code")), Text: s.at("error").text("message")}
	}
	return r
}
