package e2e_test

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seed61375155/trawl/internal/e2e"
	"github.com/seed61375155/trawl/internal/e2e/jsonrpc"
)

// TestKill9WalletWrites kills a node while its wallet gives out addresses,
// takes labels and descriptors, receives blocks, is backed up and encrypted,
// and while other wallets are made. Everything that was acknowledged must be
// there afterwards, and no address may be given out twice.
func TestKill9WalletWrites(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(uint64(time.Now().UnixNano()), 2))
	kills := count(t, "TRAWL_SOAK", 6)
	for done := 0; done < kills; done += killsPerNode {
		d := e2e.Start(t, e2e.Config{Chain: "regtest", Args: []string{"-keypool=5"}})
		w := newWalletWorkload(t, d)
		for range min(killsPerNode, kills-done) {
			w.killOnce(t, random)
		}
		d.Stop()
	}
}

const killedWallet = "killed"

// walletWorkload makes calls that change a wallet until the node is killed, and
// keeps what was acknowledged.
type walletWorkload struct {
	d      *e2e.Daemon
	call   func(ctx context.Context, result any, method string, params ...any) error
	calls  atomic.Int64
	killed atomic.Bool

	labels      map[string]string // of addresses
	given       map[string]bool   // addresses
	descriptors map[string]bool
	made        map[string]bool // other wallets
	backups     []string
	coinbases   int // blocks that pay to the wallet
	encrypted   bool

	unsure map[string]string // what the call that was cut short may have changed: labels of addresses
	next   int
}

func newWalletWorkload(t *testing.T, d *e2e.Daemon) *walletWorkload {
	t.Helper()
	d.Get(nil, "createwallet", killedWallet, false, false, "", false, true, true) // loaded on start
	return &walletWorkload{
		d: d, labels: map[string]string{}, given: map[string]bool{}, descriptors: map[string]bool{},
		made: map[string]bool{}, unsure: map[string]string{},
	}
}

func (w *walletWorkload) killOnce(t *testing.T, random *rand.Rand) {
	t.Helper()
	w.cutOnce(t, random, w.d.Kill)
	for random.IntN(2) == 0 {
		w.d.KillStarting(time.Duration(random.Int64N(int64(300 * time.Millisecond))))
	}
	w.d.Restart()
	w.check(t)
}

// cutOnce makes calls until cut ends the node.
func (w *walletWorkload) cutOnce(t *testing.T, random *rand.Rand, cut func()) {
	t.Helper()
	w.killed.Store(false)
	w.call = w.d.Call // of the process that is to be killed
	calls := w.calls.Load() + int64(random.IntN(60))
	ended := make(chan error, 1)
	seed := random.Uint64()
	go func() { ended <- w.run(t.Context(), t.TempDir(), rand.New(rand.NewPCG(seed, 0))) }()
	e2e.Eventually(
		t, time.Minute, "the workload gets on", func() bool { return w.calls.Load() >= calls || len(ended) > 0 },
	)
	<-time.After(time.Duration(random.Int64N(int64(10 * time.Millisecond))))
	w.killed.Store(true)
	cut()
	if err := <-ended; err != nil {
		t.Fatalf("%v\nlog:\n%s", err, w.d.LogTail())
	}
}

// run returns the first error that comes before the kill.
func (w *walletWorkload) run(ctx context.Context, dir string, random *rand.Rand) error {
	steps := []func(context.Context, *rand.Rand) error{
		w.giveAddress, w.giveAddress, w.relabel, w.relabel, w.importOne, w.mineOne, w.makeOther,
		func(ctx context.Context, _ *rand.Rand) error { return w.backUp(ctx, dir) },
	}
	for {
		step := steps[random.IntN(len(steps))]
		if !w.encrypted && random.IntN(40) == 0 {
			step = w.encrypt
		}
		if err := step(ctx, random); err != nil {
			if w.killed.Load() {
				return nil
			}
			return err
		}
		w.calls.Add(1)
	}
}

func (w *walletWorkload) number() int {
	w.next++
	return w.next
}

func (w *walletWorkload) giveAddress(ctx context.Context, _ *rand.Rand) error {
	var address string
	label := fmt.Sprint("given ", w.number())
	if err := w.call(ctx, &address, "getnewaddress", label); err != nil {
		return err
	}
	if w.given[address] {
		return fmt.Errorf("%s is given out twice", address)
	}
	w.given[address], w.labels[address] = true, label
	return nil
}

func (w *walletWorkload) relabel(ctx context.Context, random *rand.Rand) error {
	if len(w.labels) == 0 {
		return nil
	}
	addresses := slices.Sorted(maps.Keys(w.labels))
	address, label := addresses[random.IntN(len(addresses))], fmt.Sprint("set ", w.number())
	w.unsure[address] = label
	if err := w.call(ctx, nil, "setlabel", address, label); err != nil {
		return err
	}
	delete(w.unsure, address)
	w.labels[address] = label
	return nil
}

func (w *walletWorkload) importOne(ctx context.Context, _ *rand.Rand) error {
	const text = "wpkh([d34db33f/84h]tprv8ZgxMBicQKsPd7Uf69XL1XwhmjHopUGep8GuEiJDZmbQz6o58LninorQAfcKZWARbtRtfnLcJ5MQ2" +
		"AtHcQJCCRUcMRvmDUjyEmNUWwx8UbK/%d/*)"
	d := fmt.Sprintf(text, w.number())
	var info struct {
		Descriptor string `json:"descriptor"` // with the public key
		Checksum   string `json:"checksum"`   // of the descriptor in the request
	}
	if err := w.call(ctx, &info, "getdescriptorinfo", d); err != nil {
		return err
	}
	var results []struct {
		Success bool `json:"success"`
		Error   any  `json:"error"`
	}
	request := map[string]any{"desc": d + "#" + info.Checksum, "timestamp": "now", "range": 3}
	err := w.call(ctx, &results, "importdescriptors", []any{request})
	if w.encrypted && jsonrpc.IsError(err, -13) {
		return nil // locked
	}
	if err != nil {
		return err
	}
	if !results[0].Success {
		return fmt.Errorf("importdescriptors: %v", results[0].Error)
	}
	w.descriptors[info.Descriptor] = true
	return nil
}

func (w *walletWorkload) mineOne(ctx context.Context, _ *rand.Rand) error {
	if len(w.given) == 0 {
		return nil
	}
	address := slices.Sorted(maps.Keys(w.given))[0]
	if err := w.call(ctx, nil, "generatetoaddress", 1, address); err != nil {
		return err
	}
	w.coinbases++
	return nil
}

func (w *walletWorkload) makeOther(ctx context.Context, _ *rand.Rand) error {
	name := fmt.Sprint("other", w.number())
	if err := w.call(ctx, nil, "createwallet", name, true, true); err != nil {
		return err
	}
	w.made[name] = true
	return w.call(ctx, nil, "unloadwallet", name)
}

func (w *walletWorkload) backUp(ctx context.Context, dir string) error {
	path := filepath.Join(dir, fmt.Sprint("backup", w.number()))
	if err := w.call(ctx, nil, "backupwallet", path); err != nil {
		return err
	}
	w.backups = append(w.backups, path)
	return nil
}

func (w *walletWorkload) encrypt(ctx context.Context, _ *rand.Rand) error {
	if err := w.call(ctx, nil, "encryptwallet", "secret"); err != nil {
		return err
	}
	w.encrypted = true
	return nil
}

// check looks for everything that was acknowledged.
func (w *walletWorkload) check(t *testing.T) {
	t.Helper()
	w.checkAddresses(t)
	w.checkDescriptors(t)
	w.checkFiles(t)
	var info struct {
		Transactions  int  `json:"txcount"`
		UnlockedUntil *int `json:"unlocked_until"`
	}
	w.d.Get(&info, "getwalletinfo")
	if info.Transactions < w.coinbases || info.Transactions > w.coinbases+1 {
		t.Errorf("%d transactions, %d blocks were mined", info.Transactions, w.coinbases)
	}
	w.coinbases = info.Transactions
	if encrypted := info.UnlockedUntil != nil; w.encrypted && !encrypted {
		t.Error("the wallet is no longer encrypted")
	} else {
		w.encrypted = encrypted
	}
	t.Logf("killed after %d calls: %d addresses, %d descriptors, %d other wallets, %d blocks",
		w.calls.Load(), len(w.given), len(w.descriptors), len(w.made), w.coinbases)
}

func (w *walletWorkload) checkAddresses(t *testing.T) {
	t.Helper()
	for address, label := range w.labels {
		var info struct {
			Mine   bool     `json:"ismine"`
			Labels []string `json:"labels"`
		}
		w.d.Get(&info, "getaddressinfo", address)
		if !info.Mine || len(info.Labels) != 1 {
			t.Errorf("%s: is mine %v, labels %q", address, info.Mine, info.Labels)
			continue
		}
		if got := info.Labels[0]; got != label && got != w.unsure[address] {
			t.Errorf("%s: label %q, want %q or %q", address, got, label, w.unsure[address])
		}
		w.labels[address] = info.Labels[0]
	}
	clear(w.unsure)
}

func (w *walletWorkload) checkDescriptors(t *testing.T) {
	t.Helper()
	var list struct {
		Descriptors []struct {
			Desc string `json:"desc"`
		} `json:"descriptors"`
	}
	w.d.Get(&list, "listdescriptors")
	have := map[string]bool{}
	for _, d := range list.Descriptors {
		have[d.Desc] = true
	}
	for d := range w.descriptors {
		if !have[d] {
			t.Errorf("%s is lost", d)
		}
	}
}

// checkFiles loads the other wallets and restores a backup.
func (w *walletWorkload) checkFiles(t *testing.T) {
	t.Helper()
	var dir struct {
		Wallets []struct {
			Name string `json:"name"`
		} `json:"wallets"`
	}
	w.d.Get(&dir, "listwalletdir")
	loadable := map[string]bool{}
	for _, other := range dir.Wallets {
		loadable[other.Name] = true
		if other.Name != killedWallet {
			w.d.Get(nil, "loadwallet", other.Name)
			w.d.Get(nil, "unloadwallet", other.Name)
		}
	}
	for name := range w.made {
		if !loadable[name] {
			t.Errorf("wallet %s is lost", name)
		}
	}
	if len(w.backups) > 0 {
		name := fmt.Sprint("restored", w.number())
		w.d.Get(nil, "restorewallet", name, w.backups[len(w.backups)-1])
		w.d.Get(nil, "unloadwallet", name)
	}
}
