package wallet_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/seed61375155/trawl/internal/dialect"
	"github.com/seed61375155/trawl/internal/e2e/replay"
	"github.com/seed61375155/trawl/internal/wallet"
	"github.com/seed61375155/trawl/internal/walletfile"
)

// recording is the content of testdata/wallets.json.gz. It has the records of
// backups that Bitcoin Core 30.2 made on the chain of testdata/chain.blk.gz, and
// the answers of a fresh node that had restored the backups.
type recording struct {
	Wallets     map[string][][2][]byte `json:"wallets"` // key and value
	Passphrases map[string]string      `json:"passphrases"`
	Cases       []recordedCase         `json:"cases"`
}

type recordedCase struct {
	Name   string          `json:"name"`
	Wallet string          `json:"wallet"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Raw    string          `json:"raw"`    // the whole response
	Ignore []string        `json:"ignore"` // parts that are not compared
	Tags   []string        `json:"tags"`
}

func readRecording(tb testing.TB) *recording {
	tb.Helper()
	r := new(recording)
	if err := json.Unmarshal(unzip("testdata/wallets.json.gz"), r); err != nil {
		tb.Fatal(err)
	}
	return r
}

func (r *recording) records(name string) []walletfile.Record {
	records := make([]walletfile.Record, len(r.Wallets[name]))
	for i, row := range r.Wallets[name] {
		records[i] = walletfile.Record{Key: row[0], Value: row[1]}
	}
	return records
}

func regtest(tb testing.TB, name string) wallet.Params {
	tb.Helper()
	n, err := dialect.Bitcoin("regtest")
	if err != nil {
		tb.Fatal(err)
	}
	return wallet.ParamsOf(n, name, 1000)
}

// TestRecorded restores the backups and asks what was asked of Core. Answers
// that depend on the mempool are left out.
func TestRecorded(t *testing.T) {
	r := readRecording(t)
	byWallet := make(map[string][]recordedCase)
	for _, c := range r.Cases {
		if c.Wallet != "" {
			name := strings.TrimPrefix(c.Wallet, "r-")
			byWallet[name] = append(byWallet[name], c)
		}
	}
	for name, cases := range byWallet {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := testOpen(t, r.records(name), regtest(t, "r-"+name), recordedChain())
			attach(w, recordedChain(), false)
			p := &player{wallet: w, chain: recordedChain(), params: regtest(t, "r-"+name)}
			for _, c := range cases {
				if !slices.Contains(c.Tags, "mempool") {
					p.play(t, c)
				}
			}
			if p.played < 20 {
				t.Errorf("only %d answers compared", p.played)
			}
		})
	}
}

// play compares one answer with the recorded one.
func (p *player) play(t *testing.T, c recordedCase) {
	t.Helper()
	got, err := p.call(c)
	if errors.Is(err, errSkip) {
		return
	}
	p.played++
	if later, ok := replay.LaterAnswer(c.Name); ok {
		c.Raw = later.Response
	}
	want := decode(t, []byte(c.Raw)).(map[string]any)
	answer := map[string]any{"result": got, "error": nil}
	if err != nil {
		answer = map[string]any{"error": errorObject(err)}
	}
	raw, marshalErr := json.Marshal(answer)
	if marshalErr != nil {
		t.Fatal(marshalErr)
	}
	have := decode(t, raw).(map[string]any)
	for _, key := range []string{"result", "error"} {
		wanted, given := strip(want[key], "/"+key, c.Ignore), strip(have[key], "/"+key, c.Ignore)
		compare(t, c.Name+" "+string(c.Params)+": "+key, given, wanted)
	}
}

func decode(t *testing.T, raw []byte) any {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		t.Fatal(err)
	}
	return v
}

// ignored are members that depend on the clock, or that the wallet does not
// tell of itself.
var ignored = []string{"timereceived", "unlocked_until", "paytxfee", "scanning"}

// strip drops what is not compared.
func strip(v any, path string, ignore []string) any {
	switch v := v.(type) {
	case map[string]any:
		kept := make(map[string]any)
		for name, member := range v {
			if !slices.Contains(ignored, name) && !slices.Contains(ignore, path+"/"+name) {
				kept[name] = strip(member, path+"/"+name, ignore)
			}
		}
		return kept
	case []any:
		kept := make([]any, len(v))
		for i, element := range v {
			kept[i] = strip(element, path+"/*", ignore)
		}
		unspent := len(kept) > 0 && strings.Contains(fmt.Sprint(kept[0]), "spendable")
		if strings.HasSuffix(path, "/txids") || strings.HasSuffix(path, "/parent_descs") || unspent {
			slices.SortFunc(kept, func(a, b any) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
		}
		return kept
	}
	return v
}

// compare reports the first difference of two values.
func compare(t *testing.T, path string, got, want any) {
	t.Helper()
	switch want := want.(type) {
	case map[string]any:
		object, ok := got.(map[string]any)
		if !ok {
			t.Errorf("%s: got %v, want %v", path, got, want)
			return
		}
		for name := range want {
			compare(t, path+"/"+name, object[name], want[name])
		}
		for name := range object {
			if _, ok := want[name]; !ok {
				t.Errorf("%s: unexpected %s: %v", path, name, object[name])
			}
		}
	case []any:
		list, ok := got.([]any)
		if !ok || len(list) != len(want) {
			t.Errorf("%s: got %v, want %v", path, got, want)
			return
		}
		for i := range want {
			compare(t, fmt.Sprintf("%s/%d", path, i), list[i], want[i])
		}
	default:
		if got != want {
			t.Errorf("%s: got %v, want %v", path, got, want)
		}
	}
}
