package e2e_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seed61375155/trawl/internal/e2e"
	"github.com/seed61375155/trawl/internal/e2e/jsonrpc"
)

// Of the recorded directories: the time at which they were made, and whom blocks
// are mined for that no wallet is to have.
const (
	recordedTime = 1795000000
	nobody       = "raw(51)#8lvh9jxk"
	nobodyP2MR   = "mr(pk(3d69debe97aea0e7a8e04ba7e6eec390013f9d276b447b6681730e71e3934ddf))"
)

// TestRecordDirectories makes the recorded directories with a trawld of another
// revision, and skips without one:
//
//	TRAWL_RECORD_PROGRAM=/path/to/trawld TRAWL_RECORD_REVISION=9dfadae \
//	  go test -run TestRecordDirectories ./internal/e2e
func TestRecordDirectories(t *testing.T) {
	r := recorder{program: os.Getenv("TRAWL_RECORD_PROGRAM"), revision: os.Getenv("TRAWL_RECORD_REVISION")}
	if r.program == "" || r.revision == "" {
		t.Skip("TRAWL_RECORD_PROGRAM and TRAWL_RECORD_REVISION are not set")
	}
	t.Run("indexed", r.indexed)
	t.Run("pruned", r.pruned)
	t.Run("killed", r.killed)
	t.Run("p2mr", r.p2mr)
}

type recorder struct{ program, revision string }

// A making is a directory that is being made.
type making struct {
	*e2e.Daemon
	t     *testing.T
	args  []string
	calls []recordedCall
}

func (r recorder) start(t *testing.T, args ...string) *making {
	t.Helper()
	args = append(args, "-keypool=5", "-mempoolexpiry=1000000", fmt.Sprint("-mocktime=", recordedTime))
	d := e2e.Start(t, e2e.Config{Chain: "regtest", Args: args, Program: r.program})
	return &making{Daemon: d, t: t, args: args}
}

// wallet calls a method of a wallet, which has to succeed.
func (m *making) wallet(result any, name, method string, params ...any) {
	m.t.Helper()
	got := record(m.t, m.Daemon, recordedCall{Path: "/wallet/" + name, Method: method, Params: params})
	if got.Error != nil {
		m.t.Fatalf("%s %v: %v", method, params, got.Error)
	}
	if result != nil {
		if err := json.Unmarshal(got.Result, result); err != nil {
			m.t.Fatal(err)
		}
	}
}

// address returns a new address of a wallet.
func (m *making) address(name, label, kind string) (address string) {
	m.t.Helper()
	m.wallet(&address, name, "getnewaddress", label, kind)
	return address
}

// mine returns the hashes of blocks that are mined for a descriptor.
func (m *making) mine(count int, descriptor string) (hashes []string) {
	m.t.Helper()
	m.Get(&hashes, "generatetodescriptor", count, descriptor)
	return hashes
}

// pay spends a wallet's oldest coin and sends the transaction.
func (m *making) pay(from, to string, amount float64) (txid string) {
	m.t.Helper()
	var coins []struct {
		Txid   string  `json:"txid"`
		Vout   int     `json:"vout"`
		Amount float64 `json:"amount"`
		Spend  bool    `json:"spendable"`
		Conf   int     `json:"confirmations"`
	}
	m.wallet(&coins, from, "listunspent")
	oldest := coins[0]
	for _, coin := range coins {
		if coin.Conf > oldest.Conf && coin.Amount > amount {
			oldest = coin
		}
	}
	var change, raw string
	m.wallet(&change, from, "getrawchangeaddress")
	m.Get(&raw, "createrawtransaction", []any{map[string]any{"txid": oldest.Txid, "vout": oldest.Vout}},
		[]any{map[string]any{to: amount}, map[string]any{change: fmt.Sprintf("%.8f", oldest.Amount-amount-0.001)}})
	var signed struct {
		Hex      string `json:"hex"`
		Complete bool   `json:"complete"`
	}
	m.wallet(&signed, from, "signrawtransactionwithwallet", raw)
	m.Get(&txid, "sendrawtransaction", signed.Hex)
	return txid
}

// ask notes a call whose reply is to be recorded.
func (m *making) ask(path, method string, params ...any) {
	if params == nil {
		params = []any{}
	}
	m.calls = append(m.calls, recordedCall{Path: path, Method: method, Params: params})
}

// askWallet notes what a wallet is to be asked.
func (m *making) askWallet(name string) {
	path := "/wallet/" + name
	m.ask(path, "getwalletinfo")
	m.ask(path, "getbalances")
	m.ask(path, "listtransactions", "*", 1000)
	m.ask(path, "listunspent", 0)
	m.ask(path, "listreceivedbyaddress", 0, true)
	m.ask(path, "listlabels")
	m.ask(path, "listdescriptors", true)
	m.ask(path, "listsinceblock")
}

// askChain notes what is asked of every chain.
func (m *making) askChain() {
	for _, method := range []string{
		"getbestblockhash", "getblockchaininfo", "getchaintips", "getindexinfo", "gettxoutsetinfo",
		"getrawmempool", "listbanned", "getaddrmaninfo", "listwallets", "listwalletdir",
	} {
		m.ask("/", method)
	}
	m.ask("/", "gettxoutsetinfo", "muhash")
	m.ask("/", "getrawmempool", true)
}

// save stops the daemon, or leaves what a kill has left, and packs its directory.
// The replies are those of the same program on a copy of the directory.
func (r recorder) save(m *making, mine string) {
	t := m.t
	t.Helper()
	name := strings.ToLower(filepath.Base(t.Name()))
	folder := filepath.Join(dirsFolder, r.revision)
	if err := os.MkdirAll(folder, 0o750); err != nil {
		t.Fatal(err)
	}
	archive := filepath.Join(folder, name+".tar.gz")
	pack(t, m.Dir, archive)
	dir := t.TempDir()
	unpack(t, archive, dir)
	d := e2e.Start(t, e2e.Config{Chain: "regtest", Dir: dir, Args: m.args, Program: r.program})
	waitReady(t, d)
	made := recordedDir{Revision: r.revision, Args: m.args, Mine: mine}
	for _, call := range m.calls {
		made.Calls = append(made.Calls, record(t, d, call))
	}
	d.Stop()
	made.write(t, filepath.Join(folder, name+".json"))
}

// write writes what was recorded, a call a line.
func (d recordedDir) write(t *testing.T, path string) {
	t.Helper()
	calls := d.Calls
	d.Calls = nil
	text := new(bytes.Buffer)
	encoder := json.NewEncoder(text)
	if err := encoder.Encode(d); err != nil {
		t.Fatal(err)
	}
	for _, call := range calls {
		if err := encoder.Encode(call); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(path, text.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
}

// pack packs a directory but for logs, locks and logins.
func pack(t *testing.T, dir, archive string) {
	t.Helper()
	tar := exec.CommandContext(t.Context(), "tar", "--sparse", "--hole-detection=raw", "--format=gnu", "--owner=0", "--group=0", "--sort=name",
		"--exclude=debug.log", "--exclude=.lock", "--exclude=.cookie", "--use-compress-program=gzip -9n", "-C", dir, "-cf",
		absolute(t, archive), ".")
	if out, err := tar.CombinedOutput(); err != nil {
		t.Fatalf("tar: %v\n%s", err, out)
	}
}

func absolute(t *testing.T, path string) string {
	t.Helper()
	full, err := filepath.Abs(path)
	if err != nil {
		t.Fatal(err)
	}
	return full
}

// indexed has all indexes, a stale branch, four wallets, unconfirmed payments,
// bans and addresses of peers.
func (r recorder) indexed(t *testing.T) {
	m := r.start(t, "-blockfilterindex", "-rangefilters", "-txindex", "-coinstatsindex")
	m.Get(nil, "createwallet", "plain", false, false, "", false, true, true)
	m.Get(nil, "createwallet", "secret", false, false, "a passphrase", false, true, true)
	m.Get(nil, "createwallet", "watching", true, true, "", false, true, true)
	m.Get(nil, "createwallet", "unloaded", false, false, "", false, true, false)
	mining := m.address("plain", "mined", "bech32")
	m.Get(nil, "generatetoaddress", 12, mining)
	m.wallet(nil, "watching", "importdescriptors", []any{map[string]any{"desc": m.descriptor("addr(" + mining +
		")"), "timestamp": 0, "label": "watched"}})
	m.mine(110, nobody)
	var confirmed []string
	for i, kind := range []string{"legacy", "p2sh-segwit", "bech32", "bech32m"} {
		confirmed = append(confirmed, m.pay("plain", m.address("secret", "received as "+kind, kind), 1.5+float64(i)))
	}
	first := m.mine(10, nobody)
	m.Stop() // what the journals hold goes into tables when they are opened again
	m.Restart()
	m.Get(nil, "loadwallet", "unloaded", false)
	m.mine(50, nobody)
	stale := m.mine(3, nobody)
	m.Get(nil, "invalidateblock", stale[0])
	m.mine(5, m.descriptor("addr("+m.address("plain", "after the reorganisation", "bech32m")+")"))
	m.Get(nil, "reconsiderblock", stale[0])
	pooled := m.pay("plain", m.address("secret", "unconfirmed", "bech32"), 7)
	m.pay("plain", m.address("unloaded", "to the wallet that is not loaded", "bech32"), 2)
	m.Get(nil, "prioritisetransaction", pooled, 0, 12345)
	m.wallet(nil, "plain", "setlabel", mining, "renamed")
	m.Get(nil, "unloadwallet", "unloaded")
	for _, subnet := range []string{"192.0.2.0/24", "2001:db8::1/128", "198.51.100.7"} {
		m.Get(nil, "setban", subnet, "add", 4000000000, true)
	}
	for i := range 30 {
		m.Get(nil, "addpeeraddress", fmt.Sprintf("%d.%d.3.4", 20+i*5, i), 8333, i%3 == 0)
	}
	m.askChain()
	for _, txid := range confirmed {
		m.ask("/", "getrawtransaction", txid, true)
		m.ask("/", "gettxout", txid, 0)
	}
	for _, hash := range []string{first[0], stale[0], stale[2]} {
		m.ask("/", "getblock", hash, 1)
		m.ask("/", "getblockfilter", hash)
		m.ask("/", "gettxoutsetinfo", "muhash", hash)
	}
	m.ask("/", "scanblocks", "start", []any{"addr(" + mining + ")"})
	m.ask("/", "getprioritisedtransactions")
	m.askWallet("plain")
	m.ask("/wallet/secret", "listdescriptors", true)
	m.ask("/wallet/secret", "walletpassphrase", "a passphrase", 1000)
	m.askWallet("secret")
	m.askWallet("watching")
	m.Stop()
	r.save(m, nobody)
}

// descriptor adds a descriptor's checksum.
func (m *making) descriptor(text string) string {
	m.t.Helper()
	var info struct {
		Descriptor string `json:"descriptor"`
	}
	m.Get(&info, "getdescriptorinfo", text)
	return info.Descriptor
}

// pruned has small block files, the first of which are deleted.
func (r recorder) pruned(t *testing.T) {
	m := r.start(t, "-prune=1", "-fastprune", "-blockfilterindex")
	m.Get(nil, "createwallet", "kept", false, false, "", false, true, true)
	early := m.mine(20, m.descriptor("addr("+m.address("kept", "mined", "bech32")+")"))
	early = append(early, m.mine(380, nobody)...)
	m.Stop()
	m.Restart()
	m.mine(180, nobody)
	e2e.Eventually(t, time.Minute, "indexes are synced", func() bool { waitReady(t, m.Daemon); return true })
	var height int
	m.Get(&height, "pruneblockchain", 290)
	if height < 100 {
		t.Fatalf("pruned up to %d", height)
	}
	m.askChain()
	for _, hash := range []string{early[0], early[200], early[399]} {
		m.ask("/", "getblock", hash, 1)
		m.ask("/", "getblockheader", hash)
		m.ask("/", "getblockfilter", hash)
	}
	m.askWallet("kept")
	m.Stop()
	r.save(m, nobody)
}

// killed was ended by SIGKILL while blocks were mined.
func (r recorder) killed(t *testing.T) {
	m := r.start(t, "-blockfilterindex", "-txindex", "-fastprune")
	m.Get(nil, "createwallet", "survivor", false, false, "", false, true, true)
	paid := m.address("survivor", "mined", "bech32")
	m.Get(nil, "generatetoaddress", 10, paid)
	m.mine(110, nobody)
	mempool := m.pay("survivor", m.address("survivor", "unconfirmed", "bech32m"), 3)
	m.Get(nil, "savemempool")
	client := m.Client
	body, err := jsonrpc.Encode("generatetodescriptor", 2000, nobody)
	if err != nil {
		t.Fatal(err)
	}
	go func() { _, _ = client.Post(t.Context(), "/", body) }() // is cut off
	e2e.Eventually(t, time.Minute, "blocks are mined", func() bool {
		var height int
		m.Get(&height, "getblockcount")
		return height > 200
	})
	m.Kill()
	m.askChain()
	m.ask("/", "getrawtransaction", mempool, true)
	m.askWallet("survivor")
	r.save(m, nobody)
}

// p2mr is of a chain that pays to P2MR outputs.
func (r recorder) p2mr(t *testing.T) {
	m := r.start(t, "-dialect=qbit", "-blockfilterindex", "-txindex", "-coinstatsindex", "-fastprune")
	m.Get(nil, "createwallet", "lattice", false, false, "", false, true, true)
	mined := m.mine(10, nobodyP2MR)
	paid := m.address("lattice", "mined", "p2mr")
	m.Get(nil, "generatetoaddress", 5, paid)
	m.mine(110, nobodyP2MR)
	m.askChain()
	m.ask("/", "getblock", mined[4], 1)
	m.ask("/", "getblockfilter", mined[4])
	m.ask("/", "scanblocks", "start", []any{"addr(" + paid + ")"})
	for _, method := range []string{"getwalletinfo", "getbalances", "listtransactions", "listunspent", "listlabels"} {
		m.ask("/wallet/lattice", method)
	}
	m.ask("/wallet/lattice", "listdescriptors", true)
	m.Stop()
	r.save(m, nobodyP2MR)
}
