// Package dialect holds what differs between the networks a node can run on,
// as values that are handed down: prefixes, magic bytes, ports, money rules,
// deployments. No other package names such a constant, and none asks which
// network it is on.
//
// There are two dialects. The values of Bitcoin's networks are those of Bitcoin
// Core 30.2 (src/kernel/chainparams.cpp, src/chainparamsbase.cpp) over btcd's
// chaincfg, or of Core 32, as [Choices.Reference] says. The networks that pay to
// P2MR outputs have the values of qbit 1.0.0.
package dialect

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/btcsuite/btcd/btcutil"
	"github.com/btcsuite/btcd/chaincfg"
	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/consensus"
	"github.com/seed61375155/trawl/internal/consensus/script"
	"github.com/seed61375155/trawl/internal/p2mr/vm"
	"github.com/seed61375155/trawl/internal/rawtx"
	"github.com/seed61375155/trawl/internal/rawtx/psbt"
	"github.com/seed61375155/trawl/internal/txpool"
)

// ErrUnknownChain reports a chain name that no dialect knows.
var ErrUnknownChain = errors.New("unknown chain")

// A Network is one chain to run on. It is made anew for every node, because
// btcd writes into the deployments of the parameters it is given.
type Network struct {
	Name   string // as in -chain and getblockchaininfo
	Coin   string // what the money is called in texts
	Dir    string // below the data directory; empty for the main chain
	Params *chaincfg.Params
	Magic  [4]byte // before each block in a block file and each P2P message

	RPCPort, P2PPort uint16
	FixedSeeds       string // the list of package fixedseeds; empty: none

	Rules        consensus.Rules // that transactions are held against
	MaxBlockSize int             // serialized, in bytes

	// PruneAfter is the height from which on blocks may be pruned, and
	// SmallPruneAfter the one with small block files.
	PruneAfter, SmallPruneAfter int32

	// StripDepth is how far below the tip blocks are that may lose their witnesses (-prunewitnesses); 0: none may.
	StripDepth int32

	// ReservedWeight is what a block that is made keeps free for its header and its
	// coinbase by default, LeastReserved the least that may be chosen.
	ReservedWeight, LeastReserved int64

	// Subsidy returns what a block at height may create.
	Subsidy func(height int32) btcutil.Amount

	// HeaderLen returns the bytes before the transactions of a serialized
	// block, which may begin with no more than a header; -1 when the block is
	// cut short within them.
	HeaderLen func(raw []byte) int

	// Proves reports whether a serialized header has the work that its bits ask for.
	Proves func(header []byte) bool

	// NextBits returns the compact target of a block on parent that is made now, with
	// a time in seconds since 1970. It is safe for concurrent use.
	NextBits func(parent *chainview.Block, time int64) uint32

	// MinTime returns the earliest time of a block that is made on parent, in seconds
	// since 1970.
	MinTime func(parent *chainview.Block) int64

	// RollVersion returns the version of a block for miners to whom it is said which
	// bits of it they may count with, and the mask of these; nil: nothing is said.
	RollVersion func(version int32) (rolled int32, mask uint32)

	// MergedMining is how blocks are mined together with those of another chain; nil: they are not.
	MergedMining *MergedMining

	// Verify runs the scripts of all inputs with the outputs that they spend, by the
	// rules for transactions that are relayed, for a block at height. The error is a
	// [*rawtx.InputScriptError].
	Verify func(tx *wire.MsgTx, spent []*wire.TxOut, height int32) error

	// VerifyVersion tells apart which rules Verify applies at a height; nil: the same at all.
	VerifyVersion func(height int32) int

	// NewSigning returns a transaction to be signed, with the outputs that it spends as
	// far as they are known, and nothing known to sign with.
	NewSigning func(tx *wire.MsgTx, coins map[wire.OutPoint]*wire.TxOut) *rawtx.Signing

	// Template returns what OP_CHECKTEMPLATEVERIFY compares of a transaction; nil where no script
	// can have it.
	Template func(tx *wire.MsgTx) *vm.Template

	// DecodePSBT reads a PSBT in base64, see [psbt.Decode]. PSBTVersions are those made, the first by default.
	DecodePSBT   func(text string) (*psbt.Packet, error)
	PSBTVersions []uint32

	// PoolOrder is by which relatives the memory pool judges transactions.
	PoolOrder txpool.Order

	// Standard are the forms of outputs that the memory pool takes beside Bitcoin's.
	Standard txpool.Forms

	// Scheduled are the rules that getblockchaininfo and getblocktemplate tell the
	// change of.
	Scheduled []ScheduledRule

	Engine Engine // that validates the chain; for whoever opens it alone

	// P2MR are the rules of a chain that pays to P2MR outputs; nil for Bitcoin's
	// chains. They are for the engine: what others need of them stands above.
	P2MR *P2MR

	// RelayFee is the default least fee rate of relayed transactions,
	// IncrementalFee the default increment for replacements. Below DustRate
	// outputs are not worth spending. All are for 1000 virtual bytes.
	RelayFee, IncrementalFee, DustRate btcutil.Amount

	// WalletFee is the least rate that wallets pay by default, FallbackFee what they pay by default where there is no
	// estimate, 0: they refuse to pay then; for 1000 virtual bytes.
	WalletFee, FallbackFee int64

	// FreshTip is how old a tip may be for new transactions to get their lock
	// times from its height.
	FreshTip time.Duration

	// ChainVSize is the default limit, in virtual bytes, of what an unconfirmed
	// transaction may depend on, and of what may depend on it.
	ChainVSize int64

	// Archive is the service of nodes that give all blocks with their witnesses. WitnessPruned is the
	// service of nodes which have deleted the witnesses of old blocks. 0: the network knows no such
	// service.
	Archive, WitnessPruned wire.ServiceFlag

	// LeavesForNotFound says that a peer is left which has no block that it was asked for, unless it may
	// have deleted its witnesses.
	LeavesForNotFound bool

	// DirectFetchWork says that the blocks of a chain that a peer has just announced are asked for at once
	// only where the chain has the least work.
	DirectFetchWork bool

	// FetchWork says that a peer is asked for a block that a user wants only where a chain with the block has
	// the least work.
	FetchWork bool

	// DataCarrier is the default limit, in bytes, of the scripts by which a transaction carries data.
	DataCarrier int

	// RecentTip is the age of a tip up to which the progress goes by headers instead of the
	// miner's clock, so that it is 1 at the end.
	RecentTip time.Duration

	// Reference is the version of Bitcoin Core to speak as, for the table of methods alone. All else that depends on
	// the version is a value of its own here.
	Reference int

	// ProtocolVersion is that of the messages between peers.
	ProtocolVersion int32

	// HeaderSync bounds what is kept of headers whose work is not known to be enough yet.
	HeaderSync HeaderSync

	// PaddedCoinbase says that the scripts of coinbases made here have a push behind the height where they are long
	// enough without one, too.
	PaddedCoinbase bool

	// UnspentOverhead is what an unspent output takes beside itself in the statistics of blocks, in bytes.
	UnspentOverhead int64

	// SegwitRules are the names in block templates of the rules that came with segregated witnesses.
	SegwitRules []string

	// MaxMockTime is the last second that setmocktime takes.
	MaxMockTime int64

	// AddsAddressesOnly says that addpeeraddress refuses a text that is no address.
	AddsAddressesOnly bool

	// DevicesNeedSend says that wallets on a signing device pay by send and sendall alone.
	DevicesNeedSend bool

	// NotValidated is said of each transaction of a package that was refused before any was looked at; empty: nothing.
	NotValidated string

	// TxNotes are the texts kept with a wallet's transaction that are shown, in their order; nil: all, by their names.
	TxNotes []string

	// CountsUnsent says that balances count coins that only transactions spend which are not in the pool.
	CountsUnsent bool

	// DeprecatedLast says that members which are going away come last in replies about the pool.
	DeprecatedLast bool

	Software         Software
	Answers          Answers                     // where versions of the software differ
	HelpWords        []string                    // of Bitcoin in help texts of methods, each before that in its place
	ServiceNames     map[wire.ServiceFlag]string // of flags that are not Bitcoin's
	TellsNewer       bool                        // the log says which peers run a later release
	CountsStale      bool                        // stale blocks are counted, for getorphanmetrics
	Deployments      []Deployment
	SignetChallenge  []byte // nil where blocks need no signature
	MineOnDemand     bool   // blocks can be made by RPC
	MockableClock    bool   // setmocktime is allowed
	ForTests         bool   // its coins have no value
	MinimumChainWork string // hex; below it the node counts as in initial download

	// BlockVersion is the version of blocks made here, where their maker's choice
	// counts; nil: the version that votes for every open deployment.
	BlockVersion *int32

	LogNames    LogNames    // of categories of the log
	PeerOptions PeerOptions // how the operator's options of the network are taken
	Traffic     Traffic
	Fees        Fees
	Signals     Signals // for rules that the node does not know

	// ChainTx is what is known of the chain's size from elsewhere, so that a
	// node can estimate how far it has come.
	ChainTx ChainTx

	// RepeatedCoinbases are blocks whose coinbase is that of an older block,
	// whose outputs it replaced unspent (BIP30).
	RepeatedCoinbases []chainhash.Hash

	// ReplacedCoinbases are the blocks whose coinbases came again in those.
	ReplacedCoinbases []chainhash.Hash

	// BIP34Hash is the block from which on coinbases name their height; zero
	// where they may not do so before.
	BIP34Hash chainhash.Hash

	// ScriptExceptions are blocks whose scripts keep to fewer rules than those of
	// all others.
	ScriptExceptions map[chainhash.Hash]script.Flags

	// AssumeValid is a block whose ancestors' scripts are not executed; zero for
	// none.
	AssumeValid chainhash.Hash

	// Snapshots are the sets of unspent outputs that are known to be right, ascending.
	Snapshots []Snapshot
}

// ReadBlock reads the serialized block that raw begins with, and returns its size.
// Bytes between the header and the transactions are left out of the block. The
// block shares no memory with raw, and its scripts share theirs with each other.
func (n *Network) ReadBlock(raw []byte) (block *wire.MsgBlock, size int, err error) {
	at := n.HeaderLen(raw)
	if at < wire.MaxBlockHeaderPayload || at > len(raw) {
		return nil, 0, io.ErrUnexpectedEOF
	}
	block = new(wire.MsgBlock)
	if err := block.Header.Deserialize(bytes.NewReader(raw)); err != nil {
		return nil, 0, err
	}
	txs, end, err := consensus.ReadTxs(bytes.Clone(raw[at:]), 0) // what is read points into it
	if err != nil {
		return nil, 0, err
	}
	block.Transactions = txs.List
	return block, at + end, nil
}

// Active reports whether a buried deployment holds for the block at height.
func (n *Network) Active(deployment string, height int32) bool {
	for i := range n.Deployments {
		if d := &n.Deployments[i]; d.Buried && d.Name == deployment {
			return height >= d.Height
		}
	}
	return false
}

// Chains lists the names of the chains that every dialect has.
func Chains() []string { return []string{"main", "test", "testnet4", "signet", "regtest"} }

// Bitcoin returns one of Bitcoin's networks as Core 30.2 has it.
func Bitcoin(chain string) (*Network, error) {
	return Named(NameBitcoin, chain, Choices{Reference: Core30})
}

// The dialects.
const (
	NameBitcoin = "bitcoin"
	NameQbit    = "qbit"
)

// ErrUnknown reports a dialect that does not exist.
var ErrUnknown = errors.New("unknown dialect")

var dialects = map[string]map[string]func(Choices) *Network{NameBitcoin: bitcoin, NameQbit: qbitNetworks}

// Named returns a network of a dialect; no name is Bitcoin's.
//
// Errors: [ErrUnknown], [ErrUnknownChain], those of choices that the chain does
// not have.
func Named(dialect, chain string, c Choices) (*Network, error) {
	if c.SignetChallenge != nil && chain != "signet" {
		return nil, errors.New("a challenge is for signet")
	}
	networks, ok := dialects[cmp.Or(dialect, NameBitcoin)]
	if !ok {
		return nil, fmt.Errorf("%w: %s", ErrUnknown, dialect)
	}
	build, ok := networks[chain]
	if !ok {
		return nil, fmt.Errorf("%w: %s", ErrUnknownChain, chain)
	}
	for rule := range c.Activation {
		if !HasRule(dialect, rule) {
			return nil, fmt.Errorf("no rule %s", rule)
		}
	}
	for name := range c.VersionBits {
		if !HasDeployment(name, c.referenceOf(dialect)) {
			return nil, fmt.Errorf("no deployment %s that miners decide", name)
		}
	}
	if c.ASERT && c.Periodic {
		return nil, errors.New("a regtest finds targets by ASERT or by periods")
	}
	if err := c.checkReference(dialect); err != nil {
		return nil, err
	}
	n := build(c)
	if c.referenceOf(dialect) == Core32 {
		n.setCore32()
	}
	return n, nil
}

// PruneFrom returns the height from which old blocks are deleted, in files of the usual size or in small ones.
func (n *Network) PruneFrom(smallFiles bool) int32 {
	if smallFiles {
		return n.SmallPruneAfter
	}
	return n.PruneAfter
}

// setKind fills in what main chains have apart from the others.
func (n *Network) setKind() {
	n.ForTests = n.Name != "main"
	n.PruneAfter = cmp.Or(n.PruneAfter, 1000)
	n.SmallPruneAfter = cmp.Or(n.SmallPruneAfter, n.PruneAfter)
}

// complete fills in what all of Bitcoin's networks share.
func complete(n *Network) *Network {
	n.Coin = "Bitcoin"
	n.Rules = consensus.Rules{
		MaxMoney: btcutil.MaxSatoshi, MaxWeight: 4_000_000, MaxSigOps: 80_000, WitnessScale: 4,
		Maturity: int32(n.Params.CoinbaseMaturity),
	}
	n.MaxBlockSize = 4_000_000
	n.setKind()
	n.setCore30()
	n.HeaderLen = func([]byte) int { return wire.MaxBlockHeaderPayload }
	n.setBitcoinRules()
	n.Subsidy = func(height int32) btcutil.Amount {
		halvings := uint(height / n.Params.SubsidyReductionInterval)
		if halvings >= 64 {
			return 0
		}
		return 50 * btcutil.SatoshiPerBitcoin >> halvings
	}
	n.Software = Software{
		Name: "Bitcoin Core", Own: "Trawl", Daemon: "bitcoind", Agent: "Satoshi:30.2.0", Version: 300200,
		ConfigFile: "bitcoin.conf", Unit: "BTC", Atom: "sat",
	}
	n.RelayFee, n.IncrementalFee, n.DustRate = 100, 100, 3000
	n.WalletFee, n.FreshTip = 1000, 8*time.Hour
	n.ChainVSize, n.DataCarrier = 101_000, 100_000
	n.RecentTip = 2 * time.Hour
	n.Traffic, n.Signals = bitcoinTraffic, n.bitcoinSignals()
	n.ReservedWeight, n.LeastReserved = 8_000, 2_000
	n.Magic = magic(n.Params)
	return n
}

// magic returns the message start of the network in wire order.
func magic(p *chaincfg.Params) [4]byte {
	return [4]byte{byte(p.Net), byte(p.Net >> 8), byte(p.Net >> 16), byte(p.Net >> 24)}
}
