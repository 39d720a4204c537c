package wallet_test

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strings"

	"github.com/btcsuite/btcd/btcutil"
	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/internal/wallet"
	"github.com/seed61375155/trawl/internal/walletfile"
	"github.com/seed61375155/trawl/messages"
)

// errSkip is returned for calls that are not the wallet's to answer.
var errSkip = errors.New("not a call of the wallet")

// object is a JSON object.
type object = map[string]any

// player answers recorded calls from a wallet, in the form of JSON-RPC.
type player struct {
	wallet *wallet.Wallet
	chain  *testChain
	params wallet.Params
	played int // answers that were compared
}

// arguments are those of a call by their names.
type arguments map[string]json.RawMessage

func argumentsOf(raw json.RawMessage, names ...string) arguments {
	args := make(arguments)
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) == nil {
		for i, value := range list {
			args[names[i]] = value
		}
		return args
	}
	_ = json.Unmarshal(raw, &args)
	return args
}

// get reads an argument, which stays what it is if it was not given.
func (a arguments) get(name string, value any) bool {
	raw, ok := a[name]
	if !ok || string(raw) == "null" {
		return false
	}
	if err := json.Unmarshal(raw, value); err != nil {
		panic(err)
	}
	return true
}

func errorObject(err error) any {
	var failure *messages.WalletError
	if !errors.As(err, &failure) {
		return err.Error()
	}
	return object{"code": failure.Code, "message": failure.Text}
}

func (p *player) call(c recordedCase) (any, error) {
	w := p.wallet
	switch c.Method {
	case "listdescriptors":
		return p.listDescriptors(argumentsOf(c.Params, "private"))
	case "gethdkeys":
		return p.hdKeys(argumentsOf(c.Params, "options"))
	case "listreceivedbyaddress":
		return p.received(argumentsOf(c.Params,
			"minconf", "include_empty", "include_watchonly", "address_filter", "include_immature_coinbase"), false)
	case "listreceivedbylabel":
		return p.received(argumentsOf(c.Params,
			"minconf", "include_empty", "include_watchonly", "include_immature_coinbase"), true)
	case "getwalletinfo":
		return p.info(), nil
	case "getbalances":
		return p.balances(), nil
	case "listtransactions":
		return p.transactions(argumentsOf(c.Params, "label", "count", "skip"))
	case "listlabels":
		var purpose string
		argumentsOf(c.Params, "purpose").get("purpose", &purpose)
		return w.Book().Labels(purpose), nil
	case "getaddressinfo":
		return p.addressInfo(argumentsOf(c.Params, "address"))
	case "getnewaddress":
		var r messages.NewAddress
		args := argumentsOf(c.Params, "label", "address_type")
		args.get("label", &r.Label)
		r.HasType = args.get("address_type", &r.Type)
		return w.Pool().NewAddress(r)
	case "getrawchangeaddress":
		r := messages.NewAddress{Change: true}
		r.HasType = argumentsOf(c.Params, "address_type").get("address_type", &r.Type)
		return w.Pool().NewAddress(r)
	case "setlabel":
		return nil, p.setLabel(argumentsOf(c.Params, "address", "label"))
	case "getreceivedbyaddress":
		return p.receivedBy(argumentsOf(c.Params, "address", "minconf", "include_immature_coinbase"))
	case "importdescriptors":
		return p.importDescriptors(argumentsOf(c.Params, "requests"))
	case "listunspent":
		return p.unspent(argumentsOf(c.Params, "minconf"))
	case "rescanblockchain":
		scan(w, p.chain, 0)
		return object{"start_height": 0, "stop_height": p.chain.tip().Height}, nil
	case "walletpassphrase":
		return nil, p.unlock(argumentsOf(c.Params, "passphrase", "timeout"))
	case "walletlock":
		w.Vault().Lock()
		return nil, nil
	}
	return nil, errSkip
}

func (p *player) setLabel(args arguments) error {
	var r messages.SetLabel
	args.get("address", &r.Address)
	args.get("label", &r.Label)
	var err error
	if r.Script, err = descriptor.ScriptOfAddress(r.Address, p.params.Network); err != nil {
		return errSkip
	}
	return p.wallet.SetLabel(r)
}

func (p *player) receivedBy(args arguments) (any, error) {
	r := messages.GetReceived{MinConf: 1}
	var address string
	args.get("address", &address)
	args.get("minconf", &r.MinConf)
	args.get("include_immature_coinbase", &r.IncludeImmature)
	var err error
	if r.Script, err = descriptor.ScriptOfAddress(address, p.params.Network); err != nil {
		return nil, errSkip
	}
	sum, err := p.wallet.Reports().Received(r)
	return amount(sum), err
}

func (p *player) unlock(args arguments) error {
	var text string
	args.get("passphrase", &text)
	passphrase := walletfile.NewSecret([]byte(text))
	for _, record := range p.wallet.Vault().MasterKeys() {
		master, err := record.Unlock(context.Background(), passphrase)
		if err == nil && p.wallet.Unlock(master) == nil {
			return nil
		}
	}
	return &messages.WalletError{Code: -14, Text: "Error: The wallet passphrase entered was incorrect."}
}

func hexOf(b []byte) string { return hex.EncodeToString(b) }

func amount(a btcutil.Amount) json.Number {
	sign := ""
	if a < 0 {
		sign, a = "-", -a
	}
	return json.Number(fmt.Sprintf("%s%d.%08d", sign, a/1e8, a%1e8))
}

func hashes(list []chainhash.Hash) []string {
	texts := make([]string, len(list))
	for i, h := range list {
		texts[i] = h.String()
	}
	return texts
}

func (p *player) listDescriptors(args arguments) (any, error) {
	var private bool
	args.get("private", &private)
	list, err := p.wallet.Keys().ListDescriptors(private)
	if err != nil {
		return nil, err
	}
	shown := make([]object, len(list))
	for i, d := range list {
		o := object{"desc": string(d.Desc), "timestamp": d.Timestamp, "active": d.Active}
		if d.Active {
			o["internal"] = d.Internal
		}
		if d.Ranged {
			o["range"], o["next"], o["next_index"] = []int32{d.First, d.Last}, d.Next, d.Next
		}
		shown[i] = o
	}
	return object{"wallet_name": p.params.Name, "descriptors": shown}, nil
}

func (p *player) hdKeys(args arguments) (any, error) {
	inner := make(arguments)
	if !args.get("options", &inner) {
		inner = args
	}
	var activeOnly, private bool
	inner.get("active_only", &activeOnly)
	inner.get("private", &private)
	list, err := p.wallet.Keys().HDKeys(activeOnly, private)
	if err != nil {
		return nil, err
	}
	shown := make([]object, len(list))
	for i, k := range list {
		uses := make([]object, len(k.Descriptors))
		for j, use := range k.Descriptors {
			uses[j] = object{"desc": use.Desc, "active": use.Active}
		}
		shown[i] = object{"xpub": k.XPub, "has_private": k.HasPrivate, "descriptors": uses}
		if k.XPrv != nil {
			shown[i]["xprv"] = string(k.XPrv)
		}
	}
	return shown, nil
}

func (p *player) received(args arguments, byLabel bool) (any, error) {
	r := messages.ListReceived{MinConf: 1, ByLabel: byLabel}
	args.get("minconf", &r.MinConf)
	args.get("include_empty", &r.IncludeEmpty)
	args.get("include_immature_coinbase", &r.IncludeImmature)
	var filter string
	if args.get("address_filter", &filter); filter != "" {
		var err error
		if r.Script, err = descriptor.ScriptOfAddress(filter, p.params.Network); err != nil {
			return nil, errSkip
		}
	}
	list := p.wallet.Reports().ListReceived(r)
	shown := make([]object, len(list))
	for i, e := range list {
		shown[i] = object{"amount": amount(e.Amount), "confirmations": e.Confirmations, "label": e.Label}
		if !byLabel {
			shown[i]["address"], shown[i]["txids"] = e.Address, hashes(e.TxIDs)
		}
	}
	return shown, nil
}

func (p *player) lastBlock() object {
	tip := p.wallet.Txs().Tip()
	return object{"hash": tip.Hash.String(), "height": tip.Height}
}

func (p *player) info() any {
	info := p.wallet.Info()
	o := object{
		"walletname": info.Name, "walletversion": 169900, "format": info.Format, "txcount": info.TxCount,
		"keypoolsize": info.KeypoolSize, "keypoolsize_hd_internal": info.KeypoolSizeInternal,
		"private_keys_enabled": info.PrivateKeys, "avoid_reuse": info.AvoidReuse, "descriptors": true,
		"external_signer": false, "blank": info.Blank, "flags": info.Flags, "lastprocessedblock": p.lastBlock(),
	}
	if info.Birthtime != 0 {
		o["birthtime"] = info.Birthtime
	}
	return o
}

func (p *player) balances() any {
	b := p.wallet.Reports().Balances(messages.GetBalances{AvoidReuse: true})
	mine := object{
		"trusted": amount(b.Trusted), "untrusted_pending": amount(b.Pending), "immature": amount(b.Immature),
	}
	if b.HasUsed {
		mine["used"] = amount(b.Used)
	}
	return object{"mine": mine, "lastprocessedblock": p.lastBlock()}
}

func (p *player) transactions(args arguments) (any, error) {
	r := messages.ListTransactions{Count: 10}
	label := "*"
	if args.get("label", &label); label != "*" {
		r.Label = &label
	}
	args.get("count", &r.Count)
	args.get("skip", &r.Skip)
	list := p.wallet.Reports().ListTransactions(r)
	shown := make([]object, len(list))
	for i, e := range list {
		shown[i] = entryObject(&e)
	}
	return shown, nil
}

func entryObject(e *messages.TxEntry) object {
	o := object{"category": e.Category, "amount": amount(e.Amount), "vout": e.Vout, "abandoned": e.Abandoned}
	if e.Address != "" {
		o["address"] = e.Address
	}
	if e.HasLabel {
		o["label"] = e.Label
	}
	if e.HasFee {
		o["fee"] = amount(e.Fee)
	}
	if e.Category != "send" {
		o["parent_descs"] = e.ParentDescs
	}
	maps.Copy(o, txObject(&e.Tx))
	return o
}

func txObject(t *messages.WalletTx) object {
	o := object{
		"confirmations": t.Confirmations, "txid": t.TxID.String(), "wtxid": t.WTxID.String(),
		"walletconflicts": hashes(t.Conflicts), "mempoolconflicts": hashes(t.MempoolConflicts),
		"time": t.Time, "bip125-replaceable": t.Replaceable,
	}
	if t.Coinbase {
		o["generated"] = true
	}
	if t.BlockHash != (chainhash.Hash{}) {
		o["blockhash"], o["blockheight"] = t.BlockHash.String(), t.BlockHeight
		o["blockindex"], o["blocktime"] = t.BlockIndex, t.BlockTime
	} else {
		o["trusted"] = t.Trusted
	}
	for name, text := range t.Values {
		o[name] = text
	}
	return o
}

// addressInfo leaves out what does not depend on the wallet.
func (p *player) addressInfo(args arguments) (any, error) {
	var address string
	args.get("address", &address)
	pkScript, err := descriptor.ScriptOfAddress(address, p.params.Network)
	if err != nil {
		return nil, errSkip
	}
	info := p.wallet.Keys().AddressInfo(pkScript)
	o := object{
		"address": address, "scriptPubKey": hexOf(pkScript), "ismine": info.IsMine,
		"solvable": info.Solvable, "iswatchonly": false, "ischange": info.IsChange, "labels": info.Labels,
	}
	if info.Solvable {
		o["desc"] = info.Desc
	}
	if info.ParentDesc != "" {
		o["parent_desc"] = info.ParentDesc
	}
	describe(o, pkScript, &info, p.params.Network)
	if info.HasPath {
		o["timestamp"], o["hdkeypath"] = info.Timestamp, info.KeyPath
		o["hdseedid"], o["hdmasterfingerprint"] = info.SeedID, info.MasterFP
	}
	return o, nil
}

// describe adds what a script is, and what is behind it.
func describe(o object, pkScript []byte, info *messages.AddressInfo, net *descriptor.Network) {
	kind := descriptor.ScriptType(pkScript)
	o["iswitness"] = strings.HasPrefix(kind, "witness") || kind == "anchor"
	o["isscript"] = kind == "scripthash" || kind == "witness_v0_scripthash" || kind == "witness_v1_taproot"
	if o["iswitness"] == true {
		version := 0
		if pkScript[0] != 0 {
			version = int(pkScript[0]) - 0x50
		}
		o["witness_version"], o["witness_program"] = version, hexOf(pkScript[2:])
	}
	if info.PubKey != nil {
		o["pubkey"] = hexOf(info.PubKey)
	}
	if kind == "pubkeyhash" && info.PubKey != nil {
		o["iscompressed"] = len(info.PubKey) == 33
	}
	if info.Redeem == nil {
		return
	}
	behind := *info
	behind.Redeem, behind.Witness = info.Witness, nil
	inner := descriptor.ScriptType(info.Redeem)
	o["script"], o["hex"] = inner, hexOf(info.Redeem)
	if address, ok := descriptor.AddressOf(info.Redeem, net); ok {
		embedded := object{"address": address, "scriptPubKey": hexOf(info.Redeem)}
		describe(embedded, info.Redeem, &behind, net)
		o["embedded"] = embedded
	} else if inner == "multisig" {
		keys := make([]string, len(info.Keys))
		for i, key := range info.Keys {
			keys[i] = hexOf(key)
		}
		o["sigsrequired"], o["pubkeys"] = info.SigsNeeded, keys
	}
}
