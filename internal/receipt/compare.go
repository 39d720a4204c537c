package receipt

import "github.com/btcsuite/btcd/chaincfg/chainhash"

// A Difference says why a receipt is not what a node finds, and at which height, -1: at none.
type Difference struct {
	Reason string
	Height int32
}

// Compare compares a receipt with a node's own receipt of the same scripts and heights. It returns nil if the node
// finds the same. Descriptors are not compared: the scripts are.
//
// heightOf returns the height of a block on the node's chain, -1 of another.
func (r *Receipt) Compare(own *Receipt, heightOf func(chainhash.Hash) int32) *Difference {
	nowhere := func(reason string) *Difference { return &Difference{reason, -1} }
	switch {
	case r.Genesis != own.Genesis:
		return nowhere(WrongChain)
	case r.Scripts != own.Scripts || r.ScriptsDigest != own.ScriptsDigest:
		return nowhere("the descriptors have other scripts")
	case r.From != own.From || r.To != own.To || r.Block != own.Block:
		return &Difference{"other blocks were looked at", min(r.To, own.To)}
	case r.FilterHeader != nil && own.FilterHeader != nil && *r.FilterHeader != *own.FilterHeader:
		return &Difference{"the filter header is another", r.To}
	}
	if r.Found != own.Found || r.FoundDigest != own.FoundDigest {
		return r.compareBlocks(own, heightOf)
	}
	if r.Activity != nil && own.Activity != nil && *r.Activity != *own.Activity {
		return nowhere("other amounts were received or spent")
	}
	return nil
}

// WrongChain is the reason if a receipt is of another chain.
const WrongChain = "the receipt is of another chain"

// compareBlocks tells the first block that only one of two receipts has.
func (r *Receipt) compareBlocks(own *Receipt, heightOf func(chainhash.Hash) int32) *Difference {
	d := &Difference{"other blocks were found", -1}
	if r.Blocks == nil || own.Blocks == nil {
		return d
	}
	i := 0
	for i < len(r.Blocks) && i < len(own.Blocks) && r.Blocks[i] == own.Blocks[i] {
		i++
	}
	stated, found := int32(-1), int32(-1)
	if i < len(r.Blocks) {
		stated = heightOf(r.Blocks[i])
	}
	if i < len(own.Blocks) {
		found = heightOf(own.Blocks[i])
	}
	switch {
	case found >= 0 && (stated < 0 || found < stated):
		d.Reason, d.Height = "a block is missing", found
	case stated >= 0:
		d.Reason, d.Height = "a block has nothing of the scripts", stated
	default:
		d.Reason = "a block is not known"
	}
	return d
}
