package arg

import "github.com/seed61375155/trawl/rpc/command"

// receiptResults are the members of a receipt. docs/receipts.md specifies them.
var receiptResults = []command.Result{
	{
		Type: command.Object, Key: "activity", Optional: true,
		Help: "what the scripts received and spent in the blocks found, where that was looked at",
		Inner: []command.Result{
			{Type: command.Number, Key: "entries", Help: "outputs received, and inputs that spend"},
			{Type: command.String, Key: "received", Help: "in the smallest unit"},
			{Type: command.String, Key: "spent", Help: "in the smallest unit"},
		},
	},
	{Type: command.Hex, Key: "blockhash", Help: "hash of the last block"},
	{Type: command.Number, Key: "blocks_found", Help: "number of blocks that matched"},
	{Type: command.Hex, Key: "blocks_found_digest", Help: "SHA-256 of the JSON array of their hashes"},
	{Type: command.Number, Key: "blocks_scanned", Help: "number of blocks that were looked at"},
	{
		Type: command.Array, Key: "descriptors", Optional: true, Help: "what was looked for",
		Inner: []command.Result{{Type: command.Object, Inner: []command.Result{
			{Type: command.String, Key: "desc", Help: "a descriptor without private keys"},
			RangeResult("the first and the last index", true),
		}}},
	},
	{Type: command.Hex, Key: "digest", Help: "SHA-256 of the receipt without this member, by RFC 8785"},
	{Type: command.Hex, Key: "filter_header", Optional: true, Help: "filter header at the last block"},
	{Type: command.Number, Key: "from_height", Help: "height of the first block"},
	{Type: command.Hex, Key: "genesis", Help: "hash of the first block of the chain"},
	{
		Type: command.Array, Key: "relevant_blocks", Optional: true, Help: "the blocks found, up to 10000",
		Inner: []command.Result{{Type: command.Hex, Help: "hash of a block"}},
	},
	{Type: command.Number, Key: "scripts", Help: "number of different output scripts"},
	{Type: command.Hex, Key: "scripts_digest", Help: "SHA-256 of their sorted SHA-256"},
	{Type: command.Number, Key: "to_height", Help: "height of the last block"},
	{Type: command.Number, Key: "version", Help: "1"},
}

// ReceiptResult describes the member of an answer that is a receipt.
func ReceiptResult(help string) command.Result {
	return command.Result{Type: command.Object, Key: "receipt", Optional: true, Inner: receiptResults, Help: help}
}

// RangeResult is the member of a result that tells the range of a descriptor.
func RangeResult(help string, optional bool) command.Result {
	return command.Result{
		Type: command.Array, Key: "range", Optional: optional, Help: help,
		Inner: []command.Result{
			{Type: command.Number, Help: "the first index"}, {Type: command.Number, Help: "the last index"},
		},
	}
}
