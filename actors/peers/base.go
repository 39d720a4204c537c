package peers

import (
	"log/slog"
	"slices"

	"github.com/seed61375155/trawl/internal/corelog"
	"github.com/seed61375155/trawl/internal/p2p"
	"github.com/seed61375155/trawl/internal/p2p/netaddr"
)

// A base is what the table and its connections know alike. But for the node's addresses,
// which are the table's, it does not change.
type base struct {
	cfg          Config
	local        *localAddrs
	totals       *p2p.Totals
	log          *slog.Logger // of category net
	addrLog      *slog.Logger // of category addrman
	reconcileLog *slog.Logger // of category txreconciliation
	privateLog   *slog.Logger // of category privatebroadcast
}

func newBase(cfg Config) *base {
	totals := new(p2p.Totals)
	if totals.Uploads.Limit = cfg.UploadLimit; cfg.UploadLimit > 0 {
		totals.Uploads.Block = uint64(cfg.Network.MaxBlockSize)
	}
	return &base{
		cfg: cfg, local: &localAddrs{list: slices.Clone(cfg.Local)}, totals: totals,
		log:          cfg.Log.With(slog.String(corelog.CategoryKey, "net")),
		addrLog:      cfg.Log.With(slog.String(corelog.CategoryKey, "addrman")),
		reconcileLog: cfg.Log.With(slog.String(corelog.CategoryKey, "txreconciliation")),
		privateLog:   cfg.Log.With(slog.String(corelog.CategoryKey, "privatebroadcast")),
	}
}

// placed returns an address on the network that the node reaches it by.
func (b *base) placed(a netaddr.Addr) netaddr.Addr {
	if b.cfg.Reachable[netaddr.CJDNS] {
		return a.OnCJDNS()
	}
	return a
}

// printf writes a line of Core's that everyone sees.
func (b *base) printf(format string, args ...any) {
	corelog.Printf(b.cfg.Log, slog.LevelInfo, format, args...)
}

// debugf writes a line of Core's category net.
func (b *base) debugf(format string, args ...any) {
	corelog.Printf(b.log, slog.LevelDebug, format, args...)
}

// addrDebugf writes a line of Core's category addrman.
func (b *base) addrDebugf(format string, args ...any) {
	corelog.Printf(b.addrLog, slog.LevelDebug, format, args...)
}

// logLine writes a line of a session. It may be called from anywhere.
func (b *base) logLine(line string) { b.debugf("%s", line) }

// reconcileLine writes a line of a session about reconciling transactions. It may be called
// from anywhere.
func (b *base) reconcileLine(line string) {
	corelog.Printf(b.reconcileLog, slog.LevelDebug, "%s", line)
}

// privatef writes a line of Core's category privatebroadcast.
func (b *base) privatef(format string, args ...any) {
	corelog.Printf(b.privateLog, slog.LevelDebug, format, args...)
}

// privateLine writes such a line of a session. It may be called from anywhere.
func (b *base) privateLine(line string) { b.privatef("%s", line) }

// logSuffix is what lines of the log have of an address behind the number of its peer: nothing without -logips.
func (b *base) logSuffix(addr string) string {
	if b.cfg.LogIPs {
		return p2p.AddrSuffix(addr, b.cfg.Network.Traffic.NewerLog)
	}
	return ""
}

// logAddr is what lines of the log say of an address: nothing without -logips.
func (b *base) logAddr(addr string) string {
	if b.cfg.LogIPs {
		return addr
	}
	return ""
}
