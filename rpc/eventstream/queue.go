package eventstream

import (
	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/internal/jsontree"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/rpc/method/searchrpc"
)

type poolEvent struct {
	Type     string          `json:"type"` // added, removed
	TxID     chainhash.Hash  `json:"txid"`
	WID      chainhash.Hash  `json:"wtxid"`
	Fee      jsontree.Amount `json:"fee"`
	VSize    int64           `json:"vsize"`
	Sequence uint64          `json:"mempool_sequence"`
}

type emptied struct {
	Type string `json:"type"`
}

type peerEvent struct {
	Type    string `json:"type"` // connected, disconnected
	ID      int64  `json:"id"`
	Addr    string `json:"addr"`
	Inbound bool   `json:"inbound"`
}

type scanEvent struct {
	Running   bool               `json:"running"`
	Height    int32              `json:"current_height"`
	Progress  int                `json:"progress"`
	Completed bool               `json:"completed"`
	Stage     messages.ScanStage `json:"stage,omitempty"`
}

type walletEvent struct {
	Type   string `json:"type"` // loaded, unloaded
	Wallet string `json:"wallet"`
}

type walletTxEvent struct {
	Type   string          `json:"type"` // transaction
	Wallet string          `json:"wallet"`
	TxID   chainhash.Hash  `json:"txid"`
	Block  *chainhash.Hash `json:"blockhash,omitempty"`
	Height *int32          `json:"height,omitempty"`
}

type restoredEvent struct {
	Type   string `json:"type"` // restored
	Wallet string `json:"wallet"`
	Beyond *bool  `json:"beyond,omitempty"`
	Gap    int32  `json:"gap,omitempty"`
}

type searchEvent struct {
	Search  any  `json:"search"`
	Removed bool `json:"removed"`
}

type foundEvent struct {
	ID      string `json:"id"`
	Name    string `json:"name"`
	Entries []any  `json:"entries"`
	Cursor  string `json:"cursor"`
}

// exhaustedEvent says that the range of a descriptor is used up.
type exhaustedEvent struct {
	ID         string `json:"id"`
	Name       string `json:"name"`
	Descriptor any    `json:"descriptor"`
}

// searchPool is about an entry of a search that is, or was, in the memory
// pool.
type searchPool struct {
	ID    string `json:"id"`
	Name  string `json:"name"`
	Entry any    `json:"entry"`
}

func entriesOf(p *searchrpc.Printer, list []messages.SearchEntry) []any {
	all := make([]any, len(list))
	for i := range list {
		all[i] = p.Entry(&list[i])
	}
	return all
}

// queueNews queues the events of an announcement.
func (s *stream) queueNews(news messages.News) {
	switch m := news.(type) {
	case messages.TipChanged:
		// Announcements of tips may be late: what the chain's view shows is never older.
		if reader := s.chain.Open(); reader != nil {
			s.moveTo(reader.Active())
		}
	case messages.PoolReset:
		s.add("mempool", emptied{"reset"}, "getrawmempool")
	case messages.PoolChange:
		s.add("mempool", poolEvent{
			one(m.Added, "added", "removed"), m.ID, m.WID, jsontree.Amount(m.Fee), m.VSize, m.Sequence,
		}, "getrawmempool")
	case messages.PeerChanged:
		s.add("peer", peerEvent{one(m.Connected, "connected", "disconnected"), m.ID, m.Addr, m.Inbound}, "getpeerinfo")
	case messages.ScanChanged:
		s.add("scan", scanEvent{m.Running, m.Height, m.Progress, m.Completed, m.Stage}, "scanblocks")
	case messages.WalletChanged:
		s.add("wallet", walletEvent{one(m.Loaded, "loaded", "unloaded"), m.Name}, "listwallets")
	case messages.WalletTxChanged:
		e := walletTxEvent{Type: "transaction", Wallet: m.Wallet, TxID: m.TxID}
		if m.Block != nil {
			e.Block, e.Height = &m.Block.Hash, &m.Block.Height
		}
		s.add("wallet", e, "gettransaction")
	case messages.WalletRestored:
		e := restoredEvent{Type: "restored", Wallet: m.Wallet, Gap: m.Gap}
		if m.Known {
			e.Beyond = &m.Found
		}
		s.add("wallet", e, "checkwallet")
	case messages.SearchChanged:
		s.add("search", searchEvent{searchrpc.Status(&m.SearchStatus), m.Removed}, "getsearch")
	case messages.SearchFound:
		s.add("found", foundEvent{m.ID, m.Name, entriesOf(s.print, m.Entries), m.Cursor}, "getsearchentries")
	case messages.SearchExhausted:
		s.add("exhausted", exhaustedEvent{m.ID, m.Name, searchrpc.Descriptor(&m.Descriptor)}, "getsearch")
	case messages.SearchPool:
		e := searchPool{m.ID, m.Name, s.print.Entry(&m.Entry)}
		s.add(one(!m.Removed, "pool", "poolremoved"), e, "getsearchentries")
	}
}

func one(is bool, yes, no string) string {
	if is {
		return yes
	}
	return no
}
