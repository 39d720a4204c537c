package relay

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/p2p"
	"github.com/seed61375155/trawl/internal/p2p/peerhandle"
)

// A rolling set has the last half of its limit in any case, and never more than the limit.
func TestRollingSet(t *testing.T) {
	for _, limit := range []int{2, 3, 8, 9} {
		s := newRollingSet(limit)
		hash := func(n int) chainhash.Hash { return chainhash.Hash{byte(n), byte(n >> 8)} }
		most := 0
		for n := range 100 {
			s.add(hash(n))
			held := 0
			for i := range n + 1 {
				if s.has(hash(i)) {
					held++
				} else if i > n-limit/2 {
					t.Fatalf("limit %d: %d is forgotten after %d", limit, i, n)
				}
			}
			if most = max(most, held); held > limit {
				t.Fatalf("limit %d: %d are held", limit, held)
			}
		}
		if most < limit/2*2 {
			t.Errorf("limit %d: at most %d are held", limit, most)
		}
		if s.clear(); s.has(hash(99)) || s.has(hash(99-limit/2)) {
			t.Errorf("limit %d: something is left", limit)
		}
	}
}

// A peer may announce 5000 transactions that are wanted; what is announced twice counts once, and a peer whose
// transactions are relayed in any case has no limit.
func TestMostAnnounced(t *testing.T) {
	hash := func(n int) chainhash.Hash { return chainhash.Hash{byte(n), byte(n >> 8), 1} }
	q, p := newRequests(), newTestPeer(1)
	now := time.Unix(1, 0)
	for range 2 {
		for n := range 4999 {
			q.announced(p, hash(n), true, now)
		}
	}
	for n := range 10 {
		q.announced(p, hash(6000+n), true, now)
	}
	if len(p.announced) != 5000 || p.announced[hash(6000)] == nil {
		t.Errorf("%d are announced", len(p.announced))
	}
	p.info.Permissions.Relay = true
	q.announced(p, hash(7000), true, now)
	if len(p.announced) != 5001 {
		t.Errorf("with the permission: %d are announced", len(p.announced))
	}
}

// The time at which a peer is asked for a transaction depends on who made the connection, which id the peer names,
// and how many transactions it is asked for already.
func TestWhenPeersAreAsked(t *testing.T) {
	now := time.Unix(1000, 0)
	for _, c := range []struct {
		name   string
		typ    p2p.ConnectionType
		may    peerhandle.Permissions
		wtxid  bool
		other  bool // another peer knows wtxids
		flight int
		want   time.Duration
	}{
		{"outbound", p2p.OutboundFullRelay, peerhandle.Permissions{}, true, true, 0, 0},
		{"inbound", p2p.Inbound, peerhandle.Permissions{}, true, true, 0, 2 * time.Second},
		{"inbound that is trusted", p2p.Inbound, peerhandle.Permissions{NoBan: true}, true, true, 0, 0},
		{"inbound that is relayed", p2p.Inbound, peerhandle.Permissions{Relay: true}, true, true, 0, 2 * time.Second},
		{"by txid", p2p.OutboundFullRelay, peerhandle.Permissions{}, false, true, 0, 2 * time.Second},
		{"all by txid", p2p.OutboundFullRelay, peerhandle.Permissions{}, false, false, 0, 0},
		{"inbound by txid", p2p.Inbound, peerhandle.Permissions{}, false, true, 0, 4 * time.Second},
		{"asked for 99", p2p.OutboundFullRelay, peerhandle.Permissions{}, true, true, 99, 0},
		{"asked for 100", p2p.OutboundFullRelay, peerhandle.Permissions{}, true, true, 100, 2 * time.Second},
		{"asked for 100, relayed", p2p.OutboundFullRelay, peerhandle.Permissions{Relay: true}, true, true, 100, 0},
		{"all of it", p2p.Inbound, peerhandle.Permissions{}, false, true, 100, 6 * time.Second},
	} {
		p := newTestPeer(1)
		p.info.Type, p.info.Permissions, p.inFlight = c.typ, c.may, c.flight
		r := &Relay{peers: map[int64]*peer{1: p, 2: {wtxid: c.other}}}
		if got := r.readyAt(p, c.wtxid, now).Sub(now); got != c.want {
			t.Errorf("%s: after %v, want %v", c.name, got, c.want)
		}
	}
}

// Each transaction is asked of one peer for a minute: of those that may be asked a preferred one, else the first. Peers
// that fail are not asked again.
func TestOrderOfRequests(t *testing.T) {
	start, hash := time.Unix(1000, 0), chainhash.Hash{1}
	slow, inbound, second, outbound := newTestPeer(2), newTestPeer(3), newTestPeer(5), newTestPeer(4)
	q := newRequests()
	q.announced(slow, hash, true, start.Add(5*time.Second))
	q.announced(inbound, hash, true, start)
	q.announced(second, hash, true, start)
	q.announced(outbound, hash, true, start.Add(time.Second))
	asked := func(at time.Duration) *peer {
		for p, list := range q.next(start.Add(at)) {
			if len(list) != 1 || list[0].hash != hash {
				t.Fatalf("at %v: %v", at, list)
			}
			return p
		}
		return nil
	}
	for _, c := range []struct {
		at   time.Duration
		want *peer
	}{
		{-time.Nanosecond, nil},
		{0, inbound}, // no other preferred one may be asked yet
		{59 * time.Second, nil},
		{time.Minute - time.Nanosecond, nil},
		{time.Minute, slow}, // both preferred ones may: the first
		{2 * time.Minute, outbound},
		{3 * time.Minute, second},
		{4 * time.Minute, nil},
	} {
		if got := asked(c.at); got != c.want {
			t.Errorf("at %v: %+v is asked, want %+v", c.at, got, c.want)
		}
	}
	if len(q.byHash) != 0 || len(q.queue) != 0 {
		t.Errorf("%d are left", len(q.byHash))
	}
}

// Fee rates that peers are sent are steps from half the rate that is relayed, each a tenth above the one before; a rate
// is rounded down twice of three times.
func TestFeeSteps(t *testing.T) {
	for fee, begin := range map[int64][]int64{
		1000: {0, 500, 550, 605, 665}, 100: {0, 50, 55, 60, 66}, 3: {0, 1, 1, 1, 1}, 0: {0, 1, 1, 1, 1},
	} {
		s := newFeeSteps(fee)
		if !slices.Equal(s[:len(begin)], begin) || s.top() > 10_000_000 || s.top() < 9_000_000 ||
			!slices.IsSorted(s) {
			t.Errorf("%d: from %v to %d", fee, s[:len(begin)], s.top())
		}
	}
	s := newFeeSteps(1000)
	for _, c := range []struct{ rate, low, high int64 }{
		{0, 0, 0},
		{1, 0, 500},
		{500, 0, 500},
		{501, 500, 550},
		{550, 500, 550},
		{s.top(), s[len(s)-2], s.top()},
		{s.top() + 1, s.top(), s.top()},
		{1 << 40, s.top(), s.top()},
	} {
		counts := make(map[int64]int)
		for range 3000 {
			counts[s.rounded(c.rate)]++
		}
		if counts[c.low]+counts[c.high] < 3000 {
			t.Errorf("%d is rounded to %v, want %d or %d", c.rate, counts, c.low, c.high)
		}
		if n := counts[c.low]; c.low != c.high && (n < 1800 || n > 2200) {
			t.Errorf("%d is rounded down %d times of 3000", c.rate, n)
		}
	}
}

// checkOrphans compares the counts of the orphanage with its contents.
func checkOrphans(o *orphanage) error {
	weight, latency, count, spends := 0, 0, 0, 0
	byPeer := make(map[int64][3]int)
	for wid, one := range o.byWID {
		if wid != one.wid || len(one.from) == 0 {
			return fmt.Errorf("%v is of nobody", wid)
		}
		size := one.tx.SerializeSizeStripped()*3 + one.tx.SerializeSize()
		weight, latency, count = weight+size, latency+len(one.tx.TxIn)/10, count+len(one.from)
		for peer := range one.from {
			of := byPeer[peer]
			byPeer[peer] = [3]int{of[0] + size, of[1] + 1 + len(one.tx.TxIn)/10, of[2] + 1}
		}
		for _, in := range one.tx.TxIn {
			if _, known := o.spends[in.PreviousOutPoint][one]; !known {
				return fmt.Errorf("%v is not known to spend %v", wid, in.PreviousOutPoint)
			}
		}
	}
	for _, set := range o.spends {
		spends += len(set)
		for one := range set {
			if o.byWID[one.wid] != one {
				return fmt.Errorf("%v has left and spends still", one.wid)
			}
		}
	}
	if o.weight != weight || o.latency != latency || o.count != count || len(o.peers) != len(byPeer) {
		return fmt.Errorf("weight %d, latency %d, %d announcements of %d peers; want %d, %d, %d, %d",
			o.weight, o.latency, o.count, len(o.peers), weight, latency, count, len(byPeer))
	}
	for id, by := range o.peers {
		if got := [3]int{by.weight, by.latency, len(by.list)}; got != byPeer[id] {
			return fmt.Errorf("peer %d: %v, want %v", id, got, byPeer[id])
		}
	}
	if most := max(1, len(o.peers)) * 404_000; weight > most || latency+count > 3000 {
		return fmt.Errorf("weight %d of %d, latency %d", weight, most, latency+count)
	}
	return nil
}

// While orphans are announced, taken back, mined and judged, the orphanage counts right and stays within its bounds.
// It keeps the announcements of a peer that takes less than its share.
func TestOrphanageCounts(t *testing.T) {
	for seed := range uint64(3) {
		random := rand.New(rand.NewPCG(seed, 1))
		o := newOrphanage(4)
		honest := wire.NewMsgTx(2)
		honest.AddTxIn(&wire.TxIn{PreviousOutPoint: wire.OutPoint{Index: 1 << 30}})
		honest.AddTxOut(wire.NewTxOut(1, nil))
		o.add(honest, 99)
		var txs []*wire.MsgTx
		for step := range 150 {
			switch random.IntN(12) {
			case 0:
				o.dropPeer(random.Int64N(4))
			case 1:
				if len(txs) > 0 {
					o.remove(txs[random.IntN(len(txs))].WitnessHash())
				}
			case 2:
				if len(txs) > 0 {
					in := txs[random.IntN(len(txs))].TxIn[0].PreviousOutPoint
					o.spent([]wire.OutPoint{in, {Index: 1 << 29}})
				}
			case 3:
				if len(txs) > 0 {
					again := txs[random.IntN(len(txs))]
					o.add(again, random.Int64N(4))
				}
			default:
				tx := wire.NewMsgTx(2)
				for i := range 1 + random.IntN(1+500*random.IntN(2)) {
					tx.AddTxIn(&wire.TxIn{PreviousOutPoint: wire.OutPoint{
						Hash: chainhash.Hash{byte(random.IntN(20))}, Index: uint32(i + random.IntN(3)),
					}})
				}
				tx.TxIn[0].Witness = wire.TxWitness{make([]byte, random.IntN(1+100_000*random.IntN(2)))}
				tx.AddTxOut(wire.NewTxOut(int64(step), nil))
				txs = append(txs, tx)
				o.add(tx, random.Int64N(4))
			}
			if step%5 > 0 {
				continue
			}
			if err := checkOrphans(&o); err != nil {
				t.Fatalf("seed %d, step %d: %v", seed, step, err)
			}
			if !o.hasFrom(honest.WitnessHash(), 99) || o.hasFrom(honest.WitnessHash(), 1) {
				t.Fatalf("seed %d, step %d: the orphan of another peer is gone", seed, step)
			}
		}
	}
}

// If an announcement has to go, it is the oldest of the peer that takes most; an orphan that is judged again stays
// longer.
func TestOldestOrphanGoes(t *testing.T) {
	heavy := func(n uint32, parent chainhash.Hash) *wire.MsgTx {
		tx := wire.NewMsgTx(2)
		tx.AddTxIn(&wire.TxIn{PreviousOutPoint: wire.OutPoint{Hash: parent, Index: n}})
		tx.TxIn[0].Witness = wire.TxWitness{make([]byte, 100_000)}
		tx.AddTxOut(wire.NewTxOut(int64(n), nil))
		return tx
	}
	parent := wire.NewMsgTx(2)
	parent.AddTxOut(wire.NewTxOut(1, nil))
	for _, judged := range []bool{false, true} {
		o := newOrphanage(4)
		var txs []*wire.MsgTx
		for n := range uint32(5) {
			txs = append(txs, heavy(n, parent.TxHash()))
		}
		for _, tx := range txs[:4] {
			o.add(tx, 1)
		}
		want := 0
		if judged {
			if peers := o.reconsider(parent); !slices.Equal(peers, []int64{1}) || len(o.reconsider(parent)) != 0 {
				t.Fatalf("judged again for %v, or twice", peers)
			}
			want = 1
		}
		o.add(txs[4], 1)
		for i, tx := range txs {
			if got := o.has(tx.WitnessHash()); got != (i != want) {
				t.Errorf("judged %v: orphan %d is there: %v", judged, i, got)
			}
		}
		if judged { // it waits as before
			if one := o.next(1); one != o.byWID[txs[0].WitnessHash()] || o.next(1) != nil {
				t.Errorf("judged %v", one)
			}
			if peers := o.reconsider(parent); !slices.Equal(peers, []int64{1}) || o.next(1) == nil {
				t.Errorf("judged again after it waited: for %v", peers)
			}
			if o.add(txs[1], 1); o.has(txs[0].WitnessHash()) {
				t.Error("the oldest stays although it only waits")
			}
		}
	}
}

// Only the children that the same peer sent are returned, the latest first.
func TestChildrenOfPeer(t *testing.T) {
	o := newOrphanage(4)
	parent := chainhash.Hash{1}
	child := func(n uint32, parent chainhash.Hash) *wire.MsgTx {
		tx := wire.NewMsgTx(2)
		tx.AddTxIn(&wire.TxIn{PreviousOutPoint: wire.OutPoint{Index: n}})
		tx.AddTxIn(&wire.TxIn{PreviousOutPoint: wire.OutPoint{Hash: parent, Index: n}})
		return tx
	}
	first, second, other, foreign := child(1, parent), child(2, parent), child(3, chainhash.Hash{2}), child(4, parent)
	o.add(first, 7)
	o.add(other, 7)
	o.add(second, 7)
	o.add(foreign, 8)
	got := o.children(parent, 7)
	if len(got) != 2 || got[0].tx != second || got[1].tx != first {
		t.Errorf("got %v", got)
	}
	if got := o.children(parent, 9); len(got) != 0 {
		t.Errorf("of nobody: %v", got)
	}
	spent := []wire.OutPoint{{Hash: parent, Index: 1}, {Hash: parent, Index: 1}, {Hash: parent, Index: 9}}
	if n := o.spent(spent); n != 1 {
		t.Errorf("%d orphans are spent", n)
	}
}

// Peers that take more than their share lose alike when there is less room, and others nothing.
func TestPeersLoseAlike(t *testing.T) {
	for range 10 {
		o := newOrphanage(4)
		for n := range uint32(42) {
			for peer := int64(1); peer <= 4; peer++ {
				tx := wire.NewMsgTx(2)
				tx.AddTxIn(&wire.TxIn{PreviousOutPoint: wire.OutPoint{Hash: chainhash.Hash{byte(peer)}, Index: n}})
				if tx.AddTxOut(wire.NewTxOut(1, nil)); peer <= 2 {
					tx.TxIn[0].Witness = wire.TxWitness{make([]byte, 18_000)}
				}
				o.add(tx, peer)
			}
		}
		o.dropPeer(3)
		first, second := o.peers[1].weight, o.peers[2].weight
		apart := max(first, second) - min(first, second)
		if min(first, second) < 500_000 || apart > 20_000 || len(o.peers[4].list) != 42 {
			t.Fatalf("weights %d and %d are left, and %d of a small peer", first, second, len(o.peers[4].list))
		}
	}
}

// A peer that announces too many small orphans loses some of them; a peer with few, but heavier orphans loses none.
func TestShareOfNumberAndWeight(t *testing.T) {
	o := newOrphanage(4)
	tx := func(peer byte, n uint32, witness int) *wire.MsgTx {
		tx := wire.NewMsgTx(2)
		tx.AddTxIn(&wire.TxIn{PreviousOutPoint: wire.OutPoint{Hash: chainhash.Hash{peer}, Index: n}})
		tx.TxIn[0].Witness = wire.TxWitness{make([]byte, witness)}
		tx.AddTxOut(wire.NewTxOut(1, nil))
		return tx
	}
	for n := range uint32(4) {
		o.add(tx(3, n, 97_000), 3)
	}
	for n := range uint32(1500) {
		o.add(tx(1, n, 0), 1)
		o.add(tx(2, n, 0), 2)
	}
	if heavy, small := len(o.peers[3].list), len(o.byWID); heavy != 4 || small != 3000 ||
		o.peers[3].weight < o.peers[1].weight {
		t.Errorf("%d heavy orphans are left of %d", heavy, small)
	}
}
