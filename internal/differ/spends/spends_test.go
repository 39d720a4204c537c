package spends_test

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/consensus/script"
	"github.com/seed61375155/trawl/internal/differ"
	"github.com/seed61375155/trawl/internal/e2e"
)

func TestMain(m *testing.M) { e2e.Main(m) }

const (
	callsAtOnce  = 250
	amongOfRound = 5
)

// Sizes of a round: coins, spends of each, blocks of a spend alone.
var coinsOfRound, spendsOfCoin, aloneOfRound = sizes()

func sizes() (coins, spends, alone int) {
	if differ.Recorded() {
		return 5 * len(kinds), 8, 80
	}
	return 1200, 16, 200
}

// wholeRun is how many verdicts have to cover everything.
const wholeRun = 1_000_000

// verdictsOfCase is how many verdicts stand for one case of the other tests.
const verdictsOfCase = 10

// TestSpends compares verdicts on spends, their words included.
func TestSpends(t *testing.T) {
	p := differ.Start(t, differ.Config{Args: []string{"-acceptnonstdtxn=1"}})
	r := &round{chain: newChain(
		t, p, false,
	), generator: newGenerator(differ.Random(t)), covered: newCoverage(), rules: script.Mandatory}
	defer r.covered.print(t)
	want := verdictsOfCase * differ.Cases(t, 500)
	if differ.Recorded() {
		want = coinsOfRound
	}
	for rounds := 1; r.covered.verdicts < want && p.Report.Differences() < 20; rounds++ {
		r.run()
		if rounds%10 == 0 {
			t.Logf("%d verdicts, %d differences", r.covered.verdicts, p.Report.Differences())
		}
	}
	p.Alive()
	if want >= wholeRun && !t.Failed() {
		r.covered.check(t)
	}
}

// TestBuriedSpends compares verdicts in blocks below the heights of the soft forks,
// where signatures need not be strict and lock times are not looked at.
func TestBuriedSpends(t *testing.T) {
	const never = "@1000000"
	p := differ.Start(t, differ.Config{Args: []string{
		"-acceptnonstdtxn=1", "-testactivationheight=dersig" + never, "-testactivationheight=cltv" + never,
		"-testactivationheight=csv" + never, "-testactivationheight=segwit" + never,
	}})
	r := &round{
		chain: newChain(t, p, true), generator: newGenerator(differ.Random(t)), covered: newCoverage(),
		rules: script.P2SH | script.Witness | script.Taproot, blocksOnly: true,
	}
	defer r.covered.print(t)
	for want := differ.Cases(t, 500); r.covered.verdicts < want && p.Report.Differences() < 20; {
		r.run()
	}
	p.Alive()
}

// A round spends coins that it makes.
type round struct {
	*generator

	chain   *chain
	covered *coverage
	rules   script.Flags // of blocks

	blocksOnly bool // no pool judges

	right, wrong []*spend // by the rules of blocks, one of a coin at most of the right ones
}

func (r *round) run() {
	coins := make([]*coin, coinsOfRound)
	for i := range coins {
		coins[i] = r.coin(i % len(kinds))
	}
	r.chain.fund(coins, 2*coinsOfRound)
	r.right, r.wrong = nil, nil
	var pool []*spend
	for i, c := range coins {
		helpers := r.chain.helpers[2*i : 2*i+2]
		spends := spendsOfCoin
		if strings.Contains(c.kind, "unknown") {
			spends /= 4 // nothing of these is relayed
		}
		for n := range spends {
			s := r.spend(c, r.chain.height, helpers[:r.IntN(3)])
			if n%5 >= 3 {
				r.damage(s)
			}
			pool = append(pool, s)
		}
		r.choose(pool[len(pool)-spends:])
	}
	if !r.blocksOnly {
		r.inPool(pool)
	}
	r.inBlocks()
}

// choose picks up to two spends of a coin for blocks: a spend that is right by the
// rules of blocks, as far as we know, and a wrong spend.
func (r *round) choose(spends []*spend) {
	var right, wrong *spend
	for _, i := range r.Perm(len(spends)) {
		s := spends[i]
		if r.chain.nowit && s.tx.HasWitness() {
			continue
		}
		if script.NewSpend(s.tx, s.spent).VerifyInput(s.index, r.rules) == nil {
			if right == nil && r.final(s.tx) {
				right = s
			}
		} else if wrong == nil {
			wrong = s
		}
	}
	if right != nil {
		r.right = append(r.right, right)
	}
	if wrong != nil {
		r.wrong = append(r.wrong, wrong)
	}
}

// final reports whether the lock times allow a transaction in the next block.
func (r *round) final(tx *wire.MsgTx) bool {
	for _, in := range tx.TxIn {
		if tx.Version >= 2 && in.Sequence&wire.SequenceLockTimeDisabled == 0 && in.Sequence&0x40ffff != 0 {
			return false
		}
	}
	return tx.LockTime <= uint32(r.chain.height)
}

// inPool has both pools judge spends.
func (r *round) inPool(spends []*spend) {
	for len(spends) > 0 {
		n := min(callsAtOnce, len(spends))
		calls := make([]differ.Call, n)
		for i, s := range spends[:n] {
			var raw bytes.Buffer
			_ = s.tx.Serialize(&raw) // buffers take everything
			calls[i] = differ.Call{
				Method: "testmempoolaccept", Params: []any{[]string{hex.EncodeToString(raw.Bytes())}},
			}
		}
		for i, got := range r.chain.pair.Send(calls...) {
			var results []struct {
				Allowed bool   `json:"allowed"`
				Reason  string `json:"reject-reason"`
			}
			if err := json.Unmarshal(got.Core.Result, &results); err != nil || len(results) != 1 {
				r.covered.other[got.Core.String()]++
				continue
			}
			r.covered.add(spends[i], inPool, results[0].Reason)
		}
		spends = spends[n:]
	}
}

// inBlocks has both judge blocks. Blocks have a wrong spend, alone or among right
// spends, or a right spend alone; the last block has all remaining right spends.
func (r *round) inBlocks() {
	r.Shuffle(len(r.right), func(i, j int) { r.right[i], r.right[j] = r.right[j], r.right[i] })
	r.Shuffle(len(r.wrong), func(i, j int) { r.wrong[i], r.wrong[j] = r.wrong[j], r.wrong[i] })
	var calls []differ.Call
	var judged []*spend
	send := func() {
		for i, got := range r.chain.pair.Send(calls...) {
			r.covered.add(judged[i], alone, text(got.Core.Result))
		}
		calls, judged = nil, nil
	}
	aloneRight := min(len(r.right), aloneOfRound/8)
	for i := range aloneOfRound {
		if i%8 == 7 && aloneRight > 0 {
			aloneRight--
			s := r.right[0]
			r.right = r.right[1:]
			block := r.chain.block([]*wire.MsgTx{s.tx})
			calls, judged = append(calls, submit(block)), append(judged, s)
			r.chain.extend(block)
		} else if len(r.wrong) > amongOfRound {
			s := r.wrong[0]
			r.wrong = r.wrong[1:]
			calls, judged = append(calls, submit(r.chain.block([]*wire.MsgTx{s.tx}))), append(judged, s)
		}
		if len(calls) == callsAtOnce/4 {
			send()
		}
	}
	send()
	// Of each type some, also of the rare ones.
	slices.SortStableFunc(r.wrong, func(a, b *spend) int { return r.covered.amongWrong(a) - r.covered.amongWrong(b) })
	for _, s := range r.wrong[:min(len(r.wrong), amongOfRound)] {
		var txs []*wire.MsgTx
		for _, good := range r.right {
			if good.coin != s.coin {
				txs = append(txs, good.tx)
			}
		}
		at := r.IntN(len(txs) + 1)
		txs = append(txs[:at:at], append([]*wire.MsgTx{s.tx}, txs[at:]...)...)
		got := r.chain.pair.Send(submit(r.chain.block(txs)))[0]
		r.covered.add(s, among, text(got.Core.Result))
	}
	r.all()
}

// all has both judge a block of all right spends that are left.
func (r *round) all() {
	txs := make([]*wire.MsgTx, len(r.right))
	for i, s := range r.right {
		txs[i] = s.tx
	}
	block := r.chain.block(txs)
	got := r.chain.pair.Send(submit(block))[0]
	if reason := text(got.Core.Result); reason != "" || !got.Core.OK() {
		r.chain.pair.Report.Add("a block of spends that are right", got.Core.String())
		return
	}
	r.chain.extend(block)
	for _, s := range r.right {
		r.covered.add(s, among, "")
	}
}
