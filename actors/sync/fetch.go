package sync

import (
	"slices"
	"time"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/nodemsg"
	"github.com/seed61375155/trawl/messages"
)

// fetchWithin is how long a peer may take to give an old block before the next one
// is asked.
const fetchWithin = 20 * time.Second

// A fetch is a block that is asked of one peer after the other, for callers that
// need it without keeping it on the disk.
type fetch struct {
	block *chainview.Block
	calls []fetchCaller
	tried map[int64]bool
	peer  *peer // that is asked
	since time.Time
}

// A fetchCaller is a caller that needs a block.
type fetchCaller struct {
	gone   func() bool // it does not wait any more
	answer func(raw []byte, err error)
}

// fetches holds the fetches under way.
type fetches struct {
	cfg   *Config
	log   logger
	chain *chainState
	peers *peerSet
	open  map[chainhash.Hash]*fetch
}

func newFetches(cfg *Config, log logger, chain *chainState, peers *peerSet) *fetches {
	return &fetches{cfg: cfg, log: log, chain: chain, peers: peers, open: make(map[chainhash.Hash]*fetch)}
}

// add asks the peers for a block, for whoever needs it.
func (fs *fetches) add(hash chainhash.Hash, m fetchCaller) {
	b := fs.chain.reader.Lookup(&hash)
	if b == nil {
		m.answer(nil, messages.ErrBlockNotFound)
		return
	}
	f := fs.open[b.Hash]
	if f == nil {
		f = &fetch{block: b, tried: make(map[int64]bool)}
		fs.open[b.Hash] = f
		fs.askNext(f)
	}
	if fs.open[b.Hash] != f {
		m.answer(nil, nodemsg.ErrNoSource)
		return
	}
	f.calls = append(f.calls, m)
}

// askNext asks the next peer that may have a block, or gives up.
func (fs *fetches) askNext(f *fetch) {
	f.calls = slices.DeleteFunc(f.calls, func(c fetchCaller) bool { return c.gone() })
	for _, p := range fs.peers.list {
		if f.tried[p.info.ID] || !fs.mayGive(p, f.block) {
			continue
		}
		f.tried[p.info.ID] = true
		f.peer, f.since = p, fs.cfg.Now()
		m := wire.NewMsgGetDataSizeHint(1)
		_ = m.AddInvVect(wire.NewInvVect(wire.InvTypeWitnessBlock, &f.block.Hash)) // one
		p.Send(m)
		return
	}
	delete(fs.open, f.block.Hash)
	for _, c := range f.calls {
		c.answer(nil, nodemsg.ErrNoSource)
	}
}

// mayGive reports whether a peer probably has a block.
func (fs *fetches) mayGive(p *peer, b *chainview.Block) bool {
	if !p.servesBlocks() || !p.servesWitnesses() || fs.chain.isLost(p, b) {
		return false
	}
	height := p.info.Remote.Version.StartHeight
	if p.best != nil {
		height = p.best.Height
		if !p.best.Ancestor(b.Height).Is(b) {
			return false
		}
	}
	return height >= b.Height && (!p.isLimited() || height-b.Height < limitedBlocks)
}

// received hands a block to those who need it, and reports whether there are any.
func (fs *fetches) received(p *peer, hash chainhash.Hash, raw []byte) bool {
	f := fs.open[hash]
	if f == nil {
		return false
	}
	block, _, err := fs.cfg.Network.ReadBlock(raw)
	if err != nil || !belongs(block, fs.chain.isSegwit(f.block.Height)) {
		p.Misbehaving("mutated block")
		if f.peer == p {
			fs.askNext(f)
		}
		return true
	}
	delete(fs.open, hash)
	for _, c := range f.calls {
		c.answer(raw, nil)
	}
	return true
}

// notFound takes back what a peer does not have.
func (fs *fetches) notFound(p *peer, m *wire.MsgNotFound) {
	for _, v := range m.InvList {
		if f := fs.open[v.Hash]; f != nil && f.peer == p {
			fs.chain.lacked(p, f.block, fs.log)
			fs.askNext(f)
		}
	}
}

// tick asks other peers for blocks that a peer did not give in time, or whose
// peer has left.
func (fs *fetches) tick() {
	for _, f := range fs.open {
		if !fs.peers.has(f.peer) || fs.cfg.Now().Sub(f.since) > fetchWithin {
			fs.askNext(f)
		}
	}
}
