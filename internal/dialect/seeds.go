package dialect

import "github.com/btcsuite/btcd/chaincfg"

// publicSeeds are the DNS names that have nodes of the public networks, those of Bitcoin Core
// 30.2 (kernel/chainparams.cpp).
var publicSeeds = map[string][]string{
	"main": {
		"seed.bitcoin.sipa.be.", "dnsseed.bluematt.me.", "seed.bitcoin.jonasschnelli.ch.", "seed.btc.petertodd.net.",
		"seed.bitcoin.sprovoost.nl.", "dnsseed.emzy.de.", "seed.bitcoin.wiz.biz.", "seed.mainnet.achownodes.xyz.",
	},
	"test": {
		"testnet-seed.bitcoin.jonasschnelli.ch.", "seed.tbtc.petertodd.net.", "seed.testnet.bitcoin.sprovoost.nl.",
		"testnet-seed.bluematt.me.", "seed.testnet.achownodes.xyz.",
	},
	"testnet4": {"seed.testnet4.bitcoin.sprovoost.nl.", "seed.testnet4.wiz.biz."},
	"signet":   {"seed.signet.bitcoin.sprovoost.nl.", "seed.signet.achownodes.xyz."},
}

// seeds returns the DNS names of a public network as btcd has them.
func seeds(network string) (list []chaincfg.DNSSeed) {
	for _, host := range publicSeeds[network] {
		list = append(list, chaincfg.DNSSeed{Host: host, HasFiltering: true})
	}
	return list
}

// DNSSeeds returns the DNS names that are asked for addresses of nodes: the chosen
// names, or else the network's own. They take a prefix for the services which the
// nodes shall have.
func (n *Network) DNSSeeds(chosen []string) []string {
	if len(chosen) > 0 {
		return chosen
	}
	var names []string
	for _, seed := range n.Params.DNSSeeds {
		if seed.HasFiltering {
			names = append(names, seed.Host)
		}
	}
	return names
}
