package follower_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/seed61375155/trawl/filters"
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/corenode"
	"github.com/seed61375155/trawl/internal/engine/follower"
	"github.com/seed61375155/trawl/store/corefiles"
)

// recordEnv, when set, has TestRecordedCore record a bitcoind anew, which BITCOIND names.
const recordEnv = "TRAWL_RECORD_CORE"

const (
	recordedDir     = "testdata/core-30.2/dir.tar.gz"
	recordedReplies = "testdata/core-30.2/replies.json.gz"
)

// A recordedReply is what Core has answered.
type recordedReply struct {
	Status int    `json:"status"`
	Body   []byte `json:"body"`
}

// A recording is what Core has said to an engine, by request, and its filter of each block
// by height.
type recording struct {
	mu      sync.Mutex
	Replies map[string]recordedReply `json:"replies"`
	Filters []string                 `json:"filters"`
	core    string                   // where to ask what is not there; empty: nowhere
	missed  []string
}

func (r *recording) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	body, _ := io.ReadAll(req.Body)
	key := req.Method + " " + req.URL.RequestURI() + " " + string(body)
	r.mu.Lock()
	defer r.mu.Unlock()
	reply, ok := r.Replies[key]
	if r.core != "" {
		to := r.core + req.URL.RequestURI()
		asked, err := http.NewRequestWithContext(req.Context(), req.Method, to, bytes.NewReader(body))
		if err != nil {
			panic(err)
		}
		asked.Header = req.Header
		answer, err := http.DefaultClient.Do(asked)
		if err != nil {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		defer answer.Body.Close()
		text, _ := io.ReadAll(answer.Body)
		reply, ok = recordedReply{answer.StatusCode, text}, true
		r.Replies[key] = reply
	}
	if !ok {
		r.missed = append(r.missed, key)
		w.WriteHeader(http.StatusInternalServerError)
		return
	}
	w.WriteHeader(reply.Status)
	_, _ = w.Write(reply.Body)
}

// An engine that plays recorded files and replies of Core has Core's filters: from
// filter files, from block files, from REST. The recorded chain has several pairs of
// files and a branch that was left.
func TestRecordedCore(t *testing.T) {
	if os.Getenv(recordEnv) != "" {
		record(t)
	}
	played := &recording{}
	packed, err := os.Open(recordedReplies)
	if err != nil {
		t.Fatal(err)
	}
	defer packed.Close()
	plain, err := gzip.NewReader(packed)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.NewDecoder(plain).Decode(played); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	unpack(t, recordedDir, dir)
	taken := map[string]int64{}
	for name, cfg := range map[string]follower.Config{
		"filters": {Filters: dir}, "files": {Blocks: filepath.Join(dir, "blocks")}, "rest": {},
	} {
		played.build(t, name, cfg, taken)
	}
	if len(played.missed) > 0 {
		t.Errorf("not recorded: %q", played.missed[0])
	}
	blocks := int64(len(played.Filters))
	if taken["filters"] < blocks-20 || taken["files"] < blocks/2 || taken["rest"] != 0 {
		t.Errorf("of %d blocks: %v", blocks, taken)
	}
	recordedFilters(t, dir)
}

// build follows Core and holds the filter of each block against Core's. taken is how many
// came from files.
func (r *recording) build(t *testing.T, name string, cfg follower.Config, taken map[string]int64) {
	t.Helper()
	server := httptest.NewServer(r)
	defer server.Close()
	address, err := corenode.ParseAddress(server.URL, 0)
	if err != nil {
		t.Fatal(err)
	}
	login := corenode.Config{Address: address, User: "u", Password: "p"}
	if r.core != "" {
		login = corenode.Config{Address: address, Cookie: filepath.Join(cfg.Dir, ".cookie")}
	}
	if cfg.Core, err = corenode.New(login); err != nil {
		t.Fatal(err)
	}
	defer cfg.Core.Close()
	cfg.Network, cfg.Dir, cfg.Log = regtest(t), t.TempDir(), slog.New(slog.DiscardHandler)
	e := open(t, cfg)
	follow(t, e)
	reader := e.Reader()
	active := reader.Active()
	if r.core == "" && int(active.Height())+1 != len(r.Filters) {
		t.Fatalf("%s: %d blocks, want %d", name, active.Height()+1, len(r.Filters))
	}
	var builder filters.Builder
	for h := range active.Height() + 1 {
		hash := active.At(h).Hash
		if filter, ok, err := reader.(chainview.FilterReader).Filter(&hash); err == nil && ok {
			r.want(t, name, h, filter)
			if cfg.Filters != "" {
				taken[name]++
			}
			if r.core == "" {
				continue
			}
		}
		raw, err := reader.Raw(&hash)
		if err != nil {
			t.Fatal(err)
		}
		spent, err := reader.SpentScripts(&hash)
		if err != nil {
			t.Fatal(err)
		}
		filter, err := builder.BuildBlock(&hash, raw, 80, spent)
		if err != nil {
			t.Fatal(err)
		}
		r.want(t, name, h, filter)
	}
	for _, from := range e.State().Sources {
		if from.Name == "files" && cfg.Blocks != "" {
			taken[name] += from.Undo
		}
	}
}

func (r *recording) want(t *testing.T, name string, height int32, filter []byte) {
	t.Helper()
	if r.core == "" && hex.EncodeToString(filter) != r.Filters[height] {
		t.Fatalf("%s: filter of block %d: %x, want %s", name, height, filter, r.Filters[height])
	}
}

// recordedFilters reads Core's filter files alone.
func recordedFilters(t *testing.T, dir string) {
	t.Helper()
	d, err := corefiles.OpenFilters(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if n, err := d.Refresh(t.Context()); err != nil || n < 100 {
		t.Errorf("%d filters, %v", n, err)
	}
}

// record makes a chain with a bitcoind and records its files, and all that an engine asks.
func record(t *testing.T) {
	t.Helper()
	core := startLive(t, "-blockfilterindex=1", "-rest=1", "-fastprune")
	r := rand.New(rand.NewPCG(30, 2))
	core.change("generatetodescriptor", 110, anyone(r))
	for range 24 {
		core.spend(r)
	}
	var height int
	var left string
	core.call(&height, "getblockcount")
	core.call(&left, "getblockhash", height-2)
	core.change("invalidateblock", left)
	for range 4 {
		core.spend(r)
	}
	configured, err := corenode.ReadConfig(core.dir, "")
	if err != nil {
		t.Fatal(err)
	}
	recorded := &recording{Replies: map[string]recordedReply{}, core: configured.Address.String()}
	net := filepath.Join(core.dir, "regtest")
	taken := map[string]int64{}
	for name, cfg := range map[string]follower.Config{
		"filters": {Filters: net}, "files": {Blocks: filepath.Join(net, "blocks")}, "rest": {},
	} {
		cfg.Dir = net // of the cookie
		recorded.build(t, name, cfg, taken)
	}
	core.call(&height, "getblockcount")
	for h := range height + 1 {
		var hash corenode.Hash
		core.call(&hash, "getblockhash", h)
		recorded.Filters = append(recorded.Filters, core.filterOf(([32]byte)(hash)))
	}
	if err := os.MkdirAll(filepath.Dir(recordedDir), 0o755); err != nil {
		t.Fatal(err)
	}
	pack(t, net, recordedDir)
	var text bytes.Buffer
	z := gzip.NewWriter(&text)
	if err := errors.Join(json.NewEncoder(z).Encode(recorded), z.Close()); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(recordedReplies, text.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
}

// pack writes Core's files of blocks and filters.
func pack(t *testing.T, dir, to string) {
	t.Helper()
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	w := tar.NewWriter(z)
	for _, pattern := range []string{"blocks/*.dat", "indexes/blockfilter/basic/*.dat"} {
		paths, err := filepath.Glob(filepath.Join(dir, pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range paths {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			name, _ := filepath.Rel(dir, path)
			err = w.WriteHeader(&tar.Header{Name: filepath.ToSlash(name), Mode: 0o600, Size: int64(len(text))})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := w.Write(text); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := errors.Join(w.Close(), z.Close(), os.WriteFile(to, packed.Bytes(), 0o600)); err != nil {
		t.Fatal(err)
	}
}

func unpack(t *testing.T, from, dir string) {
	t.Helper()
	packed, err := os.Open(from)
	if err != nil {
		t.Fatal(err)
	}
	defer packed.Close()
	z, err := gzip.NewReader(packed)
	if err != nil {
		t.Fatal(err)
	}
	for r := tar.NewReader(z); ; {
		header, err := r.Next()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, filepath.FromSlash(header.Name))
		text, err := io.ReadAll(r)
		if err == nil {
			err = errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, text, 0o600))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}
