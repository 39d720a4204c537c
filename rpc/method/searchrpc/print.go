package searchrpc

import (
	"slices"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/internal/dialect"
	"github.com/seed61375155/trawl/internal/jsontree"
	"github.com/seed61375155/trawl/internal/receipt"
	"github.com/seed61375155/trawl/internal/txjson"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/rpc/command"
	"github.com/seed61375155/trawl/rpc/method/internal/arg"
)

// A Printer makes of entries what is written as JSON.
type Printer struct{ tx txjson.Printer }

// NewPrinter returns the printer of a network.
func NewPrinter(net *dialect.Network) *Printer {
	return &Printer{txjson.Printer{Net: net.Descriptors(), WitnessScale: int(net.Rules.WitnessScale)}}
}

type spend struct {
	Type      string              `json:"type"`
	Amount    jsontree.Amount     `json:"amount"`
	BlockHash *chainhash.Hash     `json:"blockhash,omitempty"`
	Height    *int32              `json:"height,omitempty"`
	TxID      chainhash.Hash      `json:"spend_txid"`
	Input     uint32              `json:"spend_vin"`
	FromTxID  chainhash.Hash      `json:"prevout_txid"`
	FromIndex uint32              `json:"prevout_vout"`
	Script    txjson.ScriptPubKey `json:"prevout_spk"`
	key
}

type received struct {
	Type      string              `json:"type"`
	Amount    jsontree.Amount     `json:"amount"`
	BlockHash *chainhash.Hash     `json:"blockhash,omitempty"`
	Height    *int32              `json:"height,omitempty"`
	TxID      chainhash.Hash      `json:"txid"`
	Index     uint32              `json:"vout"`
	Script    txjson.ScriptPubKey `json:"output_spk"`
	key
}

// key is which of the scan objects it was.
type key struct {
	Time  *int64  `json:"time,omitempty"`
	Desc  *string `json:"desc,omitempty"`
	Index *int32  `json:"index,omitempty"`
}

type blockEntry struct {
	Type   string         `json:"type"`
	Height int32          `json:"height"`
	Hash   chainhash.Hash `json:"blockhash"`
	Time   int64          `json:"time"`
}

type disconnected struct {
	Type   string         `json:"type"`
	Height int32          `json:"height"`
	Hash   chainhash.Hash `json:"blockhash"`
}

// Entry returns what is written of an entry.
func (p *Printer) Entry(e *messages.SearchEntry) any { return p.entry(e, key{Desc: &e.Object}) }

// historyEntry returns what is written of an entry that is of no scan object.
func (p *Printer) historyEntry(e *messages.SearchEntry) any { return p.entry(e, key{}) }

func (p *Printer) entry(e *messages.SearchEntry, k key) any {
	if e.Index >= 0 {
		k.Index = &e.Index
	}
	var block *chainhash.Hash
	var height *int32
	if e.Height >= 0 {
		seconds := e.Time.Unix()
		k.Time, block, height = &seconds, &e.Block, &e.Height
	}
	switch e.Type {
	case messages.SearchSpend:
		return spend{
			Type: string(e.Type), Amount: jsontree.Amount(e.Amount), BlockHash: block, Height: height, TxID: e.TxID,
			Input:    e.N,
			FromTxID: e.PrevTxID, FromIndex: e.PrevVout, Script: p.tx.ScriptPubKey(e.Script), key: k,
		}
	case messages.SearchReceive:
		return received{
			Type: string(e.Type), Amount: jsontree.Amount(e.Amount), BlockHash: block, Height: height, TxID: e.TxID,
			Index:  e.N,
			Script: p.tx.ScriptPubKey(e.Script), key: k,
		}
	case messages.SearchDisconnect:
		return disconnected{string(e.Type), e.Height, e.Block}
	case messages.SearchBlock:
	}
	return blockEntry{string(e.Type), e.Height, e.Block, e.Time.Unix()}
}

type page struct {
	Entries []any           `json:"entries"`
	Cursor  string          `json:"cursor"`
	More    bool            `json:"more"`
	Height  int32           `json:"height"`
	Hash    *chainhash.Hash `json:"blockhash,omitempty"`
	State   string          `json:"state"`
	Error   string          `json:"error,omitempty"`
	Pool    *[]any          `json:"unconfirmed,omitempty"`
	PoolCut bool            `json:"unconfirmed_more,omitempty"`
}

// Page returns what is written of a part of the list.
func (p *Printer) Page(m *messages.SearchPage) any {
	list := make([]any, len(m.Entries))
	for i := range m.Entries {
		list[i] = p.Entry(&m.Entries[i])
	}
	return page{
		list, m.Cursor, m.More, m.Height, hashAt(m.Height, &m.Block), string(m.State), m.Error, p.pool(m),
		m.PoolMore || m.PoolCut,
	}
}

// pool returns the printed entries of the memory pool; nil where the search does not ask for
// these entries.
func (p *Printer) pool(m *messages.SearchPage) *[]any {
	if m.Unconfirmed == nil {
		return nil
	}
	list := make([]any, len(m.Unconfirmed))
	for i := range list {
		list[i] = p.Entry(&m.Unconfirmed[i])
	}
	return &list
}

func hashAt(height int32, hash *chainhash.Hash) *chainhash.Hash {
	if height < 0 {
		return nil
	}
	return hash
}

type status struct {
	ID       string          `json:"id"`
	Name     string          `json:"name"`
	State    string          `json:"state"`
	Start    int32           `json:"start_height"`
	Stop     *int32          `json:"stop_height,omitempty"`
	Follow   bool            `json:"follow"`
	Entries  bool            `json:"entries"`
	Mempool  bool            `json:"mempool,omitempty"`
	Scripts  int             `json:"scripts"`
	Height   int32           `json:"height"`
	Hash     *chainhash.Hash `json:"blockhash,omitempty"`
	Progress float64         `json:"progress"`
	Found    uint64          `json:"found"`
	Blocks   uint64          `json:"blocks"`
	Error    string          `json:"error,omitempty"`
	Created  int64           `json:"created"`
	Updated  int64           `json:"updated"`
	Rate     *float64        `json:"rate,omitempty"`
	ETA      *int64          `json:"eta,omitempty"`

	Descriptors     []searchDescriptor `json:"descriptors,omitempty"`
	DescriptorsMore bool               `json:"descriptors_more,omitempty"`

	Receipt *receipt.Receipt `json:"receipt,omitempty"`
}

// searchDescriptor is a descriptor of a search with the indices that are looked for.
type searchDescriptor struct {
	Desc        string   `json:"desc"`
	Range       [2]int32 `json:"range"`
	HighestUsed *int32   `json:"highest_used,omitempty"`
	Gap         int32    `json:"gap,omitempty"`
	Exhausted   *bool    `json:"exhausted,omitempty"`
}

// Descriptor returns what is written of a descriptor.
func Descriptor(m *messages.SearchDescriptor) any { return descriptorOf(m) }

func descriptorOf(m *messages.SearchDescriptor) searchDescriptor {
	d := searchDescriptor{Desc: m.Desc, Range: [2]int32{m.First, m.Last}, Gap: m.Gap}
	if m.HighestUsed >= 0 {
		d.HighestUsed = &m.HighestUsed
	}
	if m.Known {
		d.Exhausted = &m.Exhausted
	}
	return d
}

// Status returns what is written of a search.
func Status(m *messages.SearchStatus) any { return statusOf(m) }

func statusOf(m *messages.SearchStatus) status {
	s := status{
		ID: m.ID, Name: m.Name, State: string(m.State), Start: m.Start, Follow: m.Follow, Entries: !m.BlocksOnly,
		Mempool: m.Mempool,
		Scripts: m.Scripts, Height: m.Height, Hash: hashAt(m.Height, &m.Block), Progress: m.Progress, Found: m.Found,
		Blocks: m.Blocks, Error: m.Error, Created: m.Created.Unix(), Updated: m.Updated.Unix(),
	}
	if !m.Follow {
		s.Stop = &m.Stop
	}
	for i := range m.Descriptors {
		s.Descriptors = append(s.Descriptors, descriptorOf(&m.Descriptors[i]))
	}
	s.DescriptorsMore = m.DescriptorsMore
	if m.Rate > 0 {
		left := int64(m.Left.Seconds())
		s.Rate, s.ETA = &m.Rate, &left
	}
	return s
}

// fullStatusResult is that of a status with descriptors.
func fullStatusResult(help string) command.Result {
	r := statusResult(help)
	r.Inner = append(r.Inner, command.Result{
		Type: command.Array, Key: "descriptors", Optional: true,
		Help: "descriptors with a range, each once, the first 10000",
		Inner: []command.Result{{Type: command.Object, Inner: []command.Result{
			{Type: command.String, Key: "desc", Help: "the descriptor, without private keys"},
			arg.RangeResult("the indices that are looked for: the first and the last", false),
			{
				Type: command.Number, Key: "highest_used", Optional: true,
				Help: "highest index at which something was found, also in blocks that have left the chain",
			},
			{
				Type: command.Number, Key: "gap", Optional: true,
				Help: "how many unused indices are to follow the highest used one; absent: the range does not widen",
			},
			{
				Type: command.Bool, Key: "exhausted", Optional: true,
				Help: "true: fewer indices than the gap, or without a gap than 20, follow the highest used one, so " +
					"that payments behind the range may be missed (see extendsearch); absent where what an earlier " +
					"version has found does not tell",
			},
		}}},
	}, command.Result{
		Type: command.Bool, Key: "descriptors_more", Optional: true,
		Help: "true: there are more than 10000 descriptors",
	})
	return r
}

func statusResult(help string) command.Result {
	return command.Result{Type: command.Object, Help: help, Inner: []command.Result{
		{Type: command.String, Key: "id", Help: "of the search"},
		{Type: command.String, Key: "name", Help: "its name"},
		{
			Type: command.String, Key: "state",
			Help: "queued, running, following (waits for blocks), paused, done, aborted or failed",
		},
		{Type: command.Number, Key: "start_height", Help: "height of the first block"},
		{
			Type: command.Number, Key: "stop_height", Optional: true,
			Help: "height of the last block; not where it follows",
		},
		{Type: command.Bool, Key: "follow", Help: "whether it goes on with new blocks"},
		{Type: command.Bool, Key: "entries", Help: "false: it lists only the blocks"},
		{
			Type: command.Bool, Key: "mempool", Optional: true,
			Help: "true: it tells of the memory pool, too; else absent",
		},
		{Type: command.Number, Key: "scripts", Help: "how many different scripts it looks for"},
		{Type: command.Number, Key: "height", Help: "up to which all blocks were looked at"},
		{Type: command.Hex, Key: "blockhash", Optional: true, Help: "of that height; not below the first block"},
		{Type: command.Number, Key: "progress", Help: "0 to 100"},
		{Type: command.Number, Key: "found", Help: "entries"},
		{Type: command.Number, Key: "blocks", Help: "that have entries"},
		{Type: command.String, Key: "error", Optional: true, Help: "why it failed, or pauses by itself"},
		{Type: command.Timestamp, Key: "created", Help: "when it was made"},
		{Type: command.Timestamp, Key: "updated", Help: "when it was last written to the disk"},
		{Type: command.Number, Key: "rate", Optional: true, Help: "blocks a second, while it runs"},
		{Type: command.Number, Key: "eta", Optional: true, Help: "seconds left, while it runs"},
	}}
}

var scriptResults = []command.Result{
	{Type: command.String, Key: "asm", Help: "the script in words"},
	{Type: command.String, Key: "desc", Help: "its inferred descriptor"},
	{Type: command.Hex, Key: "hex", Help: "the script"},
	{Type: command.String, Key: "address", Optional: true, Help: "where it has one"},
	{Type: command.String, Key: "type", Help: "kind of script"},
}

var keyResults = []command.Result{
	{Type: command.Timestamp, Key: "time", Optional: true, Help: "of the block"},
	{Type: command.String, Key: "desc", Help: "the scan object, without private keys"},
	{
		Type: command.Number, Key: "index", Optional: true,
		Help: "at which the script was derived, where the object is ranged",
	},
}

// txResults are the entries of a transaction.
var txResults = []command.Result{
	{Type: command.Object, Help: "an output was spent", Inner: append([]command.Result{
		{Type: command.String, Key: "type", Help: "spend"},
		{Type: command.Amount, Key: "amount", Help: "value of the output"},
		{Type: command.Hex, Key: "blockhash", Optional: true, Help: "block of the spend"},
		{Type: command.Number, Key: "height", Optional: true, Help: "height of that block"},
		{Type: command.Hex, Key: "spend_txid", Help: "transaction that spends it"},
		{Type: command.Number, Key: "spend_vin", Help: "index of the input"},
		{Type: command.Hex, Key: "prevout_txid", Help: "transaction that created it"},
		{Type: command.Number, Key: "prevout_vout", Help: "index of the output"},
		{Type: command.Object, Key: "prevout_spk", Help: "its script", Inner: scriptResults},
	}, keyResults...)},
	{Type: command.Object, Help: "an output was received", Inner: append([]command.Result{
		{Type: command.String, Key: "type", Help: "receive"},
		{Type: command.Amount, Key: "amount", Help: "value of the output"},
		{Type: command.Hex, Key: "blockhash", Optional: true, Help: "its block"},
		{Type: command.Number, Key: "height", Optional: true, Help: "height of that block"},
		{Type: command.Hex, Key: "txid", Help: "its transaction"},
		{Type: command.Number, Key: "vout", Help: "index of the output"},
		{Type: command.Object, Key: "output_spk", Help: "its script", Inner: scriptResults},
	}, keyResults...)},
}

// blockResults are the entries of a block.
var blockResults = []command.Result{
	{Type: command.Object, Help: "a block and what it has have left the chain", Inner: []command.Result{
		{Type: command.String, Key: "type", Help: "disconnect"},
		{Type: command.Number, Key: "height", Help: "height of the block"},
		{Type: command.Hex, Key: "blockhash", Help: "its hash"},
	}},
	{Type: command.Object, Help: "a block has entries; of a search without them", Inner: []command.Result{
		{Type: command.String, Key: "type", Help: "block"},
		{Type: command.Number, Key: "height", Help: "height of the block"},
		{Type: command.Hex, Key: "blockhash", Help: "its hash"},
		{Type: command.Timestamp, Key: "time", Help: "of the block"},
	}},
}

var pageResults = []command.Result{{Type: command.Object, Inner: []command.Result{
	{
		Type: command.Array, Key: "entries", Help: "in their order",
		Inner: append(slices.Clone(txResults), blockResults...),
	},
	{Type: command.String, Key: "cursor", Help: "behind the last entry"},
	{Type: command.Bool, Key: "more", Help: "whether there are more now"},
	{Type: command.Number, Key: "height", Help: "up to which all blocks were looked at"},
	{Type: command.Hex, Key: "blockhash", Optional: true, Help: "of that height"},
	{Type: command.String, Key: "state", Help: "of the search, as in getsearch"},
	{Type: command.String, Key: "error", Optional: true, Help: "why it failed, or pauses by itself"},
	{
		Type: command.Array, Key: "unconfirmed", Optional: true,
		Help:  "what is in the memory pool now, in the order in which it came, up to 10000; of a search with mempool",
		Inner: txResults,
	},
	{
		Type: command.Bool, Key: "unconfirmed_more", Optional: true,
		Help: "true: there are more unconfirmed ones, which the events tell",
	},
}}}
