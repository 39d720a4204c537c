package e2e_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/seed61375155/trawl/internal/e2e"
)

// TestFullDiskSpending fills the disk under a wallet that pays, and perhaps kills the node then. Answered payments
// are sent and kept, and refused payments are not sent. Repeated by their keys, all are paid once.
func TestFullDiskSpending(t *testing.T) {
	disk := newDisk(t, 24)
	ballast := filepath.Join(disk.dir, "ballast")
	for round := range count(t, "TRAWL_SOAK", 4)/5 + 2 {
		p := &fullPayments{t: t, ids: make(map[int]string)}
		p.d = e2e.Start(t, e2e.Config{Chain: "regtest", Args: []string{
			"-walletdir=" + disk.folder(fmt.Sprint("wallets", round)), "-keypool=20", "-fallbackfee=0.0001",
		}})
		p.begin()
		const own = 480_000 // of the file system, which nobody gets
		fill(t, ballast, disk.dir, own+int64(rand.IntN(150_000)))
		refused := 0
		for ; refused < 3 && len(p.ids) < 300; p.next++ {
			if !p.pay(p.next) {
				refused++
			}
		}
		if refused == 0 {
			t.Fatal("the disk does not get full")
		}
		p.check()
		if round%2 == 0 {
			p.d.Kill()
		}
		if err := os.Remove(ballast); err != nil {
			t.Fatal(err)
		}
		if round%2 == 0 {
			p.d.Restart()
			p.check()
		}
		for n := range p.next {
			p.payLate(n)
		}
		if len(p.ids) != p.next {
			t.Errorf("%d payments of %d", len(p.ids), p.next)
		}
		p.check()
		t.Logf("%d payments, %d of them refused at first", p.next, refused)
		p.d.Stop()
	}
}

// fullPayments pays by a wallet whose disk gets full. Each payment has a number.
type fullPayments struct {
	t    *testing.T
	d    *e2e.Daemon
	next int
	ids  map[int]string // of answered payments
}

func (p *fullPayments) begin() {
	p.d.Get(nil, "createwallet", "w", false, false, "", false, true, true) // loaded on start
	var mine string
	p.d.Get(&mine, "getnewaddress")
	const coins = 40
	p.d.Get(nil, "generatetoaddress", coins, mine)
	p.d.Get(nil, "generatetoaddress", 100, paidAlways)
}

// pay makes a payment, or asks for it again. It is false if it was refused.
func (p *fullPayments) pay(n int) bool {
	p.t.Helper()
	var id string
	amount, key := fmt.Sprintf("0.%08d", 100_000+n), fmt.Sprint("payment ", n)
	err := p.d.Call(p.t.Context(), &id, "sendtoaddress", paidAlways, amount, "", "", false, true, nil, nil,
		nil, nil, nil, key)
	if !isAnswered(err) {
		p.t.Fatal(err)
	}
	if err != nil {
		return false
	}
	if p.ids[n] != "" && p.ids[n] != id {
		p.t.Errorf("payment %d is %s, and was %s", n, id, p.ids[n])
	}
	p.ids[n] = id
	return true
}

// payLate asks again until the wallet can be written.
func (p *fullPayments) payLate(n int) {
	p.t.Helper()
	e2e.Eventually(p.t, time.Minute, "there is room again", func() bool { return p.pay(n) })
}

// check looks whether what was answered is in the memory pool and in the wallet, and nothing else is.
func (p *fullPayments) check() {
	p.t.Helper()
	wanted := make(map[string]bool)
	for _, id := range p.ids {
		wanted[id] = true
	}
	e2e.Eventually(p.t, time.Minute, "the wallet is there", func() bool {
		return p.d.Call(p.t.Context(), nil, "getwalletinfo") == nil
	})
	var pool []string
	p.d.Get(&pool, "getrawmempool")
	kept := make(map[string]bool)
	var list []struct{ TxID, Category string }
	p.d.Get(&list, "listtransactions", "*", 10_000)
	for _, tx := range list {
		if tx.Category == "send" {
			kept[tx.TxID] = true
		}
	}
	if len(pool) != len(wanted) || len(kept) != len(wanted) {
		p.t.Errorf("%d payments in the pool and %d in the wallet, want %d", len(pool), len(kept), len(wanted))
	}
	for _, id := range pool {
		if !wanted[id] || !kept[id] {
			p.t.Errorf("%s is in the pool: answered %v, kept %v", id, wanted[id], kept[id])
		}
	}
}
