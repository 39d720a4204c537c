package main

import (
	"fmt"
	"strconv"
	"strings"
)

// form says how a word of the command line becomes a parameter.
type form uint8

const (
	asString form = iota
	asJSON
	asEither // as JSON where it parses, else as a string
)

// formOf returns the form of a method's parameter by its place, from 0.
func formOf(method string, place int) form {
	return lookup(method, func(p parameter) bool { return p.place == place })
}

// formOfName returns the form of a method's parameter by its name.
func formOfName(method, name string) form {
	return lookup(method, func(p parameter) bool { return p.name == name })
}

// parameter is a parameter of a method that is not a plain string.
type parameter struct {
	place int
	name  string
	form  form
}

func lookup(method string, match func(parameter) bool) form {
	for _, p := range parameters(method) {
		if match(p) {
			return p.form
		}
	}
	return asString
}

// parameters reads a method's line of the table.
func parameters(method string) []parameter {
	var all []parameter
	for field := range strings.FieldsSeq(jsonParameters[method]) {
		place, names, _ := strings.Cut(field, ":")
		number, err := strconv.Atoi(place)
		if err != nil {
			panic(fmt.Sprintf("table of %s: %q", method, field))
		}
		for name := range strings.SplitSeq(names, ",") {
			name, either := strings.CutSuffix(name, "?")
			p := parameter{number, name, asJSON}
			if either {
				p.form = asEither
			}
			all = append(all, p)
		}
	}
	return all
}

// jsonParameters lists, as "place:name", the parameters of Bitcoin Core's
// methods, and of those of P2MR wallets, that are not plain strings. More names
// for one place are other names of the parameter, or members of an options object
// that may be given by name. A question mark marks those that may be strings too.
var jsonParameters = map[string]string{
	"addconnection":         "2:v2transport",
	"addnode":               "2:v2transport",
	"addpeeraddress":        "1:port 2:tried",
	"bumpfee":               "1:options,conf_target,fee_rate,replaceable,outputs,original_change_index",
	"checkwallet":           "0:options,gap,start_height",
	"combinepsbt":           "0:txs",
	"combinerawtransaction": "0:txs",
	"converttopsbt":         "1:permitsigdata 2:iswitness 3:psbt_version",
	"createmultisig":        "0:nrequired 1:keys",
	"createpsbt":            "0:inputs 1:outputs 2:locktime 3:replaceable 4:version 5:psbt_version",
	"createrawtransaction":  "0:inputs 1:outputs 2:locktime 3:replaceable 4:version",
	"createwallet": "1:disable_private_keys 2:blank 4:avoid_reuse 5:descriptors 6:load_on_startup " +
		"7:external_signer",
	"createwalletdescriptor": "1:options,internal",
	"decoderawtransaction":   "1:iswitness",
	"deriveaddresses":        "1:range",
	"derivehdkey":            "1:options,private",
	"descriptorprocesspsbt":  "1:descriptors 3:bip32derivs 4:finalize",
	"disconnectnode":         "1:nodeid",
	"dumptxoutset":           "2:options,rollback?,in_memory",
	"echojson":               "0:arg0 1:arg1 2:arg2 3:arg3 4:arg4 5:arg5 6:arg6 7:arg7 8:arg8 9:arg9",
	"estimaterawfee":         "0:conf_target 1:threshold",
	"estimatesmartfee":       "0:conf_target 2:options,verbosity",
	"finalizepsbt":           "1:extract",
	"fundrawtransaction": "1:options,add_inputs,include_unsafe,minconf,maxconf,changePosition,includeWatching," +
		"lockUnspents,fee_rate,feeRate,subtractFeeFromOutputs,input_weights,conf_target," +
		"replaceable,solving_data,max_tx_weight 2:iswitness",
	"generateblock":          "1:transactions 2:submit",
	"generatetoaddress":      "0:nblocks 2:maxtries",
	"generatetodescriptor":   "0:num_blocks 2:maxtries",
	"getbalance":             "1:minconf 2:include_watchonly 3:avoid_reuse",
	"getblock":               "1:verbosity,verbose",
	"getblockfrompeer":       "1:peer_id",
	"getblockhash":           "0:height",
	"getblockheader":         "1:verbose",
	"getblockstats":          "0:hash_or_height? 1:stats",
	"getblocktemplate":       "0:template_request",
	"getchaintxstats":        "0:nblocks",
	"getconfirmationtarget":  "0:value_satoshis 2:merge_mining_pct 3:btc_hashrate",
	"getdefaultctvhash":      "1:input_index 2:verbose",
	"getdescriptoractivity":  "0:blockhashes 1:scanobjects 2:include_mempool",
	"gethdkeys":              "0:active_only,options,private",
	"getmempoolancestors":    "1:verbose",
	"getmempooldescendants":  "1:verbose",
	"getnetworkhashps":       "0:nblocks 1:height",
	"getnextpubkeydbaddress": "0:internal 1:account",
	"getnodeaddresses":       "0:count",
	"getorphanmetrics":       "0:window",
	"getopenrpcinfo":         "0:show_hidden",
	"getorphantxs":           "0:verbosity",
	"getrawmempool":          "0:verbose 1:mempool_sequence",
	"getrawtransaction":      "1:verbosity,verbose",
	"getreceivedbyaddress":   "1:minconf 2:include_immature_coinbase",
	"getreceivedbylabel":     "1:minconf 2:include_immature_coinbase",
	"gettransaction":         "1:include_watchonly 2:verbose",
	"gettxout":               "1:n 2:include_mempool",
	"gettxoutproof":          "0:txids",
	"gettxoutsetinfo":        "1:hash_or_height? 2:use_index",
	"gettxspendingprevout":   "0:outputs 1:options,mempool_only,return_spending_tx",
	"importdescriptors":      "0:requests",
	"importmempool":          "1:options,apply_fee_delta_priority,use_current_time,apply_unbroadcast_set",
	"importpubkeydb":         "0:pubkeys 1:internal 2:timestamp?",
	"joinpsbts":              "0:txs",
	"keypoolrefill":          "0:newsize",
	"listdescriptors":        "0:private",
	"listreceivedbyaddress":  "0:minconf 1:include_empty 2:include_watchonly 4:include_immature_coinbase",
	"listreceivedbylabel":    "0:minconf 1:include_empty 2:include_watchonly 3:include_immature_coinbase",
	"listsinceblock":         "1:target_confirmations 2:include_watchonly 3:include_removed 4:include_change",
	"listtransactions":       "1:count 2:skip 3:include_watchonly",
	"listunspent": "0:minconf 1:maxconf 2:addresses 3:include_unsafe " +
		"4:query_options,minimumAmount,maximumAmount,maximumCount,minimumSumAmount,include_immature_coinbase",
	"loadwallet":            "1:load_on_startup",
	"lockunspent":           "0:unlock 1:transactions 2:persistent",
	"logging":               "0:include 1:exclude",
	"migratewallet":         "2:load_wallet",
	"mockscheduler":         "0:delta_time",
	"prioritisetransaction": "1:dummy 2:fee_delta",
	"pruneblockchain":       "0:height",
	"psbtbumpfee":           "1:options,conf_target,fee_rate,replaceable,outputs,original_change_index,psbt_version",
	"rescanblockchain":      "0:start_height 1:stop_height",
	"restorewallet":         "2:load_on_startup",
	"createsearch":          "0:scanobjects 1:options,start_height,stop_height,follow,mempool,entries",
	"discoveraccounts":      "3:options,account_gap,gap,private,receipt_descriptors",
	"extendsearch":          "1:scanobjects 2:start_height",
	"exportsearch":          "1:partial",
	"getsearch":             "1:receipt",
	"getsearchentries":      "2:limit",
	"getscripthistory":      "2:limit",
	"verifyreceipt":         "0:receipt 1:scanobjects",
	"signreceipt":           "0:receipt",
	"signdatapqchash":       "2:options",
	"verifydatapqchash":     "0:p2mr_proof",
	"waitforsearch":         "2:timeout",
	"scanblocks": "1:scanobjects 2:start_height 3:stop_height 5:options,filter_false_positives,activity,receipt," +
		"receipt_descriptors",
	"scantxoutset": "1:scanobjects",
	"send": "0:outputs 1:conf_target 3:fee_rate 4:options,add_inputs,include_unsafe,minconf,maxconf," +
		"add_to_wallet,change_position,fee_rate,include_watching,inputs,locktime,lock_unspents,psbt," +
		"subtract_fee_from_outputs,conf_target,replaceable,solving_data,max_tx_weight 5:version",
	"sendall": "0:recipients 1:conf_target 3:fee_rate 4:options,add_to_wallet,fee_rate," +
		"include_watching,inputs,locktime,lock_unspents,psbt,send_max,minconf,maxconf," +
		"conf_target,replaceable,solving_data,version",
	"sendmany": "1:amounts 2:minconf 4:subtractfeefrom 5:replaceable 6:conf_target 8:fee_rate " +
		"9:verbose",
	"sendmsgtopeer":      "0:peer_id",
	"sendrawtransaction": "1:maxfeerate 2:maxburnamount",
	"sendtoaddress": "1:amount 4:subtractfeefromamount 5:replaceable 6:conf_target 8:avoid_reuse " +
		"9:fee_rate 10:verbose",
	"setban":                       "2:bantime 3:absolute",
	"setmocktime":                  "0:timestamp",
	"setnetworkactive":             "0:state",
	"settxfee":                     "0:amount",
	"setwalletflag":                "1:value",
	"signrawtransactionwithkey":    "1:privkeys 2:prevtxs",
	"signrawtransactionwithwallet": "1:prevtxs",
	"simulaterawtransaction":       "0:rawtxs 1:options,include_watchonly",
	"stop":                         "0:wait",
	"submitpackage":                "0:package 1:maxfeerate 2:maxburnamount",
	"testmempoolaccept":            "0:rawtxs 1:maxfeerate",
	"unloadwallet":                 "1:load_on_startup",
	"utxoupdatepsbt":               "1:descriptors",
	"verifychain":                  "0:checklevel 1:nblocks",
	"waitforblock":                 "1:timeout",
	"waitforblockheight":           "0:height 1:timeout",
	"waitfornewblock":              "0:timeout",
	"walletcreatefundedpsbt": "0:inputs 1:outputs 2:locktime 3:options,add_inputs,include_unsafe,minconf," +
		"maxconf,changePosition,includeWatching,lockUnspents,fee_rate,feeRate,subtractFeeFromOutputs,conf_target," +
		"replaceable,solving_data,max_tx_weight 4:bip32derivs 5:version 6:psbt_version",
	"walletpassphrase":  "1:timeout",
	"walletprocesspsbt": "1:sign 3:bip32derivs 4:finalize",
}

// textPlaces are the places of parameters that may be texts with equals signs, as PSBTs, labels and names of wallets.
var textPlaces = map[string]string{
	"analyzepsbt":            "0",
	"backupwallet":           "0",
	"createwallet":           "0 3",
	"decodepsbt":             "0",
	"descriptorprocesspsbt":  "0 2",
	"dumptxoutset":           "0 1",
	"encryptwallet":          "0",
	"finalizepsbt":           "0",
	"getaddressesbylabel":    "0",
	"getnewaddress":          "0 1",
	"getreceivedbylabel":     "0",
	"importlabels":           "0",
	"importmempool":          "0",
	"listsinceblock":         "0 5",
	"listtransactions":       "0",
	"loadtxoutset":           "0",
	"loadwallet":             "0",
	"migratewallet":          "0 1",
	"restorewallet":          "0 1",
	"sendmany":               "0 3 7",
	"sendtoaddress":          "0 2 3 7",
	"setlabel":               "1",
	"signmessage":            "1",
	"signmessagewithprivkey": "1",
	"unloadwallet":           "0",
	"utxoupdatepsbt":         "0",
	"verifymessage":          "1 2",
	"walletpassphrase":       "0",
	"walletpassphrasechange": "0 1",
	"walletprocesspsbt":      "0 2",
}
