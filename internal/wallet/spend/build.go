package spend

import (
	"errors"
	"fmt"
	"slices"

	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/wallet/codes"
	"github.com/seed61375155/trawl/internal/wallet/coinselect"
	"github.com/seed61375155/trawl/internal/wallet/txs"
	"github.com/seed61375155/trawl/messages"
)

// Limits of transactions that are relayed.
const (
	maxStandardWeight = 400_000
	minStandardSize   = 65 // without witness
	trucVersion       = 3
)

// An input of P2WPKH within P2SH, which is taken for what spends change of unknown kind.
const (
	nestedInput   = 64  // bytes without its witness
	nestedWitness = 108 // bytes of that
)

// checkPayments refuses what no transaction can pay.
func checkPayments(payments []messages.Payment) error {
	if len(payments) == 0 {
		return refusal("Transaction must have at least one recipient")
	}
	for _, to := range payments {
		if to.Amount < 0 {
			return refusal("Transaction amounts must not be negative")
		}
	}
	return nil
}

// builder builds one transaction.
type builder struct {
	*Plan

	avoidPartial bool

	outputs  []*wire.TxOut
	sum      int64 // of the payments
	bearers  int   // payments that bear the fee
	params   coinselect.Params
	reason   string
	coins    map[wire.OutPoint]*Coin
	selected *coinselect.Selection
}

func (b *builder) build() (*Built, error) {
	if err := b.prepare(); err != nil {
		return nil, err
	}
	given, err := b.given()
	if err != nil {
		return nil, err
	}
	var others []coinselect.Coin
	if !b.Request.OnlyInputs {
		others = b.candidates()
	}
	built, err := b.choose(given, others)
	if !errors.Is(err, errFeeTooLow) {
		return built, err
	}
	// The number of inputs takes more bytes than were reckoned with.
	wide := wire.VarIntSerializeSize(uint64(len(b.selected.Coins))) - 1
	b.params.FixedSize += wide
	b.params.Target += b.params.Rate.Fee(b.params.FixedSize) - b.params.Rate.Fee(b.params.FixedSize-wide)
	return b.choose(given, others)
}

// choose has coins chosen, and makes the transaction of these coins.
func (b *builder) choose(given, others []coinselect.Coin) (*Built, error) {
	var err error
	b.selected, err = coinselect.Choose(b.params, given, others, !b.Request.OnlyInputs, b.Random)
	if errors.Is(err, coinselect.ErrFunds) && !b.Answers.PlainFeeErrors {
		return nil, b.explain(given, others)
	}
	if err != nil {
		return nil, err
	}
	return b.assemble()
}

// explain says why coins do not suffice: whether it is by the fee alone.
func (b *builder) explain(given, others []coinselect.Coin) error {
	var value, effective int64
	for _, c := range slices.Concat(given, others) {
		value += c.Value
		effective += c.Effective(b.params.Rate)
	}
	if value >= b.sum && effective < b.params.Target {
		return refusalf("The total exceeds your balance when the %s transaction fee is included.",
			money(b.params.Target-b.sum))
	}
	return coinselect.ErrFunds
}

// prepare works out what the coins must come to, and by which rules they are chosen.
func (b *builder) prepare() error {
	r := b.Request
	maxWeight, least := maxStandardWeight, minStandardSize*b.Scale
	if r.MaxWeight != nil {
		maxWeight = *r.MaxWeight
	}
	if r.Version == trucVersion {
		maxWeight = min(maxWeight, b.TRUCSize*b.Scale)
	}
	if maxWeight < least || maxWeight > maxStandardWeight {
		return refusalf("Maximum transaction weight must be between %d and %d", least, maxStandardWeight)
	}
	const marker = 2 // units of weight, with which a transaction tells that it has a witness
	size := 9 + b.virtual(marker) + wire.VarIntSerializeSize(uint64(len(r.Payments)))
	for _, to := range r.Payments {
		out := wire.NewTxOut(int64(to.Amount), to.Script)
		if out.Value < b.Dust(out, FeeRate(b.Pool.DustFee)) {
			return refusal("Transaction amount too small")
		}
		size += out.SerializeSize()
		b.sum += out.Value
		b.outputs = append(b.outputs, out)
		if to.SubtractFee {
			b.bearers++
		}
	}
	rate, reason, err := b.rate()
	if err != nil {
		return err
	}
	b.reason = reason
	b.params = coinselect.Params{
		SubtractFee: b.bearers > 0, Rate: rate, LongTermRate: b.Options.LongTerm, FixedSize: size,
		MaxWeight: maxWeight, MaxChildWeight: b.TRUCChildSize * b.Scale, Scale: b.Scale,
		AvoidPartial: b.avoidPartial, Unsafe: r.Unsafe, Version3: r.Version == trucVersion,
		MaxAncestors: b.Pool.MaxAncestors, MaxDescendants: b.Pool.MaxDescendants,
		NoUnconfirmed: b.Options.OnlyOld, IgnoreChains: b.Options.AnyChain, ByPlace: b.Answers.SearchesByPlace,
	}
	b.priceChange()
	b.params.Target = b.sum
	if b.bearers == 0 {
		b.params.Target += rate.Fee(size)
	}
	if b.params.Target == 0 && len(r.Inputs) == 0 {
		return refusal("Transaction requires one destination of non-zero value, " +
			"a non-zero feerate, or a pre-selected input")
	}
	return nil
}

// priceChange works out what change costs, and how much of it is worth an output.
func (b *builder) priceChange() {
	p, out := &b.params, wire.NewTxOut(0, b.Change.Script)
	p.ChangeSize = out.SerializeSize()
	spending := b.virtual(nestedInput*b.Scale + nestedWitness)
	if least := b.leastWeight(b.Change.Script); least > 0 {
		spending = b.virtual(least)
	}
	if b.Change.Known {
		spending = b.virtual(b.Change.Size.Of(true, b.Scale))
	}
	discard := b.discard()
	p.ChangeFee = p.Rate.Fee(p.ChangeSize)
	p.ChangeCost = discard.Fee(spending) + p.ChangeFee
	p.ChangeTarget = coinselect.ChangeTarget(b.sum/int64(len(b.outputs)), p.ChangeFee, b.Random)
	p.MinChange = max(discard.Fee(spending)+1, b.Dust(out, discard))
}

// virtual returns the virtual size of a weight.
func (b *builder) virtual(weight int) int { return (weight + b.Scale - 1) / b.Scale }

// given returns the coins that the request asks for.
func (b *builder) given() ([]coinselect.Coin, error) {
	b.coins = make(map[wire.OutPoint]*Coin)
	cluster := b.cluster()
	var points []wire.OutPoint
	for i := range b.Given {
		points = append(points, b.Given[i].At)
	}
	bumps := cluster.Bumps(points, b.params.Rate)
	var list []coinselect.Coin
	for i := range b.Given {
		c := &b.Given[i]
		if err := b.checkGiven(c); err != nil {
			return nil, err
		}
		b.coins[c.At] = c
		list = append(list, coinselect.Coin{
			At: c.At, Value: int64(c.Amount), Script: c.Script, Size: b.inputSize(c), Bump: bumps[c.At],
		})
	}
	return list, nil
}

func (b *builder) checkGiven(c *Coin) error {
	if c.Given {
		if err := CheckVersion(c.Spendable, b.Request.Version); err != nil {
			return refusal(err.Text)
		}
	}
	if c.Weight == 0 && !c.Known {
		return refusalf("Not solvable pre-selected input %s", pointText(c.At))
	}
	return nil
}

// CheckVersion refuses to spend an unconfirmed coin in a transaction of a version that goes
// not with its own (BIP431); nil: it may be spent.
func CheckVersion(c txs.Spendable, version int32) *messages.WalletError {
	switch {
	case c.Depth != 0:
	case c.Version == trucVersion && version != trucVersion:
		return codes.Errorf(codes.Parameter,
			"Can't spend unconfirmed version 3 pre-selected input with a version %d tx", version)
	case c.Version != trucVersion && version == trucVersion:
		return codes.Errorf(codes.Parameter,
			"Can't spend unconfirmed version %d pre-selected input with a version 3 tx", c.Version)
	}
	return nil
}

// pointText prints an output as Core's messages do.
func pointText(at wire.OutPoint) string {
	const shown = 10
	return fmt.Sprintf("COutPoint(%s, %d)", at.Hash.String()[:shown], at.Index)
}

// inputSize returns the virtual size of an input, -1 where it is not known.
func (b *builder) inputSize(c *Coin) int {
	switch {
	case c.Weight != 0:
		return b.virtual(max(c.Weight, b.leastWeight(c.Script)))
	case !c.Known:
		return -1
	}
	return b.virtual(c.Size.Of(true, b.Scale))
}

// cluster returns the part of the memory pool that coins depend on.
func (b *builder) cluster() *coinselect.Cluster {
	list := make([]coinselect.Unconfirmed, len(b.Pool.Txs))
	for i, t := range b.Pool.Txs {
		list[i] = coinselect.Unconfirmed{ID: t.ID, Size: t.VSize, Fee: t.ModifiedFee, Parents: t.Depends}
	}
	c := coinselect.NewCluster(list)
	c.Incomplete = b.Pool.TooMany
	return c
}

// candidates returns the coins that may be chosen.
func (b *builder) candidates() []coinselect.Coin {
	cluster := b.cluster()
	b.params.Combined = func(some []wire.OutPoint) (int64, bool) { return cluster.Together(some, b.params.Rate) }
	coins := b.mayJoin(cluster)
	var points []wire.OutPoint
	for _, c := range coins {
		if c.Depth == 0 {
			points = append(points, c.At)
		}
	}
	bumps := cluster.Bumps(points, b.params.Rate)
	relatives := make(map[wire.OutPoint][2]int, len(points))
	for _, at := range points {
		ancestors, descendants := cluster.Relatives(at.Hash)
		if b.Pool.MaxCluster > 0 {
			descendants = cluster.Connected(at.Hash)
		}
		relatives[at] = [2]int{ancestors, descendants}
	}
	list := make([]coinselect.Coin, 0, len(coins))
	for _, c := range coins {
		b.coins[c.At] = c
		list = append(list, coinselect.Coin{
			At: c.At, Value: int64(c.Amount), Script: c.Script, Kind: kindOf(c), Size: b.inputSize(c),
			Depth: c.Depth, Own: c.Own, Bump: bumps[c.At],
			Ancestors: relatives[c.At][0], Descendants: relatives[c.At][1],
		})
	}
	return list
}

// mayJoin leaves out unconfirmed coins that a transaction of this version must not spend
// (BIP431). Version 3 does not mix with other versions. A transaction of version 3 keeps
// only the unconfirmed coins of a single transaction. Of the transactions with neither
// parent nor child in the memory pool, it is that whose coins are worth most.
func (b *builder) mayJoin(cluster *coinselect.Cluster) []*Coin {
	truc := b.Request.Version == trucVersion
	values := make(map[string]int64)
	var richest string
	list := make([]*Coin, 0, len(b.Coins))
	for i := range b.Coins {
		c := &b.Coins[i]
		if c.Depth == 0 && (c.Version == trucVersion) != truc {
			continue
		}
		if c.Depth == 0 && truc {
			if ancestors, descendants := cluster.Relatives(c.At.Hash); ancestors > 1 || descendants > 1 {
				continue
			}
			id := string(c.At.Hash[:])
			if values[id] += int64(c.Amount); values[id] > values[richest] {
				richest = id
			}
		}
		list = append(list, c)
	}
	return slices.DeleteFunc(list, func(c *Coin) bool {
		return truc && c.Depth == 0 && string(c.At.Hash[:]) != richest
	})
}
