package differ_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/internal/differ"
)

// TestWallets compares wallets that are made, loaded, imported into, paid, spent
// from, encrypted and reorganised by chance. Their keys are imported, so that both
// nodes have the same.
func TestWallets(t *testing.T) {
	config := differ.Config{Args: []string{"-keypool=3", "-fallbackfee=0.0001", "-acceptnonstdtxn=1"}}
	p := differ.Start(t, config, append(walletExceptions(), madeByChance)...)
	w := &walletPlay{keys: keys{differ.Random(t)}, p: p, t: t, now: 1_700_000_000, dir: t.TempDir()}
	w.begin()
	for left := differ.Cases(t, 3000); left > 0; left -= w.round() {
		if len(w.names) == 0 {
			w.create()
		}
	}
	p.Alive()
}

// walletExceptions are the differences of wallets that are there on purpose.
func walletExceptions() []differ.Exception {
	reply := func(r differ.Reply) string { return r.String() }
	return []differ.Exception{
		{
			Reason: "paths in texts are those of each node's directory",
			Is: func(_ differ.Call, got differ.Replies) bool {
				return strings.Contains(reply(got.Trawl), "/regtest/wallets") &&
					afterPath(reply(got.Trawl)) == afterPath(reply(got.Core))
			},
		},
		{
			Reason: "the fingerprint of an x-only key that came as a private key: Core forgets its sign when the wallet is loaded again",
			Is: func(_ differ.Call, got differ.Replies) bool {
				return withoutFingerprints(got.Trawl) == withoutFingerprints(got.Core)
			},
		},
		{
			Reason: "unlocked_until after walletpassphrasechange with a wrong passphrase, which locks: Core goes on telling the old time",
			Is: func(c differ.Call, got differ.Replies) bool {
				return c.Method == "getwalletinfo" && strings.Contains(reply(got.Trawl), `"unlocked_until":0,`) &&
					unlocked.ReplaceAllString(reply(got.Core), `"unlocked_until":0,`) == reply(got.Trawl)
			},
		},
		{
			Reason: "private keys of a wallet with keys of others: Core 30 fails, later versions tell what is there",
			Is: func(c differ.Call, got differ.Replies) bool {
				core := reply(got.Core)
				told := got.Trawl.OK() || strings.Contains(reply(got.Trawl), "string for watch-only wallets")
				return c.Method == "gethdkeys" && got.Trawl.OK() && strings.Contains(core, "map::at") ||
					c.Method == "listdescriptors" && told && strings.Contains(core, "Can't get descriptor string.")
			},
		},
		{
			Reason: "sets that Core prints in the order of its hashes",
			Is: func(c differ.Call, got differ.Replies) bool {
				return sortedText(c.Method, got.Trawl) == sortedText(c.Method, got.Core)
			},
		},
		{
			Reason: "such sets, with such fingerprints in them",
			Is: func(c differ.Call, got differ.Replies) bool {
				if !got.Trawl.OK() || !got.Core.OK() {
					return false
				}
				plain := func(r differ.Reply) string {
					return sortedText(c.Method, differ.Reply{Result: json.RawMessage(withoutFingerprints(r))})
				}
				return plain(got.Trawl) == plain(got.Core)
			},
		},
	}
}

var (
	unlocked = regexp.MustCompile(`"unlocked_until":\d+,`)

	// xOnlyOrigin is the fingerprint before an x-only key, and what tells what follows.
	xOnlyOrigin = regexp.MustCompile(`\[[0-9a-f]{8}\]([0-9a-f]{64}[^0-9a-f])`)
	checksum    = regexp.MustCompile(`#[a-z0-9]{8}"`)
	ofMaster    = regexp.MustCompile(`"hdmasterfingerprint":"[0-9a-f]{8}"`)
)

func withoutFingerprints(r differ.Reply) string {
	return ofMaster.ReplaceAllString(checksum.ReplaceAllString(xOnlyOrigin.ReplaceAllString(r.String(), "$1"), `"`), "")
}

// afterPath leaves out what stands before the directory of wallets.
func afterPath(text string) string {
	for {
		at := strings.Index(text, "/regtest/wallets")
		if at < 0 {
			return text
		}
		from := strings.LastIndexAny(text[:at], "'\" [(") + 1
		text = text[:from] + "DIR" + text[at+len("/regtest/wallets"):]
	}
}

// sortedText is a reply with the members sorted whose order means nothing.
func sortedText(method string, r differ.Reply) string {
	if !r.OK() {
		return r.String()
	}
	var tree any
	if err := json.Unmarshal(r.Result, &tree); err != nil {
		return err.Error()
	}
	sortSets(tree)
	if list, ok := tree.([]any); ok && method == "listunspent" {
		sortSet(list)
	}
	text, err := json.Marshal(tree)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

func sortSets(tree any) {
	switch value := tree.(type) {
	case []any:
		for _, element := range value {
			sortSets(element)
		}
	case map[string]any:
		for name, member := range value {
			list, ok := member.([]any)
			sortSets(member)
			if ok && slices.Contains([]string{"parent_descs", "txids", "walletconflicts", "mempoolconflicts", "transactions", "removed"}, name) {
				sortSet(list)
			}
		}
	}
}

func sortSet(list []any) {
	slices.SortFunc(list, func(a, b any) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
}

// walletPlay keeps what there is to ask about.
type walletPlay struct {
	keys

	p         *differ.Pair
	t         *testing.T
	now       int64
	dir       string // of backups
	number    int
	names     []string // of loaded wallets
	unloaded  []string
	phrases   map[string]string // of encrypted wallets
	addresses []string
	txids     []string
	raws      []string // transactions that were made of coins
	blocks    []string
	invalid   []string
	descs     []string // imported
}

// unspent is an element of listunspent.
type unspent struct {
	TxID   string  `json:"txid"`
	Vout   int     `json:"vout"`
	Amount float64 `json:"amount"`
}

func (w *walletPlay) begin() {
	w.phrases = map[string]string{}
	w.clock()
	w.mine(w.faucet(), 110)
}

// faucet is an address that nobody looks at.
func (*walletPlay) faucet() string { return "bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080" }

func (w *walletPlay) clock() {
	w.now += 1 + w.Int64N(600)
	w.send(differ.Call{Method: "setmocktime", Params: []any{w.now}})
}

func (w *walletPlay) send(calls ...differ.Call) []differ.Replies {
	w.t.Helper()
	return w.p.Send(calls...)
}

// settle waits until the wallets of both have heard of everything: what they do not
// know an address of yet they see when a block comes a second time.
func (w *walletPlay) settle() {
	w.t.Helper()
	for _, name := range w.names {
		if err := w.p.Trawl.CallWallet(w.t.Context(), name, nil, "getwalletinfo"); err != nil {
			w.t.Fatal(err)
		}
	}
	if err := w.p.Core.Call(w.t.Context(), nil, "syncwithvalidationinterfacequeue"); err != nil {
		w.t.Fatal(err)
	}
}

func (w *walletPlay) mine(address string, n int) {
	got := w.send(differ.Call{Method: "generatetoaddress", Params: []any{n, address}})
	var hashes []string
	if json.Unmarshal(got[0].Core.Result, &hashes) == nil {
		w.blocks = append(w.blocks, hashes...)
	}
	w.settle()
}

func pick[T any](r *rand.Rand, list []T, otherwise T) T {
	if len(list) == 0 {
		return otherwise
	}
	return list[r.IntN(len(list))]
}

func (w *walletPlay) wallet() string { return pick(w.Rand, w.names, "none") }
func (w *walletPlay) address() string {
	if w.IntN(30) == 0 {
		return pick(w.Rand, []string{"", "x", "bcrt1", "mipcBbFg9gMiCh81Kj8tqqdgoZub1ZJRfn"}, "")
	}
	return pick(w.Rand, w.addresses, w.faucet())
}

// round makes some calls and returns how many.
func (w *walletPlay) round() int {
	w.t.Helper()
	before := w.number
	switch w.IntN(44) {
	case 0:
		w.create()
	case 1:
		w.unload()
	case 2:
		w.load()
	case 3:
		w.backup()
	case 4, 5, 6, 7, 8, 9:
		w.importSome()
	case 10, 11, 12, 13:
		w.mine(w.address(), 1+w.IntN(3))
	case 14, 15:
		w.reorganise()
	case 16, 17, 18:
		w.lockUp()
	case 19, 20, 21, 22, 23, 24:
		w.spend()
	case 25:
		w.mine(w.faucet(), 50)
	case 26, 27, 28:
		w.newAddresses()
	case 29, 30, 31, 32:
		w.funds()
	default:
	}
	w.clock()
	return 2 + w.number - before + w.look()
}

func (w *walletPlay) create() {
	w.number++
	name := fmt.Sprintf("w%d", w.number)
	got := w.send(differ.Call{Method: "createwallet", Params: []any{name, w.IntN(3) == 0, true, "", w.IntN(4) == 0}})
	if got[0].Core.OK() {
		w.names = append(w.names, name)
		if w.IntN(3) > 0 {
			w.importStandard(name)
		}
	}
}

// importStandard makes a wallet's standard descriptors of a key by chance.
func (w *walletPlay) importStandard(name string) {
	key := w.extendedMaster()
	var items []any
	for i, form := range []string{
		"pkh(%s/44h/1h/0h/%d/*)", "sh(wpkh(%s/49h/1h/0h/%d/*))", "wpkh(%s/84h/1h/0h/%d/*)",
		"tr(%s/86h/1h/0h/%d/*)",
	} {
		for internal := range 2 {
			desc := descriptor.AddChecksum(fmt.Sprintf(form, key, internal))
			items = append(items, map[string]any{
				"desc": desc, "timestamp": w.timestamp(), "active": i > 0 || w.IntN(3) > 0, "internal": internal == 1,
				"range": 3 + w.IntN(3),
			})
		}
	}
	w.send(differ.Call{Method: "importdescriptors", Params: []any{items}, Wallet: name})
	w.newAddresses()
}

func (w *walletPlay) extendedMaster() string {
	for {
		if key := w.extended(); strings.HasPrefix(key, "tprv") {
			key, _, _ = strings.Cut(key, "/")
			return key
		}
	}
}

func (w *walletPlay) timestamp() any {
	switch w.IntN(5) {
	case 0:
		return "now"
	case 1:
		return w.now - w.Int64N(100_000)
	default:
		return w.IntN(2)
	}
}

func (w *walletPlay) unload() {
	name := w.wallet()
	got := w.send(differ.Call{Method: "unloadwallet", Params: []any{name}})
	if got[0].Core.OK() {
		w.names = slices.DeleteFunc(w.names, func(n string) bool { return n == name })
		w.unloaded = append(w.unloaded, name)
	}
}

func (w *walletPlay) load() {
	name := pick(w.Rand, w.unloaded, "none")
	if w.IntN(5) == 0 {
		name = w.wallet()
	}
	got := w.send(differ.Call{Method: "loadwallet", Params: []any{name}})
	if got[0].Core.OK() {
		w.unloaded = slices.DeleteFunc(w.unloaded, func(n string) bool { return n == name })
		w.names = append(w.names, name)
	}
}

// backup saves a wallet of both and restores it under another name, on each node
// the copy of the other.
func (w *walletPlay) backup() {
	name := w.wallet()
	w.number++
	trawl, core := filepath.Join(
		w.dir, fmt.Sprint("trawl", w.number),
	), filepath.Join(w.dir, fmt.Sprint("core", w.number))
	if w.p.Trawl.CallWallet(w.t.Context(), name, nil, "backupwallet", trawl) != nil ||
		w.p.Core.CallWallet(w.t.Context(), name, nil, "backupwallet", core) != nil {
		return
	}
	w.number++
	restored := fmt.Sprintf("r%d", w.number)
	shared := filepath.Join(w.dir, fmt.Sprint("shared", w.number))
	from := trawl
	if w.IntN(2) == 0 {
		from = core
	}
	if err := os.Rename(from, shared); err != nil {
		w.t.Fatal(err)
	}
	got := w.send(differ.Call{Method: "restorewallet", Params: []any{restored, shared}})
	if got[0].Core.OK() {
		w.names = append(w.names, restored)
		if phrase, ok := w.phrases[name]; ok {
			w.phrases[restored] = phrase
		}
	}
}

func (w *walletPlay) importSome() {
	d := descriptors{w.keys}
	var items []any
	var texts []string
	for range 1 + w.IntN(4) {
		text := d.top()
		if w.IntN(4) == 0 && len(w.descs) > 0 {
			text = pick(w.Rand, w.descs, "")
		}
		if w.IntN(40) == 0 {
			text = d.damage(text)
		}
		if sum, ok := descriptor.Checksum(text); ok && w.IntN(40) != 0 {
			text += "#" + sum
		}
		item := map[string]any{"desc": text, "timestamp": w.timestamp()}
		if w.IntN(3) == 0 {
			item["active"] = w.IntN(2) == 0
		}
		if w.IntN(3) == 0 {
			item["internal"] = w.IntN(2) == 0
		}
		if w.IntN(4) == 0 {
			item["range"] = pick(w.Rand, []any{2, []int{0, 3}, []int{2, 4}, []int{3, 1}, -1}, nil)
		}
		if w.IntN(5) == 0 {
			item["next_index"] = w.IntN(5)
		}
		if w.IntN(4) == 0 {
			item["label"] = pick(w.Rand, []string{"one", "two", "", "*"}, "")
		}
		items, texts = append(items, item), append(texts, text)
	}
	name := w.wallet()
	got := w.send(differ.Call{Method: "importdescriptors", Params: []any{items}, Wallet: name})
	var results []struct{ Success bool }
	if json.Unmarshal(got[0].Core.Result, &results) != nil {
		return
	}
	for i, r := range results {
		if r.Success && i < len(texts) {
			body, _, _ := strings.Cut(texts[i], "#")
			w.descs = append(w.descs, body)
			w.derive(body)
		}
	}
}

// derive notes addresses of a descriptor.
func (w *walletPlay) derive(body string) {
	params := []any{descriptor.AddChecksum(body)}
	if strings.Contains(body, "*") {
		params = append(params, 4)
	}
	got := w.send(differ.Call{Method: "deriveaddresses", Params: params})
	var lists any
	if json.Unmarshal(got[0].Core.Result, &lists) == nil {
		w.noteAddresses(lists)
	}
}

func (w *walletPlay) noteAddresses(tree any) {
	switch value := tree.(type) {
	case string:
		w.addresses = append(w.addresses, value)
	case []any:
		for _, element := range value {
			w.noteAddresses(element)
		}
	}
}

func (w *walletPlay) newAddresses() {
	name := w.wallet()
	var calls []differ.Call
	for range 3 {
		kind := pick(w.Rand, []string{"legacy", "p2sh-segwit", "bech32", "bech32m", "x"}, "")
		switch w.IntN(3) {
		case 0:
			calls = append(calls, differ.Call{Method: "getrawchangeaddress", Params: []any{kind}, Wallet: name})
		case 1:
			calls = append(calls, differ.Call{Method: "getnewaddress", Wallet: name})
		default:
			label := pick(w.Rand, []string{"one", "two", "", "*", "ü"}, "")
			calls = append(calls, differ.Call{Method: "getnewaddress", Params: []any{label, kind}, Wallet: name})
		}
	}
	for _, r := range w.send(calls...) {
		var address string
		if json.Unmarshal(r.Core.Result, &address) == nil && address != "" {
			w.addresses = append(w.addresses, address)
		}
	}
}

func (w *walletPlay) reorganise() {
	if len(w.blocks) < 130 {
		return
	}
	if len(w.invalid) > 0 && w.IntN(2) == 0 {
		w.send(differ.Call{Method: "reconsiderblock", Params: []any{w.invalid[0]}})
		w.invalid = w.invalid[1:]
		w.settle()
		return
	}
	block := w.blocks[len(w.blocks)-1-w.IntN(5)]
	w.send(differ.Call{Method: "invalidateblock", Params: []any{block}})
	w.settle()
	w.invalid = append(w.invalid, block)
	w.blocks = w.blocks[:slices.Index(w.blocks, block)]
	w.clock()
	w.mine(w.address(), 6) // more work than what was left
}

func (w *walletPlay) lockUp() {
	name := w.wallet()
	phrase := w.phrases[name]
	if phrase == "" && w.IntN(3) == 0 {
		got := w.send(differ.Call{Method: "encryptwallet", Params: []any{"secret"}, Wallet: name})
		if got[0].Core.OK() {
			w.phrases[name] = "secret"
		}
		return
	}
	switch w.IntN(5) {
	case 0:
		w.send(differ.Call{Method: "walletlock", Wallet: name})
	case 1:
		fresh := pick(w.Rand, []string{"secret", "other", ""}, "")
		got := w.send(differ.Call{Method: "walletpassphrasechange", Params: []any{phrase, fresh}, Wallet: name})
		if got[0].Core.OK() {
			w.phrases[name] = fresh
		}
	case 2:
		w.send(differ.Call{Method: "walletpassphrase", Params: []any{"wrong", 1000}, Wallet: name})
	default:
		w.send(differ.Call{Method: "walletpassphrase", Params: []any{phrase, 100_000_000}, Wallet: name})
	}
}

// spend makes transactions that spend a wallet's outputs, signs them with that
// wallet or another, and sends some.
func (w *walletPlay) spend() {
	name := w.wallet()
	got := w.send(differ.Call{Method: "listunspent", Params: []any{0}, Wallet: name})
	var coins []unspent
	if json.Unmarshal(got[0].Core.Result, &coins) != nil || len(coins) == 0 {
		return
	}
	var inputs []any
	sum := 0.0
	for range 1 + w.IntN(3) {
		c := pick(w.Rand, coins, unspent{})
		inputs = append(inputs, map[string]any{
			"txid": c.TxID, "vout": c.Vout, "sequence": []int{0xfffffffd, 1, 17}[w.IntN(3)],
		})
		sum += c.Amount
	}
	to := w.address()
	got = w.send(differ.Call{Method: "createrawtransaction", Params: []any{
		inputs, []any{map[string]any{to: fmt.Sprintf("%.8f", sum*0.9)}}, w.IntN(2) * 100,
	}})
	var raw string
	if json.Unmarshal(got[0].Core.Result, &raw) != nil || raw == "" {
		return
	}
	w.raws = append(w.raws, raw)
	params := []any{raw}
	if w.IntN(4) == 0 {
		params = append(params, []any{}, pick(w.Rand, []string{"ALL", "NONE", "SINGLE|ANYONECANPAY", "DEFAULT", "x"}, ""))
	}
	got = w.send(differ.Call{Method: "signrawtransactionwithwallet", Params: params, Wallet: pick(
		w.Rand, []string{name, name, name, w.wallet()}, "",
	)})
	var signed struct {
		Hex      string
		Complete bool
	}
	if json.Unmarshal(got[0].Core.Result, &signed) != nil || !signed.Complete || w.IntN(3) == 0 {
		return
	}
	got = w.send(differ.Call{Method: "sendrawtransaction", Params: []any{signed.Hex, 0}})
	var id string
	if json.Unmarshal(got[0].Core.Result, &id) == nil && id != "" {
		w.txids = append(w.txids, id)
	}
	w.settle()
}

// look asks what changes nothing, and returns how often.
func (w *walletPlay) look() int {
	const asked = 30
	name := w.wallet()
	calls := make([]differ.Call, asked)
	for i := range calls {
		calls[i] = w.question()
		calls[i].Wallet = name
	}
	for i, r := range w.send(calls...) {
		if calls[i].Method != "listtransactions" {
			continue
		}
		var list []struct{ TxID string }
		if json.Unmarshal(r.Core.Result, &list) == nil {
			for _, tx := range list {
				if !slices.Contains(w.txids, tx.TxID) {
					w.txids = append(w.txids, tx.TxID)
				}
			}
		}
	}
	return asked
}

func (w *walletPlay) question() differ.Call {
	yes := func() bool { return w.IntN(2) == 0 }
	label := pick(w.Rand, []string{"one", "two", "", "*", "none"}, "")
	depth := w.IntN(4)
	switch w.IntN(26) {
	case 24:
		return differ.Call{Method: "listaddressgroupings"}
	case 25:
		return w.simulate()
	case 0:
		return differ.Call{Method: "listreceivedbyaddress", Params: []any{depth, yes(), yes()}}
	case 1:
		return differ.Call{Method: "listreceivedbylabel", Params: []any{depth, yes(), yes(), yes()}}
	case 2:
		return differ.Call{Method: "listreceivedbyaddress", Params: []any{depth, yes(), yes(), w.address(), yes()}}
	case 3:
		return differ.Call{Method: "getreceivedbyaddress", Params: []any{w.address(), depth, yes()}}
	case 4:
		return differ.Call{Method: "getreceivedbylabel", Params: []any{label, depth, yes()}}
	case 5, 6:
		return differ.Call{Method: "listtransactions", Params: []any{
			pick(w.Rand, []string{"*", "one", ""}, ""), 1 + w.IntN(30), w.IntN(5),
		}}
	case 7:
		return differ.Call{Method: "listunspent", Params: []any{depth, 9999, []string{}, yes()}}
	case 8:
		return differ.Call{Method: "listunspent", Params: []any{depth, 9999, []string{w.address()}}}
	case 9:
		return differ.Call{Method: "getbalances"}
	case 10:
		return differ.Call{Method: "getbalance", Params: []any{"*", depth, yes(), yes()}}
	case 11:
		return differ.Call{Method: "listsinceblock", Params: []any{
			pick(w.Rand, append(w.invalid, w.blocks[len(w.blocks)-3]), ""), 1 + depth, yes(), yes(), yes(),
		}}
	case 12, 13:
		return differ.Call{
			Method: "gettransaction", Params: []any{pick(w.Rand, w.txids, strings.Repeat("00", 32)), yes(), yes()},
		}
	case 14:
		return differ.Call{Method: "listlabels", Params: []any{pick(w.Rand, []string{"", "send", "receive"}, "")}}
	case 15:
		return differ.Call{Method: "getaddressesbylabel", Params: []any{label}}
	case 16:
		return differ.Call{Method: "listdescriptors", Params: []any{w.IntN(4) == 0}}
	case 17:
		return differ.Call{
			Method: "gethdkeys", Params: []any{map[string]any{"active_only": yes(), "private": w.IntN(4) == 0}},
		}
	case 18:
		return differ.Call{Method: "getwalletinfo"}
	case 19:
		return differ.Call{Method: "setlabel", Params: []any{w.address(), label}}
	default:
		return differ.Call{Method: "getaddressinfo", Params: []any{w.address()}}
	}
}
