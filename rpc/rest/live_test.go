package rest_test

import (
	"encoding/hex"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/internal/differ"
)

// TestLiveREST holds every endpoint, in every format, against Bitcoin Core with the same chain
// and pool.
func TestLiveREST(t *testing.T) {
	args := []string{"-rest", "-blockfilterindex=1", "-txindex=1", "-acceptnonstdtxn=1"}
	p := differ.Start(t, differ.Config{Args: args})
	ctx := t.Context()
	var hashes []string
	if err := p.Core.Call(ctx, &hashes, "generatetodescriptor", 105, "raw(51)"); err != nil {
		t.Fatal(err)
	}
	share := func(hashes []string) {
		for _, hash := range hashes {
			var block string
			if err := p.Core.Call(ctx, &block, "getblock", hash, 0); err != nil {
				t.Fatal(err)
			}
			if err := p.Trawl.Call(ctx, nil, "submitblock", block); err != nil {
				t.Fatal(err)
			}
		}
	}
	share(hashes)
	send := func(from string) string {
		var block struct{ Tx []string }
		var raw, txid string
		if err := p.Core.Call(ctx, &block, "getblock", from, 1); err != nil {
			t.Fatal(err)
		}
		inputs := []any{map[string]any{"txid": block.Tx[0], "vout": 0}}
		outputs := []any{map[string]any{"bcrt1qs758ursh4q9z627kt3pp5yysm78ddny6txaqgw": 49.99}}
		if err := p.Core.Call(ctx, &raw, "createrawtransaction", inputs, outputs); err != nil {
			t.Fatal(err)
		}
		if err := p.Core.Call(ctx, &txid, "sendrawtransaction", raw, 0); err != nil {
			t.Fatal(err)
		}
		if err := p.Trawl.Call(ctx, nil, "sendrawtransaction", raw, 0); err != nil {
			t.Fatal(err)
		}
		return txid + " " + block.Tx[0]
	}
	confirmed, spent, _ := strings.Cut(send(hashes[0]), " ")
	var more []string
	if err := p.Core.Call(ctx, &more, "generatetodescriptor", 1, "raw(51)"); err != nil {
		t.Fatal(err)
	}
	share(more)
	waiting, waitingSpends, _ := strings.Cut(send(hashes[1]), " ")
	tip, genesis := more[0], "0f9188f13cb7b2c71f2a335e3a4fc328bf5beb436012afca590b1a11466e2206"
	compare := func(target, ending string, body []byte) {
		t.Helper()
		path := "/rest/" + target + ending
		theirs, err := p.Core.Post(ctx, path, body)
		if err != nil {
			t.Fatal(path, err)
		}
		ours, err := p.Trawl.Post(ctx, path, body)
		if err != nil {
			t.Fatal(path, err)
		}
		if ours.Status != theirs.Status || ours != theirs && !differsByNature(target) {
			t.Errorf("%s with %q:\ngot  %d %.600q\nwant %d %.600q",
				path, body, ours.Status, ours.Body, theirs.Status, theirs.Body)
		}
	}
	var targets []string
	for _, hash := range []string{tip, hashes[3], genesis, unknown, "abc", ""} {
		for _, endpoint := range []string{
			"block/", "block/notxdetails/", "headers/", "headers/3/", "blockfilter/basic/", "blockfilter/x/",
			"blockfilterheaders/basic/", "blockfilterheaders/basic/2/", "spenttxouts/", "deploymentinfo/", "tx/",
		} {
			targets = append(targets, endpoint+hash)
		}
	}
	for _, txid := range []string{confirmed, spent, waiting, waitingSpends} {
		targets = append(targets, "tx/"+txid, "getutxos/"+txid+"-0", "getutxos/checkmempool/"+txid+"-0/"+confirmed+"-0",
			"getutxos/"+txid+"-", "getutxos/"+txid)
	}
	targets = append(targets, "chaininfo", "deploymentinfo", "mempool/info", "mempool/contents", "mempool/",
		"getutxos", "getutxos/", "getutxos/checkmempool", "nothing", "blockhashbyheight/0", "blockhashbyheight/106",
		"blockhashbyheight/107", "blockhashbyheight/-1", "blockhashbyheight/-0", "blockhashbyheight/", "headers/a/b/c",
		"blockfilter/", "spenttxouts/a/b", "headers/0/"+tip, "headers/2001/"+tip, "headers/2000/"+hashes[0],
		"headers/01/"+tip, "headers/+1/"+tip, "headers/-1/"+tip, "headers/ 1/"+tip, "headers//"+tip,
		"headers/"+tip+"/", "blockfilterheaders/basic/2001/"+tip, "blockfilterheaders/x/2/"+tip,
		"blockfilterheaders/"+tip, "blockfilter/basic/"+tip+"/x", "block/"+strings.ToUpper(tip),
		"tx/"+strings.ToUpper(confirmed),
		"tx/"+confirmed+"0", "tx/0x"+confirmed, "block/"+tip+"/x", "block//"+tip, "block", "tx", "headers",
		"chaininfo/", "chaininfox", "mempool", "mempool/info/x", "mempool/contents/", "deploymentinfox",
		"deploymentinfo/"+tip+"/x", "spenttxouts", "spenttxouts/", "blockhashbyheight", "blockhashbyheight/1/2",
		"blockhashbyheight/0x1", "blockhashbyheight/ 1", "blockhashbyheight/1e1", "blockhashbyheight/2147483648",
		"blockhashbyheight/%31", "blockhashbyheight/001", "getutxosx", "getutxos/"+confirmed+"-00",
		"getutxos/"+confirmed+"-0-0", "getutxos/"+confirmed+"-4294967295", "getutxos/"+confirmed+"-4294967296",
		"getutxos//"+confirmed+"-0", "getutxos/checkmempool/checkmempool/"+confirmed+"-0",
		"getutxos/"+confirmed+"-0/", "getutxos/"+confirmed+"%2D0",
		"getutxos"+strings.Repeat("/"+confirmed+"-0", 15),
		"getutxos"+strings.Repeat("/"+confirmed+"-0", 16), "/tx/"+confirmed, "%74x/"+confirmed)
	queries := []string{
		"", "?count=2", "?count=0", "?count", "?count=2&count=x", "?verbose=false", "?verbose=x",
		"?verbose=false&mempool_sequence=true", "?mempool_sequence=true", "?count=%32", "?a&count=2",
	}
	for _, target := range targets {
		for _, ending := range []string{".json", ".hex", ".bin", "", ".", ".x"} {
			for i, query := range queries {
				queried := strings.HasPrefix(target, "headers/"+tip) || strings.HasPrefix(target, "mempool/contents")
				if i > 0 && !queried {
					continue
				}
				compare(target, ending+query, nil)
			}
		}
	}
	id, err := chainhash.NewHashFromStr(confirmed)
	if err != nil {
		t.Fatal(err)
	}
	out := string(id[:]) + "\x00\x00\x00\x00"
	for _, body := range []string{
		"", "\x00", "\x01", "\x00\x00", "\x01" + out, "\x01\x01" + out, "\x00\x01" + out, "\xff\x01" + out,
		"\x02" + out, "\x02" + out + out, "\x01" + out + "more", "\x01" + out[:35], "\xfd\x01\x00" + out,
		"\x06" + strings.Repeat(out, 6), "\x07" + strings.Repeat(out, 7), "\x0f" + strings.Repeat(out, 15),
		"\x10" + strings.Repeat(out, 16), "\xfd", "\xff\xff\xff\xff\xff\xff\xff\xff\xff", "zz", "0", "01 01", "[]",
		"\x01" + out[:32] + "\xff\xff\xff\xff", strings.Repeat(out, 15)[:526], strings.Repeat(out, 22)[:784],
	} {
		digits := hex.EncodeToString([]byte(body))
		for _, target := range []string{
			"getutxos", "getutxos/", "getutxos/checkmempool", "getutxos/" + confirmed + "-0", "chaininfo",
		} {
			for _, ending := range []string{".bin", ".hex", ".json", ""} {
				for _, sent := range []string{body, digits, strings.ToUpper(digits) + "\n"} {
					compare(target, ending, []byte(sent))
				}
			}
		}
	}
	p.Alive()
}

// differsByNature reports whether a reply tells of the node itself: its files, its memory, its
// clock.
func differsByNature(target string) bool {
	return strings.HasPrefix(target, "chaininfo") || strings.HasPrefix(target, "mempool/")
}
