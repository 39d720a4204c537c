package wallet_test

import (
	"context"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/internal/dialect"
	"github.com/seed61375155/trawl/internal/wallet"
	"github.com/seed61375155/trawl/internal/wallet/keys"
	"github.com/seed61375155/trawl/internal/wallet/txs"
	"github.com/seed61375155/trawl/messages"
)

// casesVar names the number of random cases of TestOracle, if not 1,000.
const casesVar = "TRAWL_WALLET_CASES"

const (
	oracleKey = "tprv8ZgxMBicQKsPePp3ijiziJAMKBsqkvsffzma4GKW89KeM5ST9iGaTweUb6iy6dCJjadASj9As5Em13WxqwhK82Rpmt5snsfbiadVYryvKBT"

	oraclePool     = 3 // addresses that are derived ahead
	oracleMaturity = 2
)

// oracleTexts are the descriptors that random wallets have some of.
var oracleTexts = []string{
	"wpkh(" + oracleKey + "/0/*)",
	"pkh(" + oracleKey + "/1h/*)",
	"sh(wpkh(" + oracleKey + "/2/*))",
	"wpkh(" + oracleKey + "/3/*h)",
	"combo(" + oracleKey + "/4/*)",
	"wpkh(" + oracleKey + "/5/0)",
}

// oracleScripts are the scripts of each descriptor by their index.
var oracleScripts = func() [][][][]byte {
	net := oracleParams().Network
	all := make([][][][]byte, len(oracleTexts))
	for i, text := range oracleTexts {
		branches, err := descriptor.Parse(text, net, descriptor.Options{})
		if err != nil {
			panic(err)
		}
		for index := range uint32(64) {
			scripts, err := branches[0].Expand(index)
			if err != nil {
				panic(err)
			}
			all[i] = append(all[i], scripts)
		}
	}
	return all
}()

func oracleParams() wallet.Params {
	return wallet.Params{
		Name: "oracle", CoinType: 1, Maturity: oracleMaturity, KeyPool: oraclePool, Kinds: dialect.BitcoinWallet(),
		Network: &descriptor.Network{
			PubKeyHashID: 111, ScriptHashID: 196, PrivateKeyID: 239, Bech32HRP: "bcrt",
			HDPublicKeyID: [4]byte{0x04, 0x35, 0x87, 0xcf}, HDPrivateKeyID: [4]byte{0x04, 0x35, 0x83, 0x94},
		},
	}
}

// TestOracle lets random wallets follow random chains, with gaps, top-ups of the
// key pool and reorganisations, and compares them with a model that looks
// through all blocks after every step.
func TestOracle(t *testing.T) {
	cases := 1000
	if n, err := strconv.Atoi(os.Getenv(casesVar)); err == nil {
		cases = n
	}
	const groups = 4
	for group := range groups {
		t.Run(strconv.Itoa(group), func(t *testing.T) {
			t.Parallel()
			for seed := group; seed < cases; seed += groups {
				oracleCase(t, uint64(seed))
			}
		})
	}
}

func oracleCase(t *testing.T, seed uint64) {
	t.Helper()
	o := newOracle(t, seed)
	o.connect(nil)
	for range 5 {
		o.step()
		o.check()
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

// oracle is a wallet and the model that it is compared with.
type oracle struct {
	t      *testing.T
	random *rand.Rand
	wallet *wallet.Wallet

	sources []*modelSource
	chain   []*txs.Block
	known   map[chainhash.Hash]*wire.MsgTx // what the wallet must know
	spare   []wire.OutPoint                // outputs that may be spent again
	scripts map[wire.OutPoint][]byte
	pending []*wire.MsgTx // that left the chain
	count   uint32

	// Results that were worked out since the chain changed last.
	own    map[string]bool
	depths map[chainhash.Hash]int32
	places map[chainhash.Hash]int32     // heights of transactions in the chain
	spends map[wire.OutPoint]*txs.Block // lowest block that spends an output
}

func newOracle(t *testing.T, seed uint64) *oracle {
	t.Helper()
	o := &oracle{
		t: t, random: rand.New(rand.NewPCG(seed, 0)),
		known: make(map[chainhash.Hash]*wire.MsgTx), scripts: make(map[wire.OutPoint][]byte),
	}
	var err error
	p := wallet.CreateParams{Params: oracleParams(), Blank: true, Now: 1}
	o.wallet, err = wallet.Create(context.Background(), p)
	if err != nil {
		t.Fatal(err)
	}
	o.importSome()
	return o
}

// TestOneBlock has random blocks pay to a wallet in random order, each payment within the
// scripts derived ahead of some others. The wallet finds what a wallet finds that has had
// all scripts from the beginning, whichever way it sees the block.
func TestOneBlock(t *testing.T) {
	for name, see := range map[string]func(o *oracle, b *txs.Block){
		"connected": func(o *oracle, b *txs.Block) { o.wallet.Txs().ConnectBlock(b, 1) },
		"rescanned": func(o *oracle, b *txs.Block) {
			o.wallet.Txs().SetTip(messages.Tip{Hash: b.Hash, Height: b.Height})
			o.wallet.Txs().ScanBlock(b, 1)
		},
		"seen in the memory pool first": func(o *oracle, b *txs.Block) {
			txs.UseMempool(o.wallet.Txs(), b.Txs[1:])
			for _, tx := range b.Txs[1:] {
				o.wallet.Txs().AddMempoolTx(tx, 1)
			}
			o.wallet.Txs().ConnectBlock(b, 1)
		},
		"disconnected and connected again": func(o *oracle, b *txs.Block) {
			o.wallet.Txs().SetTip(messages.Tip{Hash: b.Hash, Height: b.Height})
			o.wallet.Txs().DisconnectBlock(b, messages.Tip{Height: -1}, 1)
			o.wallet.Txs().ConnectBlock(b, 1)
		},
	} {
		t.Run(name, func(t *testing.T) {
			for seed := range uint64(50) {
				o := newOracle(t, seed)
				var list []*wire.MsgTx
				for range 12 {
					o.count++
					tx := wire.NewMsgTx(2)
					tx.LockTime = o.count
					tx.AddTxIn(&wire.TxIn{PreviousOutPoint: wire.OutPoint{Hash: chainhash.Hash{byte(o.count), 1}}})
					o.pay(tx)
					for _, out := range tx.TxOut {
						o.use(out.PkScript)
					}
					list = append(list, tx)
				}
				o.random.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
				see(o, o.block(list))
				o.model()
				if o.check(); t.Failed() {
					t.Fatalf("seed %d", seed)
				}
			}
		})
	}
}

// importSome imports some of the descriptors.
func (o *oracle) importSome() {
	var items []messages.ImportItem
	for i, text := range oracleTexts {
		if o.random.IntN(2) == 0 && i > 0 {
			continue
		}
		end := o.random.IntN(3)
		item := messages.ImportItem{Desc: descriptor.AddChecksum(text)}
		s := &modelSource{scripts: oracleScripts[i], end: 1}
		if s.ranged = text[len(text)-2] != '0'; s.ranged {
			item.Range = &[2]int64{0, int64(end)}
			item.Active = text[:3] == "wpk" && i == 0
			s.end = max(end+1, oraclePool)
		}
		items, o.sources = append(items, item), append(o.sources, s)
	}
	done, err := o.wallet.Importer().Import(items, keys.ImportTimes{})
	if err != nil {
		o.t.Fatal(err)
	}
	for i, result := range done.Results {
		if result.Err != nil {
			o.t.Fatalf("%s: %v", items[i].Desc, result.Err)
		}
	}
}

// step makes the chain longer, or replaces its end, and brings wallet and model
// up to date.
func (o *oracle) step() {
	if o.random.IntN(3) == 0 {
		for range 1 + o.random.IntN(min(3, len(o.chain)-1)+1) {
			o.disconnect()
		}
	}
	for range 1 + o.random.IntN(3) {
		o.connect(o.transactions())
	}
	for seen := -1; seen < len(o.wallet.Keys().Scripts()); {
		seen = len(o.wallet.Keys().Scripts())
		for _, b := range o.chain {
			o.wallet.Txs().ScanBlock(b, 1)
		}
	}
	o.model()
}

func (o *oracle) disconnect() {
	last := len(o.chain) - 1
	if last == 0 {
		return
	}
	gone := o.chain[last]
	o.chain = o.chain[:last]
	o.wallet.Txs().DisconnectBlock(gone, messages.Tip{Hash: o.chain[last-1].Hash, Height: int32(last - 1)}, 1)
	o.pending = append(o.pending, gone.Txs[1:]...)
	o.spare = slices.DeleteFunc(o.spare, func(at wire.OutPoint) bool { return !o.inChain(at.Hash) })
}

func (o *oracle) inChain(id chainhash.Hash) bool {
	return slices.ContainsFunc(o.chain, func(b *txs.Block) bool {
		return slices.ContainsFunc(b.Txs, func(t *wire.MsgTx) bool { return t.TxHash() == id })
	})
}

// connect makes a block and has the wallet see it.
func (o *oracle) connect(spending []*wire.MsgTx) {
	o.wallet.Txs().ConnectBlock(o.block(spending), int64(o.count))
}

// block makes a block.
func (o *oracle) block(spending []*wire.MsgTx) *txs.Block {
	o.count++
	coinbase := wire.NewMsgTx(2)
	coinbase.AddTxIn(&wire.TxIn{
		PreviousOutPoint: wire.OutPoint{Index: wire.MaxPrevOutIndex}, Sequence: o.count,
	})
	o.pay(coinbase)
	height := int32(len(o.chain))
	b := &txs.Block{Txs: append([]*wire.MsgTx{coinbase}, spending...)}
	b.BlockRef = txs.BlockRef{Hash: coinbase.TxHash(), Height: height, Time: int64(o.count), MaxTime: int64(o.count)}
	o.chain = append(o.chain, b)
	return b
}

// transactions makes those of a block: new ones, and some that were in blocks
// before.
func (o *oracle) transactions() []*wire.MsgTx {
	var txs []*wire.MsgTx
	for _, t := range o.pending {
		if o.random.IntN(2) == 0 && o.spendable(t, txs) {
			txs = append(txs, t)
			o.spend(t)
		}
	}
	o.pending = slices.DeleteFunc(o.pending, func(t *wire.MsgTx) bool { return slices.Contains(txs, t) })
	for range o.random.IntN(4) {
		t := wire.NewMsgTx(2)
		o.count++
		t.LockTime = o.count
		at := wire.OutPoint{Hash: chainhash.Hash{byte(o.random.IntN(40)), 1}} // of nobody; often spent twice
		if len(o.spare) > 0 && o.random.IntN(3) > 0 {
			at = o.spare[o.random.IntN(len(o.spare))]
		}
		t.AddTxIn(&wire.TxIn{PreviousOutPoint: at, Sequence: wire.MaxTxInSequenceNum})
		o.pay(t)
		if o.spendable(t, txs) {
			txs = append(txs, t)
			o.spend(t)
		}
	}
	return txs
}

// spendable reports whether nothing in the chain, or in the block that is being
// made, spends what t spends, and whether that is there.
func (o *oracle) spendable(t *wire.MsgTx, block []*wire.MsgTx) bool {
	at := t.TxIn[0].PreviousOutPoint
	spends := func(other *wire.MsgTx) bool { return other.TxIn[0].PreviousOutPoint == at }
	if slices.ContainsFunc(block, spends) {
		return false
	}
	for _, b := range o.chain {
		if slices.ContainsFunc(b.Txs[1:], spends) {
			return false
		}
	}
	inBlock := slices.ContainsFunc(block, func(other *wire.MsgTx) bool { return other.TxHash() == at.Hash })
	return at.Hash[1] == 1 && at.Hash[2] == 0 || inBlock || o.inChain(at.Hash)
}

func (o *oracle) spend(t *wire.MsgTx) {
	o.spare = slices.DeleteFunc(o.spare, func(at wire.OutPoint) bool { return at == t.TxIn[0].PreviousOutPoint })
	id := t.TxHash()
	for i := range t.TxOut {
		o.spare = append(o.spare, wire.OutPoint{Hash: id, Index: uint32(i)})
	}
}

// pay adds outputs to random scripts, most of them the wallet's, some of them
// far ahead of the addresses given out.
func (o *oracle) pay(t *wire.MsgTx) {
	for range 1 + o.random.IntN(3) {
		pkScript := []byte{0x51, byte(o.random.IntN(5))}
		if s := o.sources[o.random.IntN(len(o.sources))]; o.random.IntN(3) > 0 {
			index := 0
			if s.ranged {
				index = min(s.next+o.random.IntN(oraclePool+2), len(s.scripts)-oraclePool-2)
			}
			forms := s.scripts[index]
			pkScript = forms[o.random.IntN(len(forms))]
		}
		t.AddTxOut(&wire.TxOut{Value: 1 + o.random.Int64N(1000), PkScript: pkScript})
	}
}
