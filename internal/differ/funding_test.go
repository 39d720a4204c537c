package differ_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/seed61375155/trawl/internal/differ"
)

// perCase is how many cases of other tests take as long as one of these.
const perCase = 10

// fundingPerRound is how many requests a wallet gets between changes of its coins.
const fundingPerRound = 20

// exceptions are differences of transactions that were funded.
func (f *fundingPlay) exceptions() []differ.Exception {
	return []differ.Exception{
		{
			Reason: "coins, lock time and the place of change are chosen by chance",
			Is: func(c differ.Call, got differ.Replies) bool {
				return isFunding(c) && got.Trawl.OK() && got.Core.OK()
			},
		},
		{
			Reason: "some choices can be paid for and others not: looked into below",
			Is: func(c differ.Call, _ differ.Replies) bool {
				if isFunding(c) {
					f.doubtful = append(f.doubtful, c)
				}
				return isFunding(c)
			},
		},
		{
			Reason: "the next address for change, where choices by chance did with and without change",
			Is: func(c differ.Call, got differ.Replies) bool {
				return c.Method == "getrawchangeaddress" && got.Trawl.OK() && got.Core.OK()
			},
		},
	}
}

func isFunding(c differ.Call) bool { return c.Method == "walletcreatefundedpsbt" || c.Method == "send" }

// lookInto repeats requests that only one node funded, or that both refused in other words.
// Choices are random: over many tries, some answer of trawld must equal some answer of
// Core.
func (f *fundingPlay) lookInto() {
	const tries = 40
	for _, c := range f.doubtful {
		params := c.Params.([]any)
		ours, theirs := make(map[string]bool), make(map[string]bool)
		for range tries {
			ours[fmt.Sprint(f.p.Trawl.CallWallet(f.t.Context(), c.Wallet, nil, c.Method, params...))] = true
			theirs[fmt.Sprint(f.p.Core.CallWallet(f.t.Context(), c.Wallet, nil, c.Method, params...))] = true
		}
		same := slices.ContainsFunc(slices.Collect(maps.Keys(ours)), func(text string) bool { return theirs[text] })
		if !same {
			f.p.Report.Add(c.Method+": other words, always", fmt.Sprintf("%v\n     trawld: %v\n   bitcoind: %v", c,
				slices.Sorted(maps.Keys(ours)), slices.Sorted(maps.Keys(theirs))))
		}
	}
	f.doubts += len(f.doubtful)
	f.doubtful = nil
}

// TestWalletFunding gives two wallets with the same coins the same requests to fund
// transactions. Both fund or both refuse in the same words. No fee rate is below the
// requested rate, and the choices here waste no more on average than Core's.
func TestWalletFunding(t *testing.T) {
	config := differ.Config{Args: []string{
		"-keypool=3", "-fallbackfee=0.0001", "-acceptnonstdtxn=1", "-maxtxfee=1",
	}}
	f := &fundingPlay{own: map[string][]string{}}
	p := differ.Start(t, config, append(walletExceptions(), f.exceptions()...)...)
	f.walletPlay = walletPlay{keys: keys{differ.Random(t)}, p: p, t: t, now: 1_700_000_000}
	f.begin()
	f.send(differ.Call{Method: "generatetodescriptor", Params: []any{140, "raw(51)"}})
	for cases := differ.Cases(t, 4000) / perCase; f.cases < cases; {
		if len(f.names) == 0 || f.IntN(12) == 0 {
			f.open()
		}
		f.changeCoins()
		f.ask()
		f.lookInto()
	}
	f.judge()
	p.Alive()
}

// fundingPlay funds transactions, and adds up what they waste.
type fundingPlay struct {
	walletPlay

	cases, both, weighed int
	doubtful             []differ.Call // answered in different ways
	doubts               int
	faucets              int                 // so many coinbases that anyone can spend were spent
	own                  map[string][]string // addresses by wallet

	trawl, core           float64 // satoshis of waste
	differences, squares  float64 // of the waste of each case
	changeless, coreWhole int
}

// open makes a wallet, and unloads one where there are many.
func (f *fundingPlay) open() {
	f.number++
	name := fmt.Sprintf("f%d", f.number)
	f.send(differ.Call{Method: "createwallet", Params: []any{name, false, true, "", f.IntN(4) == 0}})
	f.names = append(f.names, name)
	f.importStandard(name)
	kinds := [][]string{
		{"bech32"}, {"bech32m"}, {"legacy", "p2sh-segwit", "bech32", "bech32m"}, {"legacy", "bech32"},
	}[f.IntN(4)]
	for range 8 {
		got := f.send(differ.Call{Method: "getnewaddress", Params: []any{"", pick(f.Rand, kinds, "")}, Wallet: name})
		var address string
		if json.Unmarshal(got[0].Core.Result, &address) == nil && address != "" {
			f.own[name] = append(f.own[name], address)
		}
	}
	const most = 6
	if len(f.names) > most {
		f.send(differ.Call{Method: "unloadwallet", Params: []any{f.names[0]}})
		f.names = f.names[1:]
	}
}

// value is that of a coin, from dust to many.
func (f *fundingPlay) value() int64 {
	switch f.IntN(5) {
	case 0:
		return 600 + f.Int64N(5000)
	case 1:
		return 100_000 * (1 + f.Int64N(5))
	default:
		return int64(math.Exp(7 + 11*f.Float64()))
	}
}

func coinText(satoshis int64) string { return fmt.Sprintf("%d.%08d", satoshis/1e8, satoshis%1e8) }

// changeCoins gives coins to a wallet, moves some, or mines.
func (f *fundingPlay) changeCoins() {
	name := f.wallet()
	switch f.IntN(6) {
	case 0, 1, 2:
		f.give(name, 1+f.IntN(25))
	case 3, 4:
		f.move(name)
	default:
		f.lock(name)
	}
	if f.IntN(2) == 0 {
		f.mine(f.faucet(), 1+f.IntN(7))
	}
	f.clock()
	f.settle()
}

// give pays to addresses of a wallet from a coinbase that anyone can spend.
func (f *fundingPlay) give(name string, n int) {
	if len(f.own[name]) == 0 {
		return
	}
	f.faucets++
	got := f.send(differ.Call{Method: "getblockhash", Params: []any{110 + f.faucets}})
	if f.faucets%100 == 0 {
		f.send(differ.Call{Method: "generatetodescriptor", Params: []any{100, "raw(51)"}})
	}
	var hash string
	_ = json.Unmarshal(got[0].Core.Result, &hash)
	var block struct{ Tx []string }
	got = f.send(differ.Call{Method: "getblock", Params: []any{hash}})
	if json.Unmarshal(got[0].Core.Result, &block) != nil {
		return
	}
	const room = 600_000_000 // less than any coinbase here
	outs, left := []any{}, int64(room)
	for range n {
		value := min(f.value(), left/2)
		left -= value
		outs = append(outs, map[string]any{pick(f.Rand, f.own[name], ""): coinText(max(value, 600))})
	}
	outs = uniqueOuts(outs)
	got = f.send(differ.Call{Method: "createrawtransaction", Params: []any{
		[]any{map[string]any{"txid": block.Tx[0], "vout": 0}}, outs,
	}})
	var raw string
	if json.Unmarshal(got[0].Core.Result, &raw) == nil {
		f.send(differ.Call{Method: "sendrawtransaction", Params: []any{raw, 0, 50}})
	}
}

// uniqueOuts leaves out further payments to an address.
func uniqueOuts(outs []any) []any {
	seen := make(map[string]bool)
	return slices.DeleteFunc(outs, func(out any) bool {
		for address := range out.(map[string]any) {
			if seen[address] {
				return true
			}
			seen[address] = true
		}
		return false
	})
}

// move has a wallet pay to itself, so that it has change that is not confirmed.
func (f *fundingPlay) move(name string) {
	for range 1 + f.IntN(3) {
		coins := f.coins(name)
		c := pick(f.Rand, coins, unspent{})
		if c.Amount < 0.0002 {
			continue
		}
		to := map[string]any{pick(f.Rand, f.own[name], ""): coinText(int64(c.Amount*1e8) - 5000 - f.Int64N(9000))}
		got := f.send(differ.Call{Method: "createrawtransaction", Params: []any{
			[]any{map[string]any{"txid": c.TxID, "vout": c.Vout}}, []any{to}, 0,
		}})
		var raw string
		_ = json.Unmarshal(got[0].Core.Result, &raw)
		got = f.send(differ.Call{Method: "signrawtransactionwithwallet", Params: []any{raw}, Wallet: name})
		var signed struct{ Hex string }
		if json.Unmarshal(got[0].Core.Result, &signed) == nil && signed.Hex != "" {
			f.send(differ.Call{Method: "sendrawtransaction", Params: []any{signed.Hex, 0}})
		}
		f.settle()
	}
}

func (f *fundingPlay) coins(name string) []unspent {
	got := f.send(differ.Call{Method: "listunspent", Params: []any{0}, Wallet: name})
	var coins []unspent
	_ = json.Unmarshal(got[0].Core.Result, &coins)
	return coins
}

// lock locks a coin, or unlocks all.
func (f *fundingPlay) lock(name string) {
	c := pick(f.Rand, f.coins(name), unspent{TxID: strings.Repeat("00", 32)})
	if f.IntN(2) == 0 {
		f.send(differ.Call{Method: "lockunspent", Params: []any{true}, Wallet: name})
		return
	}
	f.send(differ.Call{Method: "lockunspent", Params: []any{false, []any{
		map[string]any{"txid": c.TxID, "vout": c.Vout},
	}}, Wallet: name})
}
