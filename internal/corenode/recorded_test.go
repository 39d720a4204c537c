package corenode

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
)

func recorded(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "core-30.2", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// Recorded replies of Core 30.2 are read with the meaning that Core gives them.
func TestRecordedReplies(t *testing.T) {
	replies := map[string]string{"getblockhash": recorded(t, "out-of-range.json"), "x": recorded(t, "no-method.json")}
	for _, method := range []string{
		"getblockchaininfo", "getnetworkinfo", "getindexinfo", "getbestblockhash", "waitfornewblock",
	} {
		replies[method] = recorded(t, method+".json")
	}
	core := newFakeCore(t, replies)
	files := map[string]string{"/rest/chaininfo.json": recorded(t, "chaininfo.json")}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			core.ServeHTTP(w, r)
			return
		}
		if text, ok := files[r.URL.Path]; ok {
			_, _ = io.WriteString(w, text)
			return
		}
		w.WriteHeader(http.StatusNotFound)
		_, _ = io.WriteString(w, recorded(t, "no-block.txt"))
	}))
	defer server.Close()
	c := dial(t, server.URL, cookie(t, "__cookie__:"+secret))
	info, err := c.Info(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if info.Version != 300200 || !info.REST || !info.SpentREST || !info.LongPoll || info.Chain.Blocks != 3 ||
		info.Chain.Headers != 3 || info.Chain.Pruned || info.Indexes[FilterIndex].Height != 3 {
		t.Errorf("%+v", info)
	}
	tip := chainhash.Hash(info.Chain.BestBlockHash)
	if best, err := c.BestBlock(t.Context()); err != nil || best != tip {
		t.Errorf("%v, %v", best, err)
	}
	if news, err := c.WaitNewBlock(t.Context(), &tip, time.Second); err != nil || news != tip {
		t.Errorf("%v, %v", news, err)
	}
	for method, code := range map[string]int{"getblockhash": -8, "x": codeNoMethod} {
		err := c.Call(t.Context(), nil, method)
		if e, ok := errors.AsType[*Error](err); !ok || e.Code != code {
			t.Errorf("%s: %v", method, err)
		}
	}
	files["/rest/blockfilter/basic/"+tip.String()+".bin"] = recorded(t, "blockfilter.bin")
	if filter, err := c.BlockFilter(t.Context(), &tip); err != nil || len(filter) == 0 {
		t.Errorf("filter %x: %v", filter, err)
	}
	if _, err := c.BlockFilter(t.Context(), &chainhash.Hash{}); err == nil {
		t.Error("a filter of no block")
	}
	results, errs, err := parseBatch([]byte(recorded(t, "batch.json")), 2)
	if err != nil || string(results[1]) != `"`+tip.String()+`"` || errs[0] == nil || errs[1] != nil {
		t.Errorf("batch: %s, %v, %v", results, errs, err)
	}
}
