package bitcoin

import (
	"fmt"
	"strings"

	"github.com/btcsuite/btcd/blockchain"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/messages"
)

// reasons gives Core's reject reason for each rule that btcd names
// (src/validation.cpp, src/consensus/). A rule that is missing here is reported
// as "rejected", which BIP22 allows.
var reasons = map[blockchain.ErrorCode]messages.RejectError{
	blockchain.ErrDuplicateBlock:            {Reason: "duplicate"},
	blockchain.ErrBlockTooBig:               {Reason: "bad-blk-length", Debug: "size limits failed"},
	blockchain.ErrNoTransactions:            {Reason: "bad-blk-length", Debug: "size limits failed"},
	blockchain.ErrBlockWeightTooHigh:        {Reason: "bad-blk-weight", Debug: "ContextualCheckBlock : weight limit failed"},
	blockchain.ErrTimeTooOld:                {Reason: "time-too-old", Debug: "block's timestamp is too early"},
	blockchain.ErrTimeTooNew:                {Reason: "time-too-new", Debug: "block timestamp too far in the future"},
	blockchain.ErrTimewarpAttack:            {Reason: "time-timewarp-attack", Debug: "block's timestamp is too early on diff adjustment block"},
	blockchain.ErrDifficultyTooLow:          {Reason: "bad-diffbits", Debug: "incorrect proof of work"},
	blockchain.ErrUnexpectedDifficulty:      {Reason: "bad-diffbits", Debug: "incorrect proof of work"},
	blockchain.ErrHighHash:                  {Reason: "high-hash", Debug: "proof of work failed"},
	blockchain.ErrBadMerkleRoot:             {Reason: "bad-txnmrklroot", Debug: "hashMerkleRoot mismatch"},
	blockchain.ErrNoTxInputs:                {Reason: "bad-txns-vin-empty"},
	blockchain.ErrNoTxOutputs:               {Reason: "bad-txns-vout-empty"},
	blockchain.ErrTxTooBig:                  {Reason: "bad-txns-oversize"},
	blockchain.ErrDuplicateTxInputs:         {Reason: "bad-txns-inputs-duplicate"},
	blockchain.ErrBadTxInput:                {Reason: "bad-txns-prevout-null"},
	blockchain.ErrMissingTxOut:              {Reason: "bad-txns-inputs-missingorspent"},
	blockchain.ErrUnfinalizedTx:             {Reason: "bad-txns-nonfinal", Debug: "non-final transaction"},
	blockchain.ErrDuplicateTx:               {Reason: "bad-txns-duplicate", Debug: "duplicate transaction"},
	blockchain.ErrOverwriteTx:               {Reason: "bad-txns-BIP30", Debug: "tried to overwrite transaction"},
	blockchain.ErrImmatureSpend:             {Reason: "bad-txns-premature-spend-of-coinbase"},
	blockchain.ErrSpendTooHigh:              {Reason: "bad-txns-in-belowout"},
	blockchain.ErrBadFees:                   {Reason: "bad-txns-accumulated-fee-outofrange"},
	blockchain.ErrTooManySigOps:             {Reason: "bad-blk-sigops", Debug: "out-of-bounds SigOpCount"},
	blockchain.ErrFirstTxNotCoinbase:        {Reason: "bad-cb-missing", Debug: "first tx is not coinbase"},
	blockchain.ErrMultipleCoinbases:         {Reason: "bad-cb-multiple", Debug: "more than one coinbase"},
	blockchain.ErrBadCoinbaseScriptLen:      {Reason: "bad-cb-length"},
	blockchain.ErrBadCoinbaseValue:          {Reason: "bad-cb-amount"},
	blockchain.ErrMissingCoinbaseHeight:     {Reason: "bad-cb-height", Debug: "block height mismatch in coinbase"},
	blockchain.ErrBadCoinbaseHeight:         {Reason: "bad-cb-height", Debug: "block height mismatch in coinbase"},
	blockchain.ErrUnexpectedWitness:         {Reason: "unexpected-witness"},
	blockchain.ErrWitnessCommitmentMismatch: {Reason: "bad-witness-merkle-match"},
	blockchain.ErrInvalidWitnessCommitment:  {Reason: "bad-witness-nonce-size"},
	blockchain.ErrPreviousBlockUnknown:      {Reason: ReasonNoParent},
	blockchain.ErrInvalidAncestorBlock:      {Reason: "bad-prevblk"},
}

// reject puts a broken rule into Core's words.
func (e *Engine) reject(rule blockchain.RuleError, block *wire.MsgBlock) *messages.RejectError {
	switch rule.ErrorCode {
	case blockchain.ErrBlockVersionTooOld:
		version := uint32(block.Header.Version)
		return &messages.RejectError{
			Reason: fmt.Sprintf("bad-version(0x%08x)", version),
			Debug:  fmt.Sprintf("rejected nVersion=0x%08x block", version),
		}
	case blockchain.ErrBadTxOutValue:
		return &messages.RejectError{Reason: e.badValue(block, rule.Description)}
	case blockchain.ErrScriptMalformed, blockchain.ErrScriptValidation:
		return &messages.RejectError{
			Reason: "block-script-verify-flag-failed (unknown error)", Debug: rule.Description,
		}
	default:
		known, ok := reasons[rule.ErrorCode]
		if !ok {
			known.Reason = "rejected"
		}
		if known.Debug == "" {
			known.Debug = rule.Description
		}
		return &known
	}
}

// badValue tells which of Core's three rules on output values a block breaks.
// btcd has one code for them, which it uses for values of spent outputs too.
func (e *Engine) badValue(block *wire.MsgBlock, description string) string {
	maxMoney := int64(e.net.MaxMoney)
	for _, tx := range block.Transactions {
		total := int64(0)
		for _, out := range tx.TxOut {
			switch {
			case out.Value < 0:
				return "bad-txns-vout-negative"
			case out.Value > maxMoney:
				return "bad-txns-vout-toolarge"
			}
			if total += out.Value; total > maxMoney {
				return "bad-txns-txouttotal-toolarge"
			}
		}
	}
	if strings.Contains(description, "total value of all transaction inputs") {
		return "bad-txns-inputvalues-outofrange"
	}
	return "rejected"
}
