package e2e_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seed61375155/trawl/internal/e2e"
	"github.com/seed61375155/trawl/internal/e2e/jsonrpc"
)

const (
	payer, payee = "payer", "payee"

	payingCallers = 4 // at once
	firstCoins    = 24
)

// TestKill9Spending kills a node while several callers pay by one wallet, with
// idempotency keys and without. No coin may be lost or spent twice. Answered payments
// are kept, and refused payments are never paid. A call without an answer that is
// repeated with its key is paid once.
func TestKill9Spending(t *testing.T) {
	t.Parallel()
	kills := count(t, "TRAWL_SOAK", 4)
	for done := 0; done < kills; done += killsPerNode {
		p := newPayments(t)
		for range min(killsPerNode, kills-done) {
			p.killOnce()
		}
		p.d.Stop()
	}
}

// payments pays by the wallet of a node, and keeps what it was told.
type payments struct {
	t *testing.T
	d *e2e.Daemon

	mined   int64 // that the payer may spend or will, in satoshis
	nowhere string

	mu     sync.Mutex
	random *rand.Rand
	made   []*paying
	calls  atomic.Int64
	next   int64

	acked, refused, lost, repeated int
}

// A paying is a call that pays to an address of its own.
type paying struct {
	method string
	params []any // with the key as the last one
	key    string

	to     string
	amount int64 // satoshis; 0: all that is left
	txID   string
	failed bool // with an error
}

func newPayments(t *testing.T) *payments {
	t.Helper()
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	p := &payments{t: t, random: rand.New(rand.NewPCG(seed, 3))}
	p.d = e2e.Start(t, e2e.Config{
		Chain: "regtest",
		Args:  []string{"-keypool=20", "-fallbackfee=0.00002", "-limitancestorcount=200", "-limitdescendantcount=200"},
	})
	for _, wallet := range []string{payer, payee} {
		p.d.Get(nil, "createwallet", wallet, false, false, "", false, true, true) // loaded on start
	}
	var mine string
	p.get(payer, &mine, "getnewaddress")
	p.d.Get(nil, "generatetoaddress", firstCoins, mine)
	p.nowhere = "bcrt1qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqdku202"
	p.d.Get(nil, "generatetoaddress", 100, p.nowhere)
	p.mined = firstCoins * 50 * satoshis
	return p
}

const satoshis = 100_000_000

func (p *payments) get(wallet string, result any, method string, params ...any) {
	p.t.Helper()
	if err := p.d.CallWallet(p.t.Context(), wallet, result, method, params...); err != nil {
		p.t.Fatalf("%s %.200s: %v\nlog:\n%s", method, fmt.Sprint(params...), err, p.d.LogTail())
	}
}

// killOnce has all callers pay until the node is killed, and looks at what is left.
func (p *payments) killOnce() {
	p.t.Helper()
	ctx, client := p.t.Context(), p.d.Client
	var callers sync.WaitGroup
	calls := p.calls.Load() + p.below(40)
	for range payingCallers {
		callers.Go(func() {
			for p.payOnce(ctx, client) {
				p.calls.Add(1)
			}
		})
	}
	e2e.Eventually(p.t, time.Minute, "the callers get on", func() bool { return p.calls.Load() >= calls })
	<-time.After(time.Duration(p.below(int64(20 * time.Millisecond))))
	p.d.Kill()
	callers.Wait()
	for p.below(3) == 0 {
		p.d.KillStarting(time.Duration(p.below(int64(300 * time.Millisecond))))
	}
	p.d.Restart()
	p.check()
}

func (p *payments) below(n int64) int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.random.Int64N(n)
}

// payOnce makes one call. It is false when the node has gone.
func (p *payments) payOnce(ctx context.Context, client *jsonrpc.Client) bool {
	if p.below(25) == 0 {
		return isAnswered(client.Call(ctx, nil, "generatetoaddress", 1, p.nowhere))
	}
	var to string
	if err := client.CallWallet(ctx, payee, &to, "getnewaddress"); err != nil {
		return isAnswered(err)
	}
	one := p.prepare(ctx, client, to)
	if one == nil {
		return false
	}
	var got any
	err := client.CallWallet(ctx, payer, &got, one.method, one.params...)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.made = append(p.made, one)
	if !isAnswered(err) {
		p.lost++
		return false
	}
	if err != nil {
		p.refused++
	} else {
		p.acked++
	}
	one.failed, one.txID = err != nil, txIDIn(got)
	return true
}

// isAnswered reports whether a call was answered, if only by an error.
func isAnswered(err error) bool {
	return err == nil || errors.As(err, new(jsonrpc.Error))
}

// txIDIn returns the id that a sending method answers.
func txIDIn(result any) string {
	switch r := result.(type) {
	case string:
		return r
	case map[string]any:
		id, _ := r["txid"].(string)
		return id
	}
	return ""
}

// prepare makes a call that pays to an address; nil when the node has gone.
func (p *payments) prepare(ctx context.Context, client *jsonrpc.Client, to string) *paying {
	kind, keyed := p.below(10), p.below(2) == 0
	one := &paying{to: to, amount: 10_000 + p.below(2*satoshis)}
	amount := fmt.Sprintf("%d.%08d", one.amount/satoshis, one.amount%satoshis)
	var key any
	if keyed {
		p.mu.Lock()
		p.next++
		one.key = fmt.Sprint("payment ", p.next)
		p.mu.Unlock()
		key = one.key
	}
	switch {
	case kind < 4:
		one.method = "sendtoaddress"
		one.params = []any{to, amount, "", "", false, true, nil, nil, nil, nil, nil, key}
	case kind < 6:
		one.method = "sendmany"
		one.params = []any{"", map[string]any{to: amount}, nil, nil, nil, nil, nil, nil, nil, nil, key}
	case kind < 9:
		one.method = "send"
		one.params = []any{[]any{map[string]any{to: amount}}, nil, nil, nil, nil, nil, key}
	default:
		coin, left := p.anyCoin(ctx, client)
		if !left {
			return nil
		}
		one.method, one.amount = "sendall", 0
		one.params = []any{[]any{to}, nil, nil, nil, map[string]any{"inputs": []any{coin}}, key}
	}
	return one
}

// anyCoin returns a coin that other callers may choose at the same time.
func (p *payments) anyCoin(ctx context.Context, client *jsonrpc.Client) (coin map[string]any, left bool) {
	var coins []struct {
		TxID string `json:"txid"`
		Vout int    `json:"vout"`
	}
	coin = map[string]any{"txid": "00", "vout": 0} // to be refused
	if err := client.CallWallet(ctx, payer, &coins, "listunspent", 0); err != nil || len(coins) == 0 {
		return coin, isAnswered(err)
	}
	some := coins[p.below(int64(len(coins)))]
	return map[string]any{"txid": some.TxID, "vout": some.Vout}, true
}

// check holds what the wallets have against what the callers were told.
func (p *payments) check() {
	p.t.Helper()
	for _, one := range p.made {
		if one.key != "" && !one.failed {
			p.repeat(one)
		}
	}
	for _, one := range p.made {
		p.checkPaid(one)
	}
	p.checkCoins()
	if p.t.Failed() {
		p.t.Fatalf("log:\n%s", p.d.LogTail())
	}
	p.t.Logf("%d payments: %d answered, %d refused, %d cut short, %d of these repeated", len(p.made), p.acked, p.refused,
		p.lost, p.repeated)
}

// repeat makes a call again that has a key. It must be answered as before; what was cut
// short is paid now, if it was not.
func (p *payments) repeat(one *paying) {
	p.t.Helper()
	var got any
	err := p.d.CallWallet(p.t.Context(), payer, &got, one.method, one.params...)
	switch {
	case err != nil && one.txID != "":
		p.t.Errorf("%s with %s: %v, was %s", one.method, one.key, err, one.txID)
	case err != nil: // it was cut short, and cannot be paid any more
		one.failed = true
	case one.txID != "" && txIDIn(got) != one.txID:
		p.t.Errorf("%s with %s: %s, was %s", one.method, one.key, txIDIn(got), one.txID)
	default:
		if one.txID == "" {
			p.repeated++
		}
		one.txID = txIDIn(got)
	}
}

// checkPaid looks how often an address was paid to.
func (p *payments) checkPaid(one *paying) {
	p.t.Helper()
	var received []struct {
		TxIDs []string `json:"txids"`
	}
	p.get(payee, &received, "listreceivedbyaddress", 0, true, true, one.to)
	var ids []string
	if len(received) > 0 {
		ids = received[0].TxIDs
	}
	switch {
	case one.failed && len(ids) > 0:
		p.t.Errorf("%s was refused and paid by %v", one.method, ids)
	case one.txID != "" && (len(ids) != 1 || ids[0] != one.txID):
		p.t.Errorf("%s was answered %s and paid by %v", one.method, one.txID, ids)
	case len(ids) > 1:
		p.t.Errorf("%s was cut short and paid by %v", one.method, ids)
	}
	if len(ids) == 1 && one.txID == "" {
		one.txID = ids[0]
	}
}

// checkCoins adds up what the payer spent, and looks for outputs that are spent twice.
func (p *payments) checkCoins() {
	p.t.Helper()
	spent := make(map[string]string)
	left := p.mined
	for _, one := range p.made {
		if one.txID == "" {
			continue
		}
		var tx struct {
			Amount, Fee   float64
			Confirmations int
			Decoded       struct {
				Vin []struct {
					TxID string
					Vout int
				}
			}
		}
		p.get(payer, &tx, "gettransaction", one.txID, nil, true)
		left += toSatoshis(tx.Amount) + toSatoshis(tx.Fee)
		for _, in := range tx.Decoded.Vin {
			at := fmt.Sprint(in.TxID, ":", in.Vout)
			if other := spent[at]; other != "" && other != one.txID {
				p.t.Errorf("%s is spent by %s and %s", at, other, one.txID)
			}
			spent[at] = one.txID
		}
		if tx.Confirmations == 0 { // it is sent again when the wallet is loaded
			e2e.Eventually(p.t, time.Minute, "the transaction is in the memory pool", func() bool {
				return p.d.Call(p.t.Context(), nil, "getmempoolentry", one.txID) == nil
			})
		}
	}
	var coins []struct{ Amount float64 }
	p.get(payer, &coins, "listunspent", 0)
	var sum int64
	for _, coin := range coins {
		sum += toSatoshis(coin.Amount)
	}
	if sum != left {
		p.t.Errorf("the payer has %d, and should have %d", sum, left)
	}
}

// toSatoshis returns an amount as a whole number.
func toSatoshis(coins float64) int64 {
	if coins < 0 {
		return -toSatoshis(-coins)
	}
	return int64(coins*satoshis + 0.5)
}
