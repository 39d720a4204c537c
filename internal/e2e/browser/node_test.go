package browser

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"testing"

	"github.com/seed61375155/trawl/internal/e2e"
)

// hostile is a name that would do harm where it is shown as markup.
const hostile = `<img src=x onerror=alert(1)> & "co"`

// The logins that tests sign in with.
const (
	user     = "ana"
	guest    = "guest" // may call few methods
	password = "correct horse"
)

// A world is a node with a chain, a wallet that mines and a wallet that is
// paid.
type world struct {
	*e2e.Daemon

	t       *testing.T
	miner   string // an address of the wallet that mines
	desc    string // descriptor of the addresses of the other one
	metrics string // host:port where the node tells its numbers
}

// begin starts a node with wallets; a wallet's name is markup.
func begin(t *testing.T, args ...string) *world {
	t.Helper()
	w := &world{t: t, metrics: e2e.FreeAddr(t)}
	w.Daemon = e2e.Start(t, e2e.Config{Chain: "regtest", P2P: e2e.FreeAddr(t), Args: append([]string{
		"-blockfilterindex=1", "-fallbackfee=0.0002", auth(user), auth(guest), "-prometheus=" + w.metrics,
		"-rpcwhitelistdefault=0", "-rpcwhitelist=" + guest + ":getblockchaininfo,listsearches,getsearch,uptime",
	}, args...)})
	w.Get(nil, "createwallet", "miner")
	w.Get(nil, "createwallet", hostile)
	w.of("miner", &w.miner, "getnewaddress")
	w.mine(104) // the first coinbases can be spent
	var listed struct {
		Descriptors []struct {
			Desc     string
			Internal bool
		}
	}
	w.of(hostile, &listed, "listdescriptors")
	for _, d := range listed.Descriptors {
		if !d.Internal && strings.HasPrefix(d.Desc, "wpkh(") {
			w.desc = d.Desc
		}
	}
	if w.desc == "" {
		t.Fatal("the wallet has no descriptor for SegWit")
	}
	return w
}

// auth is the option that has a name log in with the tests' password.
func auth(name string) string {
	const salt = "00112233445566778899aabbccddeeff"
	mac := hmac.New(sha256.New, []byte(salt))
	mac.Write([]byte(password))
	return "-rpcauth=" + name + ":" + salt + "$" + hex.EncodeToString(mac.Sum(nil))
}

// of makes a call for a wallet.
func (w *world) of(wallet string, result any, method string, params ...any) {
	w.t.Helper()
	if err := w.CallWallet(w.t.Context(), wallet, result, method, params...); err != nil {
		w.t.Fatalf("%s: %v", method, err)
	}
}

func (w *world) mine(n int) {
	w.t.Helper()
	w.Get(nil, "generatetoaddress", n, w.miner)
}

// pay has the other wallet be paid in a block.
func (w *world) pay(amount string) {
	w.t.Helper()
	var address string
	w.of(hostile, &address, "getnewaddress", hostile)
	w.of("miner", nil, "sendtoaddress", address, amount)
	w.mine(1)
}

// spend has the other wallet pay in a block.
func (w *world) spend(amount string) {
	w.t.Helper()
	w.of(hostile, nil, "sendtoaddress", w.miner, amount)
	w.mine(1)
}

// page is the address of the node's page.
func (w *world) page() string { return "http://" + w.Addr + "/" }
