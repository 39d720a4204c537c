package spend

import (
	"errors"
	"slices"

	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/wallet/codes"
	"github.com/seed61375155/trawl/messages"
)

// sweep is a transaction that spends all coins while it is built.
type sweep struct {
	builder

	total     int64 // of the coins
	maxWeight int
}

// buildAll builds a transaction that spends all coins, or exactly those of the request. There
// is no change: what is left is shared by the payments that have no amount of their own.
//
// Errors: [*messages.WalletError].
func buildAll(p *Plan) (*Built, error) {
	s := &sweep{builder: builder{Plan: p, coins: make(map[wire.OutPoint]*Coin)}, maxWeight: maxStandardWeight}
	r := p.Request
	rate, reason, err := p.rate()
	switch {
	case errors.Is(err, errNoEstimate):
		return nil, codes.Errorf(codes.Wallet, "%v", err)
	case err != nil:
		return nil, codes.Errorf(codes.Parameter, "%v", err)
	case r.All.Refused != nil:
		return nil, r.All.Refused
	}
	s.params.Rate = rate
	if r.Version == trucVersion {
		s.maxWeight = p.TRUCSize * p.Scale
	}
	tx := wire.NewMsgTx(r.Version)
	if r.LockTime != nil {
		tx.LockTime = *r.LockTime
	}
	for _, to := range r.Payments {
		tx.AddTxOut(wire.NewTxOut(int64(to.Amount), to.Script))
	}
	if err := s.spend(tx); err != nil {
		return nil, err
	}
	weight, err := s.share(tx)
	if err != nil {
		return nil, err
	}
	if r.Sniped && allMayLock(tx) {
		tx.LockTime = p.LockTime()
	}
	return &Built{
		Tx: tx, Fee: s.total - sumOf(tx.TxOut), Change: -1, Reason: reason, Weight: weight,
	}, nil
}

// spend adds the inputs.
func (s *sweep) spend(tx *wire.MsgTx) error {
	if s.Request.All.Given {
		return s.spendGiven(tx)
	}
	sequence := sequenceLockTime
	switch {
	case s.replaceable():
		sequence = sequenceReplaceable
	case s.Answers.FinalSweeps:
		sequence = wire.MaxTxInSequenceNum
	}
	for _, c := range s.mayJoin(s.cluster()) {
		if s.Request.All.Worth && s.params.Rate.Fee(s.inputSize(c)) > int64(c.Amount) {
			continue
		}
		if c.Depth == 0 && s.Request.Version == trucVersion {
			s.maxWeight = s.TRUCChildSize * s.Scale
		}
		s.add(tx, c, sequence)
	}
	return nil
}

func (s *sweep) spendGiven(tx *wire.MsgTx) error {
	r, replaceable := s.Request, s.replaceable()
	sequence := wire.MaxTxInSequenceNum
	switch {
	case replaceable:
		sequence = sequenceReplaceable
	case tx.LockTime != 0:
		sequence = sequenceLockTime
	}
	signals := slices.ContainsFunc(r.Inputs, func(in messages.SpendInput) bool {
		return in.Sequence == nil || *in.Sequence <= sequenceReplaceable
	})
	if replaceable && len(r.Inputs) > 0 && !signals {
		return codes.Errorf(codes.Parameter,
			"Invalid parameter combination: Sequence number(s) contradict replaceable option")
	}
	if s.GivenErr != nil {
		return s.GivenErr
	}
	for i := range s.Given {
		own := sequence
		if given := r.Inputs[i].Sequence; given != nil {
			own = *given
		}
		s.add(tx, &s.Given[i], own)
	}
	return nil
}

func (s *sweep) add(tx *wire.MsgTx, c *Coin, sequence uint32) {
	s.coins[c.At] = c
	s.total += int64(c.Amount)
	tx.AddTxIn(&wire.TxIn{PreviousOutPoint: c.At, Sequence: sequence})
}

// share takes the fee off, and shares what is left.
func (s *sweep) share(tx *wire.MsgTx) (weight int, err error) {
	weight, ok := s.signedWeight(tx)
	if !ok {
		return 0, codes.Errorf(codes.Wallet,
			"Unable to determine the size of the transaction, the wallet contains unsolvable descriptors")
	}
	points := make([]wire.OutPoint, len(tx.TxIn))
	for i, in := range tx.TxIn {
		points[i] = in.PreviousOutPoint
	}
	fee := s.params.Rate.Fee(s.virtual(weight))
	bump, _ := s.cluster().Together(points, s.params.Rate) // where it is not known there is none
	worth, claimed := s.total-fee-bump, sumOf(tx.TxOut)
	switch {
	case fee > s.Options.MaxFee:
		err = codes.Errorf(codes.Wallet, "Fee exceeds maximum configured by user (e.g. -maxtxfee, maxfeerate)")
	case worth <= 0 && s.Request.All.Worth:
		err = codes.Errorf(codes.Insufficient,
			"Total value of UTXO pool too low to pay for transaction, try using lower feerate.")
	case worth <= 0:
		err = codes.Errorf(codes.Insufficient, "Total value of UTXO pool too low to pay for transaction. "+
			"Try using lower feerate or excluding uneconomic UTXOs with 'send_max' option.")
	case weight > s.maxWeight:
		err = codes.Errorf(codes.Wallet, "Transaction too large.")
	case claimed > s.total:
		err = codes.Errorf(codes.Insufficient, "Assigned more value to outputs than available funds.")
	case claimed > worth:
		err = codes.Errorf(codes.Insufficient,
			"Insufficient funds for fees after creating specified outputs.")
	default:
		err = s.assign(tx, worth-claimed)
	}
	return weight, err
}

// assign gives each payment without an amount the same, and what cannot be shared to the
// first.
func (s *sweep) assign(tx *wire.MsgTx, left int64) error {
	var rest int64
	for i := range s.Request.Payments {
		if s.Request.Payments[i].Rest {
			rest++
		}
	}
	each, more := left/max(rest, 1), left%max(rest, 1)
	for i, out := range tx.TxOut {
		to := &s.Request.Payments[i]
		if to.Rest {
			out.Value = each + more
			more = 0
		}
		switch {
		case out.Value >= s.Dust(out, FeeRate(s.Pool.DustFee)):
		case to.Rest:
			return codes.Errorf(codes.Insufficient, "Dynamically assigned remainder results in dust output.")
		default:
			return codes.Errorf(codes.Parameter, "Specified output amount to %s is below dust threshold.", to.Address)
		}
	}
	return nil
}
