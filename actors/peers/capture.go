package peers

import (
	"sync/atomic"

	"github.com/seed61375155/trawl/internal/p2p/netaddr"
	"github.com/seed61375155/trawl/store/nodefiles"
)

// capture returns what writes the messages of a connection to files, nil where they are
// not to be (-capturemessages). It is called by the session's goroutines, which wait for
// the disk. After a failure nothing more of the connection is written.
func (b *base) capture(peer netaddr.Addr) func(command string, payload []byte, incoming bool) {
	if !b.cfg.Capture {
		return nil
	}
	files := nodefiles.Files{FS: b.cfg.FS, Dir: b.cfg.Dir}
	var failed atomic.Bool
	return func(command string, payload []byte, incoming bool) {
		if failed.Load() {
			return
		}
		if err := files.Capture(peer.String(), b.cfg.Now(), command, payload, incoming); err != nil {
			failed.Store(true)
			b.cfg.Log.Error("messages of a peer are no longer captured", "err", err)
		}
	}
}
