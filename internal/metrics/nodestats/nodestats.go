// Package nodestats reads numbers about a node: what others have counted, and what its
// actors tell. A reader has at most one request in the mailbox of each, and waits for none
// longer than it is told to.
package nodestats

import (
	"context"
	"reflect"
	"slices"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/match"
	"github.com/seed61375155/trawl/internal/nodemsg"
	"github.com/seed61375155/trawl/messages"
)

// Parts are the components of a node.
type Parts interface {
	// Stats returns the numbers of their actors.
	Stats() []messages.PartStats
	// Ref returns the actor of a part, absent where the node runs without it.
	Ref(part string) *ask.Ref
}

// Config is what is read.
type Config struct {
	Parts        Parts
	Wallet, Peer *ask.Meter // of the actors of wallets and of connections

	Chain     *chainview.Current
	Initial   *chainview.InitialDownload
	Scheduler *match.Scheduler // nil: there is no index of filters
	Wallets   *ask.Directory

	Dir, BlocksDir string // of the node's files
}

// A Reader reads the numbers of a node. It is safe for concurrent use.
type Reader struct {
	cfg   Config
	polls []poll
	sizes sizes
}

// A poll is what one actor is asked.
type poll struct {
	part string
	kind reflect.Type // of the request

	// begin asks; the function that it returns waits, and then puts the answer in its place.
	begin func() func(context.Context, *messages.NodeStats) error
}

// New returns the reader of a node.
func New(cfg Config) *Reader {
	r := &Reader{cfg: cfg, sizes: sizes{stores: stores(cfg.BlocksDir, cfg.Dir)}}
	add(r, "alerts", nodemsg.GetWarnings{}, func(s *messages.NodeStats, warnings []string) {
		n := len(warnings)
		s.Warnings = &n
	})
	add(r, "stale", nodemsg.GetStaleStats{}, func(s *messages.NodeStats, v messages.StaleStats) { s.Stale = &v })
	for _, name := range []string{"indexer", "txindex", "coinstatsindex", "txospenderindex", "scriptindex"} {
		add(r, name, messages.GetIndexStatus{}, func(s *messages.NodeStats, status messages.IndexStatus) {
			s.Indexes = append(s.Indexes, messages.IndexStats{Name: name, IndexStatus: status})
		})
	}
	add(r, "scanner", messages.GetScanStatus{}, func(s *messages.NodeStats, v messages.ScanStatus) {
		s.Scan = &v
	})
	add(r, "searches", messages.ListSearches{}, addSearches)
	add(r, "peers", messages.GetNetwork{}, func(s *messages.NodeStats, v messages.NetworkState) {
		s.Peers = &v
	})
	add(r, "mempool", messages.GetPoolInfo{}, func(s *messages.NodeStats, v messages.PoolInfo) { s.Pool = &v })
	if !cfg.Parts.Ref("attach").IsAbsent() {
		add(r, "mempool", messages.GetCopiedPool{}, func(s *messages.NodeStats, v messages.CopiedPool) {
			s.Copied = &v
		})
		add(r, "chain", messages.GetAttachState{}, func(s *messages.NodeStats, v messages.AttachState) {
			s.Attached = &v
		})
	}
	add(r, "wallets", messages.GetLoading{}, func(s *messages.NodeStats, v []messages.WalletLoading) {
		s.Wallets = &messages.WalletStats{Loaded: len(cfg.Wallets.Names()), Loading: len(v)}
	})
	return r
}

// add has an actor asked for something, unless it is absent.
func add[Q messages.Request[R], R any](
	r *Reader, part string, q Q, put func(*messages.NodeStats, R),
) {
	to := r.cfg.Parts.Ref(part)
	if to.IsAbsent() {
		return
	}
	var once ask.Poll[R]
	r.polls = append(r.polls, poll{part, reflect.TypeFor[Q](), func() func(context.Context, *messages.NodeStats) error {
		// The request has no deadline: a late actor answers it even when the reader has left.
		wait := once.Begin(func() (R, error) { return ask.Ask(context.Background(), to, q) })
		return func(ctx context.Context, s *messages.NodeStats) error {
			v, err := wait(ctx)
			if err == nil {
				put(s, v)
			}
			return err
		}
	}})
}

// An Asked is a request that a reader sends, and the part that it sends it to.
type Asked struct {
	Part    string
	Request reflect.Type
}

// Asks returns what the reader asks of the parts that are there.
func (r *Reader) Asks() []Asked {
	list := make([]Asked, len(r.polls))
	for i, p := range r.polls {
		list[i] = Asked{p.part, p.kind}
	}
	return list
}

// Read returns the numbers as they are now. Numbers that are unknown when ctx ends are left out.
func (r *Reader) Read(ctx context.Context) messages.NodeStats {
	waits := make([]func(context.Context, *messages.NodeStats) error, len(r.polls))
	for i, p := range r.polls {
		waits[i] = p.begin()
	}
	sizes := r.sizes.begin()
	s := messages.NodeStats{Actors: r.actors(), Chain: r.chain()}
	if r.cfg.Scheduler != nil {
		matching := r.cfg.Scheduler.Stats()
		s.Matching = &matching
	}
	for i, wait := range waits {
		note(&s, r.polls[i].part, wait(ctx, &s) != nil)
	}
	s.Stores = sizes(ctx)
	return s
}

func (r *Reader) actors() []messages.PartStats {
	return append(r.cfg.Parts.Stats(),
		messages.PartStats{Part: "wallet", ActorStats: r.cfg.Wallet.Stats()},
		messages.PartStats{Part: "peer", ActorStats: r.cfg.Peer.Stats()})
}

// chain reads the chain, which asks nobody. It is nil while none is open.
func (r *Reader) chain() *messages.ChainStats {
	reader := r.cfg.Chain.Open()
	if reader == nil {
		return nil
	}
	active := reader.Active()
	tip := active.Tip()
	return &messages.ChainStats{
		Height: tip.Height, Headers: chainview.BestHeader(reader, active).Height, TipTime: tip.Time(),
		Initial: r.cfg.Initial.Lasts(tip), Branches: len(reader.Tips()),
	}
}

// states are all that a search may be in.
var states = []messages.SearchState{
	messages.SearchQueued, messages.SearchRunning, messages.SearchFollowing, messages.SearchPaused,
	messages.SearchDone, messages.SearchAborted, messages.SearchFailed,
}

func addSearches(s *messages.NodeStats, list []messages.SearchStatus) {
	sum := &messages.SearchStats{States: make(map[messages.SearchState]int, len(states))}
	for _, state := range states {
		sum.States[state] = 0
	}
	for i := range list {
		one := &list[i]
		sum.States[one.State]++
		sum.Scripts += one.Scripts
		sum.Entries += one.Found
		if one.State == messages.SearchRunning {
			sum.Rate += one.Rate
		}
	}
	s.Searches = sum
}

// note notes whether a part was late; a part late with any of its answers counts as late.
func note(s *messages.NodeStats, part string, late bool) {
	i := slices.IndexFunc(s.Late, func(l messages.LatePart) bool { return l.Part == part })
	if i < 0 {
		s.Late = append(s.Late, messages.LatePart{Part: part, Late: late})
		return
	}
	s.Late[i].Late = s.Late[i].Late || late
}
