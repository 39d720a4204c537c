package bench

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"io"
	"net"
	"os"
	"sync"
	"testing"

	"github.com/btcsuite/btcd/chaincfg"
	"github.com/btcsuite/btcd/chaincfg/chainhash"
	btcpeer "github.com/btcsuite/btcd/peer"
	"github.com/btcsuite/btcd/wire"
)

// mainBlocks are the first blocks of Bitcoin's main chain.
const mainBlocks = "../internal/e2e/testdata/golden/mainnet/mainnet-0-14131.blk.gz"

// A source is a peer made of btcd's own package that has blocks in memory and
// gives them to whoever connects. (btcd itself does not give headers while its tip
// is old.)
type source struct {
	net.Listener

	blocks  []*wire.MsgBlock
	heights map[chainhash.Hash]int
	peers   sync.WaitGroup
}

// startSource starts a source that has the recorded blocks of the main chain.
func startSource(tb testing.TB) *source {
	tb.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	s := &source{Listener: l, blocks: readBlocks(tb, mainBlocks), heights: make(map[chainhash.Hash]int)}
	for height, block := range s.blocks {
		s.heights[block.BlockHash()] = height
	}
	s.peers.Go(s.serve)
	tb.Cleanup(func() {
		_ = l.Close()
		s.peers.Wait()
	})
	return s
}

// readBlocks reads a packed file of blocks as Core writes them.
func readBlocks(tb testing.TB, path string) []*wire.MsgBlock {
	tb.Helper()
	packed, err := os.ReadFile(path)
	if err != nil {
		tb.Fatal(err)
	}
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		tb.Fatal(err)
	}
	var blocks []*wire.MsgBlock
	for {
		var head [8]byte // magic and length
		if _, err := io.ReadFull(z, head[:]); err == io.EOF {
			return blocks
		} else if err != nil {
			tb.Fatal(err)
		}
		raw := make([]byte, binary.LittleEndian.Uint32(head[4:]))
		if _, err := io.ReadFull(z, raw); err != nil {
			tb.Fatal(err)
		}
		block := new(wire.MsgBlock)
		if err := block.Deserialize(bytes.NewReader(raw)); err != nil {
			tb.Fatal(err)
		}
		blocks = append(blocks, block)
	}
}

func (s *source) tip() int { return len(s.blocks) - 1 }

func (s *source) serve() {
	for {
		conn, err := s.Accept()
		if err != nil {
			return
		}
		p := btcpeer.NewInboundPeer(&btcpeer.Config{
			ChainParams: &chaincfg.MainNetParams, UserAgentName: "source", UserAgentVersion: "1.0.0",
			Services: wire.SFNodeNetwork | wire.SFNodeWitness, ProtocolVersion: wire.FeeFilterVersion,
			AllowSelfConns: true,
			NewestBlock: func() (*chainhash.Hash, int32, error) {
				hash := s.blocks[s.tip()].BlockHash()
				return &hash, int32(s.tip()), nil
			},
			Listeners: btcpeer.MessageListeners{
				OnGetHeaders: s.headers, OnGetBlocks: s.hashes, OnGetData: s.data,
			},
		})
		p.AssociateConnection(conn)
		s.peers.Go(p.WaitForDisconnect)
	}
}

// after returns the height after the first known block of a locator.
func (s *source) after(locator []*chainhash.Hash) int {
	for _, hash := range locator {
		if height, ok := s.heights[*hash]; ok {
			return height + 1
		}
	}
	return 1
}

func (s *source) headers(p *btcpeer.Peer, m *wire.MsgGetHeaders) {
	answer := wire.NewMsgHeaders()
	for h := s.after(m.BlockLocatorHashes); h <= s.tip() && len(answer.Headers) < wire.MaxBlockHeadersPerMsg; h++ {
		answer.Headers = append(answer.Headers, &s.blocks[h].Header)
		if s.blocks[h].BlockHash() == m.HashStop {
			break
		}
	}
	p.QueueMessage(answer, nil)
}

func (s *source) hashes(p *btcpeer.Peer, m *wire.MsgGetBlocks) {
	answer := wire.NewMsgInv()
	for h := s.after(m.BlockLocatorHashes); h <= s.tip() && len(answer.InvList) < wire.MaxBlocksPerMsg; h++ {
		hash := s.blocks[h].BlockHash()
		_ = answer.AddInvVect(wire.NewInvVect(wire.InvTypeBlock, &hash))
	}
	if len(answer.InvList) > 0 {
		p.QueueMessage(answer, nil)
	}
}

func (s *source) data(p *btcpeer.Peer, m *wire.MsgGetData) {
	for i, v := range m.InvList {
		height, ok := s.heights[v.Hash]
		if !ok {
			continue
		}
		p.QueueMessageWithEncoding(s.blocks[height], nil, wire.WitnessEncoding)
		// btcd asks for the next hashes when it hears of the last one.
		if i == len(m.InvList)-1 && height < s.tip() && v.Type == wire.InvTypeWitnessBlock {
			s.remind(p)
		}
	}
}

// remind names the tip, so that a peer that asked for some hashes asks for more.
func (s *source) remind(p *btcpeer.Peer) {
	hash := s.blocks[s.tip()].BlockHash()
	m := wire.NewMsgInv()
	_ = m.AddInvVect(wire.NewInvVect(wire.InvTypeBlock, &hash))
	p.QueueMessage(m, nil)
}
