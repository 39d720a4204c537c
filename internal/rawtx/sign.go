package rawtx

import (
	"cmp"
	"context"
	"errors"
	"sync"

	"github.com/btcsuite/btcd/btcec/v2"
	"github.com/btcsuite/btcd/txscript"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/cores"
)

var (
	// ErrNoCoin reports an input of which it is not known what it spends.
	ErrNoCoin = errors.New("Input not found or already spent")

	// ErrNoAmount reports an input with a witness of which it is not known how
	// much it spends, so that the signature may be worth nothing.
	ErrNoAmount = errors.New("missing amount")
)

// A Signing is a transaction to be signed, with the coins, keys and scripts known for its
// inputs.
type Signing struct {
	Tx       *wire.MsgTx // its inputs are written to
	Coins    map[wire.OutPoint]*wire.TxOut
	Keys     Keys
	Scripts  Scripts
	Leaves   Leaves
	Trees    Trees
	Public   PublicKeys           // of others, that scripts name by their hashes
	Origins  Origins              // where public keys come from
	Together Aggregates           // keys that several sign for
	Nonces   *MusigNonces         // secret ones of several that sign together; nil: no new ones are made
	P2MR     *P2MR                // nil on networks without P2MR
	HashType txscript.SigHashType // SigHashDefault: that of each kind of script

	// OutputKeys has packets told where the keys of taproot outputs come from.
	OutputKeys bool

	// UnknownAmount is the value of coins whose value is not known.
	UnknownAmount int64

	// Threads is how many inputs are signed at once at most; 0: as many as there are cores.
	Threads int

	packet  bool                           // of a packet, where what Core does counts to the byte
	tweak   sync.Once                      // makes tweaked
	tweaked map[[32]byte]*btcec.PrivateKey // see Keys.tweaked
}

// NewSigning returns a signing of a transaction with the known outputs that it spends, without
// keys or scripts. The value unknownAmount marks coins of unknown value. hasP2MR says that
// outputs may be P2MR.
func NewSigning(
	tx *wire.MsgTx, coins map[wire.OutPoint]*wire.TxOut, unknownAmount int64, hasP2MR bool,
) *Signing {
	s := &Signing{
		Tx: tx, Coins: coins, Keys: Keys{}, Scripts: Scripts{}, Leaves: Leaves{}, Trees: Trees{}, Public: PublicKeys{},
		Origins: Origins{}, Together: Aggregates{}, UnknownAmount: unknownAmount,
	}
	if hasP2MR {
		s.P2MR = NewP2MR()
	}
	return s
}

// Zero overwrites the private keys, which cannot be used any more.
func (s *Signing) Zero() {
	s.Keys.Zero()
	if s.P2MR != nil {
		s.P2MR.Zero()
	}
}

// An InputError is an input that is not signed completely, and why.
type InputError struct {
	Index int
	Err   error // [ErrNoCoin], [ErrNoAmount] or a [ScriptError]
}

// Sign signs what the keys can sign, several inputs at once, and keeps the signatures that are
// there. The result has the inputs that still do not satisfy their scripts, in their
// order. The error is that of ctx.
func Sign(ctx context.Context, s *Signing) ([]InputError, error) {
	spending := newSpending(s.Tx, s.Coins, s.P2MR != nil)
	faults := make([]error, len(s.Tx.TxIn))
	if err := cores.Wait(ctx, cmp.Or(s.Threads, cores.Count()), len(faults), 1, func(i, _ int) error {
		faults[i] = s.signInput(spending, i)
		return nil
	}); err != nil {
		return nil, err
	}
	var failed []InputError
	for i, err := range faults {
		if err != nil {
			failed = append(failed, InputError{i, err})
		}
	}
	return failed, nil
}

func (s *Signing) signInput(spending *spending, index int) error {
	in := s.Tx.TxIn[index]
	coin := s.Coins[in.PreviousOutPoint]
	if coin == nil {
		return ErrNoCoin
	}
	data := spending.extract(index)
	// SINGLE signs the output beside the input, which must be there.
	if s.signsAt(index) {
		p := producer{spending: spending, index: index, with: s, data: data}
		p.produce()
	}
	if coin.Value == s.UnknownAmount && len(in.Witness) > 0 {
		return ErrNoAmount
	}
	if data.complete {
		return nil
	}
	return spending.verify(index)
}

// Combine puts the signatures of several copies of a transaction into the first. They must
// not differ in more than their signatures, and all that they spend must be known.
//
// Errors: [ErrNoCoin], and that of ctx.
func (s *Signing) Combine(ctx context.Context, copies []*wire.MsgTx) error {
	spendings := make([]*spending, len(copies))
	for i, tx := range copies {
		spendings[i] = newSpending(tx, s.Coins, s.P2MR != nil)
	}
	for index, in := range copies[0].TxIn {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if s.Coins[in.PreviousOutPoint] == nil {
			return ErrNoCoin
		}
		data := &signatures{byKey: map[[20]byte]keySig{}}
		for _, from := range spendings {
			data.merge(from.extract(index))
		}
		p := producer{spending: spendings[0], index: index, with: &Signing{}, data: data}
		p.produce()
	}
	return nil
}
