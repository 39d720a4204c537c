package miningrpc

import (
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/dialect"
	"github.com/seed61375155/trawl/internal/jsontree"
	"github.com/seed61375155/trawl/internal/txjson"
	"github.com/seed61375155/trawl/internal/versionbits"
	"github.com/seed61375155/trawl/rpc/command"
)

// templateReply is a template as miners get it.
type templateReply struct {
	Capabilities []string         `json:"capabilities"`
	Version      int32            `json:"version"`
	Rules        []string         `json:"rules"`
	Available    jsontree.Members `json:"vbavailable"`
	Required     int              `json:"vbrequired"`
	Rolling      string           `json:"versionrollingmask,omitempty"`
	Parent       chainhash.Hash   `json:"previousblockhash"`
	Txs          []templateTx     `json:"transactions"`
	CoinbaseAux  struct{}         `json:"coinbaseaux"`
	Value        int64            `json:"coinbasevalue"`
	LongPollID   string           `json:"longpollid"`
	Target       string           `json:"target"`
	MinTime      int64            `json:"mintime"`
	Mutable      []string         `json:"mutable"`
	NonceRange   string           `json:"noncerange"`
	SigOpLimit   int64            `json:"sigoplimit"`
	SizeLimit    int64            `json:"sizelimit"`
	WeightLimit  *int64           `json:"weightlimit,omitempty"`
	Time         int64            `json:"curtime"`
	Bits         string           `json:"bits"`
	Height       int32            `json:"height"`
	scheduledRules
	Challenge  string `json:"signet_challenge,omitempty"`
	Commitment string `json:"default_witness_commitment,omitempty"`
}

type templateTx struct {
	Data    string         `json:"data"`
	ID      chainhash.Hash `json:"txid"`
	WID     chainhash.Hash `json:"hash"`
	Depends []int          `json:"depends"`
	Fee     int64          `json:"fee"`
	SigOps  int64          `json:"sigops"`
	Weight  int64          `json:"weight"`
}

var templateResults = slices.Concat([]command.Result{
	{Type: command.Array, Key: "capabilities", Help: "what the node can do", Inner: []command.Result{
		{Type: command.String, Help: `"proposal"`},
	}},
	{Type: command.Number, Key: "version", Help: "version of the block"},
	{Type: command.Array, Key: "rules", Help: "rules that hold for it", Inner: []command.Result{
		{Type: command.String, Help: "name of a rule; with a ! before it the client must know it (BIP9)"},
	}},
	{Type: command.UserKeys, Key: "vbavailable", Help: "rules that can be voted for", Inner: []command.Result{
		{Type: command.Number, Key: "rulename", Help: "bit of the version that votes for the rule"},
	}},
	{Type: command.Number, Key: "vbrequired", Help: "bits of the version that must be set"},
	{
		Type: command.Hex, Key: "versionrollingmask", Optional: true,
		Help: "on chains that pay to P2MR outputs: bits of the version that a miner may count with",
	},
	{Type: command.Hex, Key: "previousblockhash", Help: "hash of the tip"},
	{Type: command.Array, Key: "transactions", Help: "those after the coinbase", Inner: []command.Result{
		{Type: command.Object, Inner: []command.Result{
			{Type: command.Hex, Key: "data", Help: "the transaction, serialized"},
			{Type: command.Hex, Key: "txid", Help: "its id"},
			{Type: command.Hex, Key: "hash", Help: "its witness id"},
			{
				Type: command.Array, Key: "depends", Help: "transactions of this list that it spends from",
				Inner: []command.Result{
					{Type: command.Number, Help: "place in the list, from 1 on"},
				},
			},
			{Type: command.Number, Key: "fee", Help: "what it pays, in satoshis"},
			{Type: command.Number, Key: "sigops", Help: "cost of its signature operations"},
			{Type: command.Number, Key: "weight", Help: "its weight"},
		}},
	}},
	{Type: command.UserKeys, Key: "coinbaseaux", Help: "data for the script of the coinbase", Inner: []command.Result{
		{Type: command.Hex, Key: "key", Help: "the data"},
	}},
	{Type: command.Number, Key: "coinbasevalue", Help: "what the coinbase may pay, in satoshis"},
	{Type: command.String, Key: "longpollid", Help: "to be given to wait for another template"},
	{Type: command.String, Key: "target", Help: "number that the hash must not exceed"},
	{Type: command.Timestamp, Key: "mintime", Help: "earliest time of the block"},
	{Type: command.Array, Key: "mutable", Help: "what the client may change", Inner: []command.Result{
		{Type: command.String, Help: `"time", "transactions" or "prevblock"`},
	}},
	{Type: command.Hex, Key: "noncerange", Help: "range of nonces"},
	{Type: command.Number, Key: "sigoplimit", Help: "most signature operations, as their cost"},
	{Type: command.Number, Key: "sizelimit", Help: "most bytes"},
	{Type: command.Number, Key: "weightlimit", Optional: true, Help: "most weight"},
	{Type: command.Timestamp, Key: "curtime", Help: "time of the block"},
	{Type: command.String, Key: "bits", Help: "target in compact form"},
	{Type: command.Number, Key: "height", Help: "height of the block"},
}, scheduledResults(true), []command.Result{
	{Type: command.Hex, Key: "signet_challenge", Optional: true, Help: "script that signs blocks, on a signet"},
	{
		Type: command.Hex, Key: "default_witness_commitment", Optional: true,
		Help: "commitment to the witnesses of the template as it is",
	},
})

// templateReply writes a template.
func (d *Deps) templateReply(t *template) (*templateReply, error) {
	height := t.tip.Height + 1
	header, coinbase := d.updated(t), t.block.Transactions[0]
	if err := d.checkTime(&header, height); err != nil {
		return nil, err
	}
	segwit, scale := d.Network.Active("segwit", height), int64(1)
	if !segwit {
		scale = d.Network.Rules.WitnessScale
	}
	r := &templateReply{
		Capabilities: []string{"proposal"},
		Version:      header.Version,
		Parent:       t.tip.Hash,
		Txs:          templateTxs(t, scale),
		Value:        coinbase.TxOut[0].Value,
		LongPollID:   fmt.Sprintf("%v%d", t.tip.Hash, t.updates),
		Target:       txjson.Target(header.Bits),
		MinTime:      d.minTime(t.tip),
		Mutable:      []string{"time", "transactions", "prevblock"},
		NonceRange:   "00000000ffffffff",
		SigOpLimit:   d.Network.Rules.MaxSigOps / scale,
		SizeLimit:    int64(d.Network.MaxBlockSize) / scale,
		Time:         header.Timestamp.Unix(),
		Bits:         txjson.Bits(header.Bits),
		Height:       height,
		Challenge:    hex.EncodeToString(d.Network.SignetChallenge),
		Commitment:   hex.EncodeToString(commitment(coinbase)),
	}
	if segwit {
		r.WeightLimit = &d.Network.Rules.MaxWeight
	}
	d.addRules(r, t.tip, segwit)
	r.scheduledRules = scheduledFor(d.Network.Scheduled, height)
	r.addRolling(d.Network.RollVersion)
	return r, nil
}

// addRules says which rules hold for the block, and which can be voted for.
func (d *Deps) addRules(r *templateReply, tip *chainview.Block, segwit bool) {
	r.Rules = append(r.Rules, "csv")
	if segwit {
		r.Rules = append(r.Rules, d.Network.SegwitRules...)
	}
	if d.Network.SignetChallenge != nil {
		r.Rules = append(r.Rules, "!signet")
	}
	byState := make(map[versionbits.State][]*dialect.Deployment)
	for i := range d.Network.Deployments {
		if one := &d.Network.Deployments[i]; !one.Buried {
			state := versionbits.StateAfter(one, tip)
			byState[state] = append(byState[state], one)
		}
	}
	for _, same := range byState {
		slices.SortFunc(same, func(a, b *dialect.Deployment) int { return strings.Compare(a.Name, b.Name) })
	}
	for _, one := range byState[versionbits.LockedIn] {
		r.Version |= 1 << one.Bit
	}
	for _, one := range append(byState[versionbits.Started], byState[versionbits.LockedIn]...) {
		r.Available = append(r.Available, jsontree.Member{Key: one.Name, Value: one.Bit})
	}
	for _, one := range byState[versionbits.Active] {
		r.Rules = append(r.Rules, one.Name)
	}
}

// templateTxs describes the transactions after the coinbase. Before witnesses were discounted, what they
// took of the limits was smaller by a scale, as these were.
func templateTxs(t *template, scale int64) []templateTx {
	list, places := make([]templateTx, len(t.txs)), make(map[chainhash.Hash]int, len(t.txs))
	for i := range t.txs {
		tx := &t.txs[i]
		one := templateTx{
			Data: hex.EncodeToString(serialized(tx.Tx)), ID: tx.Tx.TxHash(), WID: tx.Tx.WitnessHash(),
			Depends: depends(tx.Tx, places), Fee: tx.Fee, SigOps: tx.SigOps / scale, Weight: tx.Weight,
		}
		places[one.ID] = i + 1
		list[i] = one
	}
	return list
}

// depends returns the places of the transactions that a transaction spends from, for
// each of its inputs.
func depends(tx *wire.MsgTx, places map[chainhash.Hash]int) []int {
	list := []int{}
	for _, in := range tx.TxIn {
		if place, ok := places[in.PreviousOutPoint.Hash]; ok {
			list = append(list, place)
		}
	}
	return list
}
