package options

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"
)

// A dialect is what differs between the families of networks for those who look
// for a daemon or its files.
type dialect struct {
	client   string // what the reference node calls itself
	names    Names
	help     map[string][2]string // words in help texts of options; see qbitHelp
	args     map[string]string    // values that help texts name; see qbitArgs
	config   string               // name of the reference node's configuration file
	dir      string               // end of the name of the default data directory
	money    Money
	pool     Pool
	rpcPorts map[Chain]uint16
	p2pPorts map[Chain]uint16
	sizes    map[Chain]uint64 // GB; 0: few
}

// Money is how the networks of a dialect count.
type Money struct {
	Unit     string // of amounts
	RelayFee int64  // that nodes relay at least by default, in the smallest unit for 1000 virtual bytes
}

// MoneyOf returns how the networks of a dialect count.
func MoneyOf(dialect string) Money { return dialectOf(dialect).money }

// Pool are the limits of the memory pool by default.
type Pool struct {
	ChainSize   int64 // kvB of a transaction with all that it depends on, or that depends on it
	DataCarrier int64 // bytes of scripts by which a transaction carries data
	BlocksOnly  int64 // MB of a node that takes no transactions of peers
}

// PoolOf returns the limits of a dialect's networks.
func PoolOf(dialect string) Pool { return dialectOf(dialect).pool }

// ClientOf returns what the reference node of a dialect calls itself: its name in texts that
// programs look for.
func ClientOf(dialect string) string { return dialectOf(dialect).client }

// Names are what the programs of a dialect are called in texts.
type Names struct {
	Own       string // this system
	CLI       string // its client
	Wallet    string // its tool for wallet files, in texts that programs look for
	Server    string // the daemon that the client asks
	Reference string // the reference node's daemon

	// InfoSince is the lowest version of a node for which -netinfo can be shown; 0: any version
	// whose reply has the members needed. InfoNeeds says the same in words.
	InfoSince int64
	InfoNeeds string

	Coins string // what the owner of a wallet keeps safe
}

var (
	bitcoinNames = Names{
		"Trawl", "trawl-cli", "bitcoin-wallet", "trawld", "bitcoind", 209900, "to be running v0.21.0 and up", "Bitcoin",
	}
	qbitNames = Names{
		"qbit", "qbit-cli", "qbit-wallet", "qbitd", "qbitd", 0, "with getnetworkinfo/getpeerinfo support", "QBT",
	}
)

// NamesOf returns what the programs of a dialect are called.
func NamesOf(dialect string) Names { return dialectOf(dialect).names }

// dialects are those of -dialect.
var dialects = map[string]*dialect{
	"bitcoin": {
		"Bitcoin Core", bitcoinNames, nil, nil, "bitcoin.conf", "",
		Money{"BTC", 100},
		Pool{101, 100_000, 5},
		map[Chain]uint16{
			Main: 8332, Testnet: 18332, Testnet4: 48332, Signet: 38332, Regtest: 18443,
		},
		map[Chain]uint16{
			Main: 8333, Testnet: 18333, Testnet4: 48333, Signet: 38333, Regtest: 18444,
		},
		map[Chain]uint64{Main: 810, Testnet: 240, Testnet4: 22, Signet: 20},
	},
	"qbit": {
		"qbit", qbitNames, qbitHelp, qbitArgs, "qbit.conf", "-qbit",
		Money{"QBT", 250},
		Pool{404, 200_000, 17},
		map[Chain]uint16{
			Main: 8352, Testnet: 18352, Testnet4: 48352, Signet: 38352, Regtest: 18452,
		},
		map[Chain]uint16{
			Main: 8355, Testnet: 18355, Testnet4: 48355, Signet: 38355, Regtest: 18460,
		},
		map[Chain]uint64{Testnet: 1, Testnet4: 1},
	},
}

const defaultDialect = "bitcoin"

// DialectNames returns what -dialect may be.
func DialectNames() []string { return slices.Sorted(maps.Keys(dialects)) }

// ProgramArgs returns the arguments of a command line. A program that is called
// by a name that ends in a dash and a dialect, as trawld-qbit, has -dialect
// before them.
func ProgramArgs(commandLine []string) []string {
	if len(commandLine) == 0 {
		return nil
	}
	base := strings.TrimSuffix(filepath.Base(commandLine[0]), ".exe")
	if dash := strings.LastIndexByte(base, '-'); dash >= 0 && dialects[base[dash+1:]] != nil {
		return append([]string{"-dialect=" + base[dash+1:]}, commandLine[1:]...)
	}
	return commandLine[1:]
}

// Dialect returns the name of the family of networks, which the command line
// alone can choose.
func (s *Settings) Dialect() string {
	if given := s.commandLine["dialect"].live(); len(given) > 0 {
		return given[len(given)-1].string()
	}
	return defaultDialect
}

func (s *Settings) dialect() *dialect { return dialectOf(s.Dialect()) }

func dialectOf(name string) *dialect {
	if d := dialects[name]; d != nil {
		return d
	}
	return dialects[defaultDialect] // ParseArgs has refused it
}

func (s *Settings) checkDialect() error {
	if name := s.Dialect(); dialects[name] == nil {
		return errorf("Unknown dialect %s.", name)
	}
	return nil
}

// RPCPort returns the TCP port that the RPC server of the selected network has
// by default.
func (s *Settings) RPCPort() uint16 { return s.dialect().rpcPorts[s.chain] }

// P2PPort returns the TCP port for peers of the network that the settings select, by default.
func P2PPort(s *Settings) uint16 { return s.dialect().p2pPorts[s.chain] }

// configNames are the names that a configuration file has without -conf, the
// first that exists.
func (s *Settings) configNames() []string { return []string{configName, s.dialect().config} }

// FullSize returns about how many GB the block files of the selected network take when it has all blocks, 0 where
// that is little.
func FullSize(s *Settings) uint64 {
	if s.chain == Signet && s.IsSet("signetchallenge") {
		return 0
	}
	return s.dialect().sizes[s.chain]
}
