package wallets_test

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed61375155/trawl/internal/chaintest"
	"github.com/seed61375155/trawl/internal/enginetest"
	"github.com/seed61375155/trawl/internal/walletfile"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/store/walletdb"
)

// ofLoading are the words of the lines of a wallet that is made or loaded.
var ofLoading = []string{
	"Descriptors:", "Setting spkMan", "completed loading", "setKeyPool", "mapWallet", "m_address_book", "Last client",
}

// plain returns lines without what differs from run to run. It fails where a line has a descriptor or a key.
func plain(tb testing.TB, lines []string) []string {
	tb.Helper()
	id, took := regexp.MustCompile("[0-9a-f]{64}"), regexp.MustCompile("in [ 0-9]{14}[0-9]ms$")
	for i, line := range lines {
		if strings.ContainsAny(line, "#*<>") || strings.Contains(line, "pub") || strings.Contains(line, "prv") {
			tb.Errorf("a line has a descriptor or a key: %s", line)
		}
		lines[i] = took.ReplaceAllString(id.ReplaceAllString(line, "ID"), "in TIME")
	}
	return lines
}

// activeLines are the lines of the descriptors that give addresses of some types.
func activeLines(types ...string) []string {
	var lines []string
	for _, internal := range []string{"false", "true"} {
		for _, kind := range types {
			lines = append(lines, "[w] Setting spkMan to active: id = ID, type = "+kind+", internal = "+internal)
		}
	}
	return lines
}

func checkLines(tb testing.TB, what string, got []string, want ...[]string) {
	tb.Helper()
	if got, want := plain(tb, got), slices.Concat(want...); !slices.Equal(got, want) {
		tb.Errorf("%s: logged\n%s\nwant\n%s", what, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// The contents of a wallet are logged when it is made or loaded, in the reference's words.
func TestLoadIsLogged(t *testing.T) {
	chain := chaintest.New(enginetest.Regtest(t).Params)
	chain.MineN(3)
	var log logged
	r := newRig(t, chain, setup{keyPool: 2, noFilters: true, log: log.logger(t)})
	do(t, r.ref, messages.CreateWallet{Name: "w"})
	active := activeLines("legacy", "p2sh-segwit", "bech32", "bech32m")
	loaded := []string{"[w] Wallet completed loading in TIME"}
	sizes := func(pool, book string) []string {
		return []string{
			"[w] setKeyPool.size() = " + pool, "[w] mapWallet.size() = 0", "[w] m_address_book.size() = " + book,
		}
	}
	checkLines(t, "made", log.take(ofLoading...),
		[]string{"[w] Descriptors: 0, Descriptor Keys: 0 plaintext, 0 encrypted, 0 total."},
		active, loaded, sizes("16", "0"))
	do(t, r.wallet(t, "w"), messages.NewAddress{})
	do(t, r.ref, messages.UnloadWallet{Name: "w"})
	do(t, r.ref, messages.LoadWallet{Name: "w"})
	version := []string{"[w] Last client version = 300200"}
	checkLines(t, "loaded", log.take(ofLoading...), version,
		[]string{"[w] Descriptors: 8, Descriptor Keys: 1 plaintext, 0 encrypted, 1 total."},
		active, loaded, sizes("16", "1"))
	do(t, r.wallet(t, "w"), messages.EncryptWallet{Passphrase: messages.Secret("x")})
	checkLines(t, "encrypted", log.take(ofLoading...), active)
	do(t, r.ref, messages.UnloadWallet{Name: "w"})
	do(t, r.ref, messages.LoadWallet{Name: "w"})
	checkLines(t, "loaded encrypted", log.take(ofLoading...), version,
		[]string{"[w] Descriptors: 16, Descriptor Keys: 0 plaintext, 1 encrypted, 1 total."},
		active, loaded, sizes("16", "1"))
}

// The name of a wallet cannot begin a line of the log.
func TestNamesForgeNoLines(t *testing.T) {
	var log logged
	r := newRig(t, chaintest.New(enginetest.Regtest(t).Params), setup{keyPool: 2, noFilters: true, log: log.logger(t)})
	const name = "x\n2026-01-01T00:00:00Z [error] forged\r\x1b[2J"
	do(t, r.ref, messages.CreateWallet{Name: name})
	do(t, r.ref, messages.UnloadWallet{Name: name})
	do(t, r.ref, messages.LoadWallet{Name: name})
	lines := log.take("forged")
	if len(lines) == 0 {
		t.Error("nothing is logged")
	}
	for _, line := range lines {
		if !strings.Contains(line, `x\x0a2026-01-01T00:00:00Z [error] forged\x0d\x1b[2J`) {
			t.Errorf("logged %q", line)
		}
	}
}

// Wallets of P2MR keys tell of these keys too, and of an address that the chain does not have.
func TestP2MRLoadIsLogged(t *testing.T) {
	var log logged
	r := p2mrRig(t, setup{keyPool: 2, log: log.logger(t)})
	do(t, r.ref, messages.CreateWallet{Name: "w"})
	checkLines(t, "made", log.take("Descriptors:", "Setting spkMan", "setKeyPool"),
		[]string{
			"[w] Descriptors: 0, Descriptor Keys: 0 plaintext, 0 encrypted, 0 PQC plaintext, 0 PQC encrypted, 0 total.",
		},
		activeLines("p2mr"), []string{"[w] setKeyPool.size() = 4"})
	do(t, r.ref, messages.UnloadWallet{Name: "w"})
	name := walletfile.Name{Address: "foreign", Label: "x"}
	file, err := walletdb.Open(
		filepath.Join(r.dir, "w", walletdb.FileName), walletdb.Options{Magic: p2mrNetwork(t).Magic})
	if err != nil {
		t.Fatal(err)
	}
	err = file.Update(func(b *walletdb.Batch) error {
		return b.Put(walletfile.Record{Key: name.Key(), Value: name.Value()})
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	do(t, r.ref, messages.LoadWallet{Name: "w"})
	log.until(t, "PQC key validation")
	checkLines(t, "loaded", log.take("Descriptors:", "Skipping", "m_address_book", "PQC key validation"), []string{
		"[w] Descriptors: 2, Descriptor Keys: 1 plaintext, 0 encrypted, 2 PQC plaintext, 0 PQC encrypted, 3 total.",
		"[w] Skipping address book metadata for unsupported address 'foreign'",
		"[w] m_address_book.size() = 0",
		"[w] Plaintext PQC key validation completed in TIME",
	})
}

// Filling key pools in the background is logged when it begins and ends.
func TestKeyPoolsAreLogged(t *testing.T) {
	var log logged
	r := p2mrRig(t, setup{keyPool: 20, fill: time.Millisecond, log: log.logger(t)})
	do(t, r.ref, messages.CreateWallet{Name: "w"})
	log.until(t, "Deferred create-time")
	ref := r.wallet(t, "w")
	for range 4 {
		do(t, ref, messages.NewAddress{})
	}
	log.until(t, "refill completed")
	do(t, ref, messages.NewAddress{Change: true})
	checkLines(t, "pools", log.take("create-time", "low-watermark"), []string{
		"[w] Deferred create-time keypool top up completed in TIME",
		"[w] P2MR receive keypool reached low-watermark; scheduling background refill " +
			"(descriptor id ID, remaining=16, low_watermark=16)",
		"[w] P2MR receive keypool low-watermark refill completed in TIME",
	})
}
