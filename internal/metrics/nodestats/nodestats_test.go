package nodestats

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/seed61375155/trawl/internal/actortest"
	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/nodemsg"
	"github.com/seed61375155/trawl/messages"
)

func TestMain(m *testing.M) { actortest.Main(m) }

// A node has actors of the test as its parts.
type node map[string]*ask.Ref

func (n node) Stats() []messages.PartStats {
	return []messages.PartStats{{Part: "mempool", ActorStats: n["mempool"].Stats()}}
}

func (n node) Ref(name string) *ask.Ref {
	if ref := n[name]; ref != nil {
		return ref
	}
	return ask.Absent(name)
}

// part is an actor that answers all that a reader asks. Before it answers for the pool it
// waits.
func part(wait <-chan struct{}) actor.Producer {
	return func() actor.Actor {
		return actor.ReceiveFunc(func(c actor.Context) {
			switch m := c.Message().(type) {
			case *ask.Call[nodemsg.GetWarnings, []string]:
				m.Answer([]string{"a", "b"}, nil)
			case *ask.Call[nodemsg.GetStaleStats, messages.StaleStats]:
				m.Answer(messages.StaleStats{Stale: 14}, nil)
			case *ask.Call[messages.GetIndexStatus, messages.IndexStatus]:
				m.Answer(messages.IndexStatus{Height: 7}, nil)
			case *ask.Call[messages.GetScanStatus, messages.ScanStatus]:
				m.Answer(messages.ScanStatus{Height: 8}, nil)
			case *ask.Call[messages.ListSearches, []messages.SearchStatus]:
				m.Answer([]messages.SearchStatus{
					{State: messages.SearchRunning, Scripts: 2, Found: 3, Rate: 4},
					{State: messages.SearchRunning, Scripts: 20, Found: 30, Rate: 40},
					{State: messages.SearchDone, Rate: 400},
				}, nil)
			case *ask.Call[messages.GetNetwork, messages.NetworkState]:
				m.Answer(messages.NetworkState{Sent: 9}, nil)
			case *ask.Call[messages.GetPoolInfo, messages.PoolInfo]:
				<-wait
				m.Answer(messages.PoolInfo{Size: 10}, nil)
			case *ask.Call[messages.GetCopiedPool, messages.CopiedPool]:
				m.Answer(messages.CopiedPool{Txs: 11}, nil)
			case *ask.Call[messages.GetLoading, []messages.WalletLoading]:
				m.Answer(make([]messages.WalletLoading, 12), nil)
			case *ask.Call[messages.GetAttachState, messages.AttachState]:
				m.Answer(messages.AttachState{Lag: 13}, nil)
			default:
				ask.Unhandled(c)
			}
		})
	}
}

var parts = []string{
	"alerts", "stale", "indexer", "txindex", "coinstatsindex", "txospenderindex", "scriptindex", "scanner", "searches", "peers",
	"mempool", "wallets", "chain",
}

// newNode starts the named parts.
func newNode(t *testing.T, names []string, wait <-chan struct{}) (node, *Reader) {
	t.Helper()
	n, root := node{}, actortest.New(t).Root
	if slices.Contains(names, "chain") {
		names = append(names[:len(names):len(names)], "attach")
	}
	for _, name := range names {
		ref, err := ask.Spawn(root, slog.New(slog.DiscardHandler), name, 4, part(wait), nil)
		if err != nil {
			t.Fatal(err)
		}
		n[name] = ref
	}
	return n, New(Config{
		Parts: n, Wallet: new(ask.Meter), Peer: new(ask.Meter), Chain: new(chainview.Current),
		Wallets: new(ask.Directory), Dir: t.TempDir(), BlocksDir: t.TempDir(),
	})
}

func (n node) stop(t *testing.T) {
	t.Helper()
	for _, ref := range n {
		if err := ref.Stop(t.Context()); err != nil {
			t.Error(err)
		}
	}
	time.Sleep(time.Microsecond) // see actortest.New
}

// The answer of each part comes into its place.
func TestRead(t *testing.T) {
	free := make(chan struct{})
	close(free)
	n, reader := newNode(t, parts, free)
	defer n.stop(t)
	s := reader.Read(t.Context())
	if s.Warnings == nil || *s.Warnings != 2 || s.Scan.Height != 8 || s.Peers.Sent != 9 || s.Pool.Size != 10 ||
		s.Copied.Txs != 11 || s.Wallets.Loading != 12 || s.Attached.Lag != 13 ||
		s.Stale.Stale != 14 || s.Chain != nil || s.Matching != nil {
		t.Errorf("%+v", s)
	}
	if len(s.Indexes) != 5 || s.Indexes[4].Name != "scriptindex" || s.Indexes[4].Height != 7 {
		t.Errorf("indexes %+v", s.Indexes)
	}
	if x := s.Searches; x.Scripts != 22 || x.Entries != 33 || x.Rate != 44 || len(x.States) != 7 ||
		x.States[messages.SearchRunning] != 2 || x.States[messages.SearchDone] != 1 {
		t.Errorf("searches %+v", x)
	}
	if len(s.Late) != len(parts) || slices.ContainsFunc(s.Late, func(p messages.LatePart) bool { return p.Late }) {
		t.Errorf("late %+v", s.Late)
	}
	if len(s.Actors) != 3 || s.Actors[1].Part != "wallet" || s.Actors[2].Part != "peer" {
		t.Errorf("actors %+v", s.Actors)
	}
	if len(s.Stores) != 1 || s.Stores[0] != (messages.StoreStats{Name: "blocks"}) {
		t.Errorf("stores %+v", s.Stores)
	}
}

// A node without parts has no numbers of theirs, and none is late.
func TestAbsentParts(t *testing.T) {
	_, reader := newNode(t, nil, nil)
	s := reader.Read(t.Context())
	if s.Warnings != nil || s.Indexes != nil || s.Scan != nil || s.Searches != nil || s.Peers != nil || s.Pool != nil ||
		s.Copied != nil || s.Wallets != nil || s.Attached != nil || s.Late != nil {
		t.Errorf("%+v", s)
	}
}

// A part that does not answer costs its own numbers, gets one request however often is
// asked, and holds up nobody.
func TestBusyPart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		free := make(chan struct{})
		n, reader := newNode(t, []string{"alerts", "mempool", "scanner"}, free)
		for range 50 {
			began := time.Now()
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			s := reader.Read(ctx)
			cancel()
			if took := time.Since(began); took > time.Second {
				t.Errorf("took %v", took)
			}
			if s.Pool != nil || s.Scan == nil || s.Warnings == nil {
				t.Errorf("%+v", s)
			}
			for _, p := range s.Late {
				if p.Late != (p.Part == "mempool") {
					t.Errorf("%+v", p)
				}
			}
		}
		if s := n["mempool"].Stats(); s.Queue != 0 || s.Current != 50*time.Second {
			t.Errorf("one request is handled, none waits: %+v", s)
		}
		close(free)
		if s := reader.Read(t.Context()); s.Pool == nil || s.Pool.Size != 10 {
			t.Errorf("%+v", s)
		}
		n.stop(t)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if s := reader.Read(ctx); s.Pool != nil || s.Scan != nil {
			t.Errorf("of a node that has stopped: %+v", s)
		}
	})
}

// Sizes are those of regular files, and are read once a minute.
func TestSizes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir, outside := t.TempDir(), t.TempDir()
		write := func(n int, elements ...string) {
			path := filepath.Join(elements...)
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, make([]byte, n), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		write(1000, outside, "elsewhere")
		write(5, dir, "chainstate", "a")
		write(7, dir, "chainstate", "below", "b")
		link := filepath.Join(dir, "chainstate", "link")
		if err := os.Symlink(filepath.Join(outside, "elsewhere"), link); err != nil {
			t.Fatal(err)
		}
		z := sizes{stores: stores(filepath.Join(dir, "none"), dir)}
		want := []messages.StoreStats{{Name: "chainstate", Bytes: 12}}
		if got := z.begin()(t.Context()); !slices.Equal(got, want) {
			t.Errorf("%+v", got)
		}
		write(10, dir, "chainstate", "a")
		time.Sleep(sizeAge - time.Nanosecond)
		if got := z.begin()(t.Context()); !slices.Equal(got, want) {
			t.Errorf("read again: %+v", got)
		}
		time.Sleep(time.Nanosecond)
		want[0].Bytes = 17
		if got := z.begin()(t.Context()); !slices.Equal(got, want) {
			t.Errorf("not read again: %+v", got)
		}
		time.Sleep(sizeAge)
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		if got := z.begin()(ended); len(got) != 1 {
			t.Errorf("the old ones: %+v", got)
		}
		synctest.Wait()
	})
}
