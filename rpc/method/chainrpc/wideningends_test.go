package chainrpc_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/internal/chaintest"
	"github.com/seed61375155/trawl/messages"
)

// gapObject is a scan object with a gap.
const gapObject = `{"desc":"wpkh(` + testKey + `/0/*)","range":3,"gap":50}`

// TestWideningAbortedBetween aborts a scan while its only pass is answered: what was found is not taken, and there is
// no receipt.
func TestWideningAbortedBetween(t *testing.T) {
	for _, uses := range [][]uint32{nil, {0}} {
		r := newRig(t, "regtest")
		r.chain.MineN(9)
		done := r.start("scanblocks", `["start",[`+gapObject+`],0,null,"basic",{"receipt":true}]`)
		aborted := make(chan struct{})
		r.reserve(aborted)
		call := r.expectRun()
		close(aborted)
		answer := messages.ScanResult{To: 9, Completed: true}
		if uses != nil {
			answer.Blocks, answer.Uses = []chainhash.Hash{r.chain.Active().At(3).Hash}, [][]uint32{uses}
		}
		call.Answer(answer, nil)
		if release := expectScan[*releaseScan](r); release.Req.Completed {
			t.Error("released as completed")
		} else {
			release.Answer(messages.Done{}, nil)
		}
		got := <-done
		if !strings.Contains(got, `"completed":false`) || strings.Contains(got, "receipt") ||
			!strings.Contains(got, `"to_height":0,"relevant_blocks":[]`) {
			t.Error(got)
		}
	}
}

// TestWideningProgress has each pass, and what is derived before it, be a part of the whole: progress does not fall.
func TestWideningProgress(t *testing.T) {
	for _, rounds := range []int{1, 2, 6} {
		r := newRig(t, "regtest")
		r.chain.MineN(9)
		done := r.start("scanblocks", `["start",[`+gapObject+`]]`)
		r.reserve(nil)
		at := 0.0
		for n := 1; n <= rounds; n++ {
			call := r.expectRun()
			part := call.Req.Part
			if call.Req.Pass != n || part.From < at || part.Share <= 0 || part.From+part.Share >= 1 ||
				part.Percent(100) > 99 || part.Percent(0) < int(100*at) {
				t.Errorf("pass %d after %v: %+v", n, at, call.Req)
			}
			at = part.From + part.Share
			answer := messages.ScanResult{To: 9, Completed: true}
			if n < rounds {
				answer.Blocks = []chainhash.Hash{r.chain.Active().At(3).Hash}
				answer.Uses = [][]uint32{nil}
				for place := range call.Req.Set.Len() {
					answer.Uses[0] = append(answer.Uses[0], uint32(place))
				}
			}
			call.Answer(answer, nil)
		}
		r.expectRelease()
		if got := <-done; !strings.Contains(got, `"completed":true`) {
			t.Error(got)
		}
	}
}

// The receipt of a scan with gaps has the ranges in the end, and the scripts of these: it is that of a scan of the
// ranges, which any node makes.
func TestGapReceipt(t *testing.T) {
	r := newRig(t, "regtest")
	pay := func(path string, index uint32) {
		branches, err := descriptor.Parse("wpkh("+testKey+path+")", r.net.Descriptors(), descriptor.Options{})
		if err != nil {
			t.Fatal(err)
		}
		scripts, err := branches[0].Expand(index)
		if err != nil {
			t.Fatal(err)
		}
		r.chain.Mine(chaintest.Template{Script: scripts[0]})
	}
	r.chain.Mine(chaintest.Template{Script: []byte{0x52}})
	pay("/1/*", 19)
	pay("/0/*", 11)
	pay("/0/*", 4)
	pay("/1/*", 9)
	pay("/0/*", 29) // beyond the gap
	pay("/2/*", 3)
	r.realScanner()
	object := func(path string, last int, rest string) string {
		return fmt.Sprintf(`{"desc":"wpkh(%s%s)","range":%d%s}`, testKey, path, last, rest)
	}
	for _, c := range []struct{ gaps, ranges []string }{
		{
			[]string{object("/0/*", 0, `,"gap":9`)},
			[]string{object("/0/*", 20, "")},
		},
		{
			[]string{`"raw(52)"`, object("/<0;1>/*", 2, `,"gap":10`), object("/2/*", 5, "")},
			[]string{`"raw(52)"`, object("/0/*", 21, ""), object("/1/*", 29, ""), object("/2/*", 5, "")},
		},
		{ // scripts that come twice, with and without a gap
			[]string{object("/0/*", 1, `,"gap":9`), object("/0/*", 6, ""), object("/0/*", 0, `,"gap":3`)},
			[]string{object("/0/*", 20, ""), object("/0/*", 6, ""), object("/0/*", 2, "")},
		},
	} {
		sealed := func(objects []string) (receipt string, all map[string]any) {
			receipt = r.scanReceipt(`["start",[` + strings.Join(objects, ",") +
				`],0,null,"basic",{"receipt":true,"activity":true}]`)
			if err := json.Unmarshal([]byte(receipt), &all); err != nil {
				t.Fatal(receipt, err)
			}
			delete(all, "digest")
			for _, d := range all["descriptors"].([]any) {
				delete(d.(map[string]any), "desc")
			}
			return receipt, all
		}
		receipt, got := sealed(c.gaps)
		if _, want := sealed(c.ranges); !reflect.DeepEqual(got, want) {
			t.Errorf("%v:\ngot  %v\nwant %v", c.gaps, got, want)
		}
		if v := r.call("verifyreceipt", "["+receipt+"]"); v != `{"valid":true}` {
			t.Error(v)
		}
		if v := r.call("verifyreceipt", "["+receipt+",["+strings.Join(c.gaps, ",")+"]]"); v != `{"valid":true}` {
			t.Error(v)
		}
	}
}
