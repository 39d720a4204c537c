package peers_test

import (
	"errors"
	"testing"

	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/p2p/codec"
)

// FuzzServed sends any requests of a peer to a node with a chain. After each, the node answers
// the next question, or has left the peer.
func FuzzServed(f *testing.F) {
	hash := make([]byte, 32)
	for _, seed := range []struct {
		command string
		payload []byte
	}{
		{wire.CmdGetHeaders, append(append(make([]byte, 4), 1), append(hash, hash...)...)},
		{wire.CmdGetBlocks, append(append(make([]byte, 4), 0), hash...)},
		{wire.CmdGetData, append([]byte{1, 2, 0, 0, 0x40}, hash...)},
		{wire.CmdGetData, append([]byte{1, 4, 0, 0, 0}, hash...)},
		{codec.CmdGetBlockTxn, append(hash, 1, 0)},
		{wire.CmdGetCFilters, append([]byte{0, 1, 0, 0, 0}, hash...)},
		{wire.CmdGetCFHeaders, append([]byte{0, 0, 0, 0, 0}, hash...)},
		{wire.CmdGetCFCheckpt, append([]byte{0}, hash...)},
		{wire.CmdAddrV2, []byte{1, 0, 0, 0, 0, 1, 1, 4, 9, 9, 9, 9, 0, 1}},
		{wire.CmdGetAddr, nil},
		{wire.CmdInv, append([]byte{1, 1, 0, 0, 0}, hash...)},
		{wire.CmdTx, make([]byte, 60)},
		{wire.CmdMemPool, nil},
	} {
		f.Add(seed.command, seed.payload, uint16(0))
		f.Add(seed.command, seed.payload, uint16(7))
	}
	l := openLibrary(f)
	f.Fuzz(func(t *testing.T, command string, payload []byte, height uint16) {
		if !codec.IsKnown(command, codec.FeatureVersion) || command == wire.CmdVersion || command == wire.CmdVerAck {
			return
		}
		l.t = t
		l.remote, _ = connect(t, l.n)
		// Unknown hashes lead nowhere, so the last hash is replaced by a block's.
		if n := len(payload) - 32; n >= 0 && height > 0 {
			h := l.at(int32(height) % tall).Hash
			payload = append(payload[:n:n], h[:]...)
		}
		if err := errors.Join(l.Send(&codec.Raw{Name: command, Payload: payload}), l.question()); err == nil {
			l.isAnswered()
		}
	})
}
