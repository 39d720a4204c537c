package chainrpc

import (
	"cmp"
	"slices"

	"github.com/btcsuite/btcd/txscript"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/dialect"
	"github.com/seed61375155/trawl/internal/jsontree"
)

// blockStats are the figures of one block. Figures of single transactions leave
// out the coinbase.
type blockStats struct {
	net   *dialect.Network
	block *chainview.Block

	fees, sizes []int64
	rates       []feeRate // fees by virtual byte, with the weight of their transactions

	txs, ins, outs               int64
	totalOut, totalFee           int64
	totalSize, totalWeight       int64
	witnessTxs                   int64
	witnessSize, witnessWeight   int64
	unspent                      int64 // spendable outputs created
	unspentSize, unspentSizeKept int64 // bytes, with and without unspendable outputs
}

type feeRate struct{ rate, weight int64 }

// countBlock looks at every transaction of a block; spent is what they spend.
func countBlock(
	net *dialect.Network, b *chainview.Block, block *wire.MsgBlock, spent [][]chainview.Coin,
) *blockStats {
	s := &blockStats{net: net, block: b, txs: int64(len(block.Transactions))}
	for i, tx := range block.Transactions {
		value := s.addOutputs(tx, i == 0)
		if i == 0 {
			continue
		}
		s.ins += int64(len(tx.TxIn))
		s.totalOut += value
		size, weight := s.addSize(tx)
		if tx.HasWitness() {
			s.witnessTxs++
			s.witnessSize += size
			s.witnessWeight += weight
		}
		if i <= len(spent) {
			s.addFee(s.addInputs(spent[i-1])-value, weight)
		}
	}
	return s
}

// addOutputs returns the value of a transaction's outputs.
func (s *blockStats) addOutputs(tx *wire.MsgTx, coinbase bool) (value int64) {
	// Neither the genesis block nor a repeated coinbase adds to the set of
	// unspent outputs.
	repeated := coinbase && slices.Contains(s.net.RepeatedCoinbases, s.block.Hash)
	adds := s.block.Height > 0 && !repeated
	s.outs += int64(len(tx.TxOut))
	for _, out := range tx.TxOut {
		value += out.Value
		size := int64(out.SerializeSize()) + s.net.UnspentOverhead
		s.unspentSize += size
		if adds && !unspendable(out.PkScript) {
			s.unspent++
			s.unspentSizeKept += size
		}
	}
	return value
}

// unspendable reports whether an output with this script is never stored.
func unspendable(script []byte) bool {
	return len(script) > txscript.MaxScriptSize || len(script) > 0 && script[0] == txscript.OP_RETURN
}

func (s *blockStats) addSize(tx *wire.MsgTx) (size, weight int64) {
	size = int64(tx.SerializeSize())
	weight = int64(tx.SerializeSizeStripped())*(s.net.Rules.WitnessScale-1) + size
	s.sizes = append(s.sizes, size)
	s.totalSize += size
	s.totalWeight += weight
	return size, weight
}

// addInputs returns the value of the outputs that a transaction spends.
func (s *blockStats) addInputs(spent []chainview.Coin) (value int64) {
	for _, coin := range spent {
		value += int64(coin.Value)
		out := wire.TxOut{Value: int64(coin.Value), PkScript: coin.Script}
		size := int64(out.SerializeSize()) + s.net.UnspentOverhead
		s.unspentSize -= size
		s.unspentSizeKept -= size
	}
	return value
}

func (s *blockStats) addFee(fee, weight int64) {
	s.totalFee += fee
	s.fees = append(s.fees, fee)
	s.rates = append(s.rates, feeRate{fee * s.net.Rules.WitnessScale / weight, weight})
}

// members returns the figures in Core's order.
func (s *blockStats) members() jsontree.Members {
	slices.Sort(s.fees)
	slices.Sort(s.sizes)
	slices.SortFunc(s.rates, func(a, b feeRate) int {
		return cmp.Or(cmp.Compare(a.rate, b.rate), cmp.Compare(a.weight, b.weight))
	})
	lowest, highest := feeRate{}, feeRate{}
	if n := len(s.rates); n > 0 {
		lowest, highest = s.rates[0], s.rates[n-1]
	}
	return jsontree.Members{
		{Key: "avgfee", Value: ratio(s.totalFee, s.txs-1)},
		{Key: "avgfeerate", Value: ratio(s.totalFee*s.net.Rules.WitnessScale, s.totalWeight)},
		{Key: "avgtxsize", Value: ratio(s.totalSize, s.txs-1)},
		{Key: "blockhash", Value: s.block.Hash},
		{Key: "feerate_percentiles", Value: s.percentiles()},
		{Key: "height", Value: s.block.Height},
		{Key: "ins", Value: s.ins},
		{Key: "maxfee", Value: last(s.fees)},
		{Key: "maxfeerate", Value: highest.rate},
		{Key: "maxtxsize", Value: last(s.sizes)},
		{Key: "medianfee", Value: median(s.fees)},
		{Key: "mediantime", Value: s.block.MedianTimePast()},
		{Key: "mediantxsize", Value: median(s.sizes)},
		{Key: "minfee", Value: first(s.fees)},
		{Key: "minfeerate", Value: lowest.rate},
		{Key: "mintxsize", Value: first(s.sizes)},
		{Key: "outs", Value: s.outs},
		{Key: "subsidy", Value: int64(s.net.Subsidy(s.block.Height))},
		{Key: "swtotal_size", Value: s.witnessSize},
		{Key: "swtotal_weight", Value: s.witnessWeight},
		{Key: "swtxs", Value: s.witnessTxs},
		{Key: "time", Value: s.block.Time().Unix()},
		{Key: "total_out", Value: s.totalOut},
		{Key: "total_size", Value: s.totalSize},
		{Key: "total_weight", Value: s.totalWeight},
		{Key: "totalfee", Value: s.totalFee},
		{Key: "txs", Value: s.txs},
		{Key: "utxo_increase", Value: s.outs - s.ins},
		{Key: "utxo_size_inc", Value: s.unspentSize},
		{Key: "utxo_increase_actual", Value: s.unspent - s.ins},
		{Key: "utxo_size_inc_actual", Value: s.unspentSizeKept},
	}
}

// percentiles returns the fee rates at 10, 25, 50, 75 and 90 percent of the
// weight, the rates in ascending order.
func (s *blockStats) percentiles() []int64 {
	shares := [...]int64{10, 25, 50, 75, 90}
	result := make([]int64, 0, len(shares))
	weight := int64(0)
	for _, r := range s.rates {
		weight += r.weight
		for len(result) < len(shares) && weight*100 >= s.totalWeight*shares[len(result)] {
			result = append(result, r.rate)
		}
	}
	return append(result, make([]int64, len(shares)-len(result))...) // of an empty block
}

// ratio divides, rounding towards zero; by zero it is 0.
func ratio(a, b int64) int64 {
	if b == 0 {
		return 0
	}
	return a / b
}

// median returns the middle of sorted numbers, rounded towards zero; of none
// it is 0.
func median(sorted []int64) int64 {
	n := len(sorted)
	switch {
	case n == 0:
		return 0
	case n%2 == 0:
		return (sorted[n/2-1] + sorted[n/2]) / 2
	default:
		return sorted[n/2]
	}
}

func first(sorted []int64) int64 {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[0]
}

func last(sorted []int64) int64 {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[len(sorted)-1]
}
