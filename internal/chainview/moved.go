package chainview

import "github.com/btcsuite/btcd/chaincfg/chainhash"

// TipMoved tells of the steps that the tip of the active chain has taken.
type TipMoved struct {
	From  chainhash.Hash // tip before; zero: the chain was opened
	Steps []TipStep      // in their order; without those of the initial download that another follows
}

// A TipStep took the tip to a block.
type TipStep struct {
	To      *Block
	Left    *Block // tip of the branch that was left for a better one with this step; nil: with none
	Initial bool   // the initial download lasted
}
