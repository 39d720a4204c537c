package attachment_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed61375155/trawl/rpc/forward/attachment"
)

// node is what a Core answers to -check.
type node struct {
	version     int
	pruneHeight int
	rest, index bool
}

func (n node) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	chain := fmt.Sprintf(`{"chain":"regtest","blocks":800000,"headers":800001,"bestblockhash":"%064d",`+
		`"size_on_disk":600000000000,"pruned":%v`, 0, n.pruneHeight > 0)
	if n.pruneHeight > 0 {
		chain += fmt.Sprintf(`,"pruneheight":%d`, n.pruneHeight)
	}
	chain += "}"
	if r.Method == http.MethodGet {
		if !n.rest {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		_, _ = w.Write([]byte(chain))
		return
	}
	var call struct{ Method string }
	_ = json.NewDecoder(r.Body).Decode(&call)
	result := map[string]string{
		"getblockchaininfo": chain,
		"getnetworkinfo":    fmt.Sprintf(`{"version":%d,"subversion":"/Satoshi:x/"}`, n.version),
		"getindexinfo":      `{}`,
	}
	if n.index {
		result["getindexinfo"] = `{"basic block filter index":{"synced":true,"best_block_height":799999}}`
	}
	fmt.Fprintf(w, `{"jsonrpc":"2.0","id":1,"result":%s}`, result[call.Method])
}

// -check tells from what an index would be made, and what is missing.
func TestCheck(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		node
		files, filters bool
		want           []string
		fails          string
	}{
		"all": {
			node{300200, 0, true, true}, true, true, []string{
				"Block files        1 of 0.0 GB", "REST               yes, with spent outputs",
				"Filter index       yes, up to block 799999; files: 1 of 0.0 GB", "Pruned             no",
				"First index        from Bitcoin Core's filter files: a minute or more",
				"Disk               13.8 GB", "by waitfornewblock",
			}, "",
		},
		"files alone": {
			node{280000, 0, false, false}, true, false, []string{
				"REST               no:", "Filter index       no: filters are made here",
				"from Bitcoin Core's block files: 25 minutes", "by asking each second",
			}, "",
		},
		"REST alone": {
			node{300000, 0, true, false}, false, false, []string{
				"Block files        none, blocks are asked for", "from blocks over REST: 40 minutes",
			}, "",
		},
		"filters alone": {
			node{290000, 0, true, true}, false, false, []string{
				"REST               yes, but spent outputs only by RPC", "files: none, filters are asked for",
				"from Bitcoin Core's filters by RPC: 33 minutes",
			}, "",
		},
		"pruned, filters": {
			node{300200, 700000, true, true}, true, false, []string{
				"Pruned             below block 700000", "from Bitcoin Core's filters by RPC",
			}, "",
		},
		"pruned, no filters": {node: node{300200, 700000, true, false}, files: true, fails: "below height 700000 are pruned"},
		"nothing":            {node: node{290000, 0, true, false}, fails: "-rest=1 (version 30) or -blockfilterindex=1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := httptest.NewServer(c.node)
			t.Cleanup(server.Close)
			dir := coreDir(t, "regtest=1\nrpcuser=u\nrpcpassword=p\n")
			for path, there := range map[string]bool{
				"blocks/blk00000.dat": c.files, "blocks/rev00000.dat": c.files,
				"indexes/blockfilter/basic/fltr00000.dat": c.filters,
			} {
				path = filepath.Join(dir, "regtest", filepath.FromSlash(path))
				err := os.MkdirAll(filepath.Dir(path), 0o700)
				if err == nil && there {
					err = os.WriteFile(path, []byte("x"), 0o600)
				}
				if err != nil {
					t.Fatal(err)
				}
			}
			a, err := attachment.New(attachment.Config{Core: dir, RPC: strings.TrimPrefix(server.URL, "http://")})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(a.Client().Close)
			var out bytes.Buffer
			err = a.Check(t.Context(), &out)
			if c.fails == "" && err != nil || c.fails != "" && (err == nil || !strings.Contains(err.Error(), c.fails)) {
				t.Errorf("error %v, want %q", err, c.fails)
			}
			for _, want := range c.want {
				if !strings.Contains(out.String(), want) {
					t.Errorf("no %q in\n%s", want, out.String())
				}
			}
		})
	}
}

// Without a Core that answers, -check gives the reason: nobody listens, Core hangs, Core starts,
// or its cookie cannot be read.
func TestCheckWithoutCore(t *testing.T) {
	t.Parallel()
	serve := func(h http.HandlerFunc) string {
		server := httptest.NewServer(h)
		t.Cleanup(server.Close)
		return strings.TrimPrefix(server.URL, "http://")
	}
	nobody := httptest.NewServer(nil)
	nobody.Close()
	const login = "regtest=1\nrpcuser=u\nrpcpassword=p\n"
	for name, c := range map[string]struct{ address, config, want string }{
		"nobody listens": {strings.TrimPrefix(nobody.URL, "http://"), login, "connection refused: does it run, with -server=1"},
		"nobody listens, no cookie": {
			strings.TrimPrefix(nobody.URL, "http://"), "regtest=1\n",
			"connection refused: does it run, with -server=1",
		},
		"a cookie that is not there": {serve(node{}.ServeHTTP), "regtest=1\n", "its login cannot be read: read "},
		"a login that is wrong": {serve(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusUnauthorized)
		}), login, "it refuses the login"},
		"it starts": {serve(func(w http.ResponseWriter, _ *http.Request) {
			_, _ = w.Write([]byte(`{"result":null,"error":{"code":-28,"message":"Verifying blocks…"},"id":0}`))
		}), login, "Bitcoin Core starts or ends just now: getblockchaininfo: Verifying blocks… (-28)"},
	} {
		a, err := attachment.New(attachment.Config{Core: coreDir(t, c.config), RPC: c.address})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(a.Client().Close)
		err = a.Check(t.Context(), io.Discard)
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "statat") {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}
