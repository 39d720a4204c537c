package dialect

import (
	"time"

	"github.com/btcsuite/btcd/chaincfg"
	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/internal/consensus/script"
)

var bitcoin = map[string]func(Choices) *Network{
	"main":     func(Choices) *Network { return mainNetwork() },
	"test":     func(Choices) *Network { return testnet3() },
	"testnet4": func(Choices) *Network { return testnet4() },
	"signet":   chosenSignet,
	"regtest":  regtest,
}

func mainNetwork() *Network {
	return public(&Network{
		Name: "main", PruneAfter: 100_000, RPCPort: 8332, P2PPort: 8333, FixedSeeds: "main",
		Signals: Signals{From: 483840},
		Params:  fresh(chaincfg.MainNetParams),
		Deployments: append(buried(227931, 363725, 388381, 419328, 481824),
			testdummy(NeverActive, 2016, 1815),
			Deployment{
				Name: nameTaproot, Bit: 2, Start: 1619222400, Timeout: 1628640000,
				MinActivationHeight: 709632, Period: 2016, Threshold: 1815,
			}),
		MinimumChainWork: "0000000000000000000000000000000000000000dee8e2a309ad8a9820433c68",
		ChainTx:          ChainTx{Time: 1756722903, Count: 1235299397, Rate: 5.456290459519495},
		RepeatedCoinbases: []chainhash.Hash{
			hash("00000000000a4d0a398161ffc163c503763b1f4360639393e0e4c8e300e0caec"), // 91842
			hash("00000000000743f190a18c5577a3c2d2a1f610ae9601ac046a38084ccb7cd721"), // 91880
		},
		ReplacedCoinbases: []chainhash.Hash{
			hash("00000000000af0aed4792b1acee3d966af36cf5def14935db8de83d6f9306f2f"), // 91812
			hash("00000000000271a2dc26e7667f8419f2e15416dc6955e5a6c6cdf3f2574dd08e"), // 91722
		},
		BIP34Hash: hash("000000000000024b89b42a942fe0d9fea3bb44ab7bd1b19115dd6a759c0808b8"),
		ScriptExceptions: map[chainhash.Hash]script.Flags{
			hash("00000000000002dc756eebf4f49723ed8d30cc28a5f108eb94b1ba88ac4f9c22"): 0, // before P2SH
			hash("0000000000000000000f14c35b2d841e986ab5441de8c585d5ffe55ea1e395ad"): script.P2SH | script.Witness,
		},
		AssumeValid: hash("00000000000000000000611fd22f2df7c8fbd0688745c3a6c3bb5109cc2a12cb"), // 912683
		Snapshots:   mainnetSnapshots(),
	})
}

func testnet3() *Network {
	return public(&Network{
		Name: "test", Dir: "testnet3", RPCPort: 18332, P2PPort: 18333, FixedSeeds: "test",
		Signals: Signals{From: 836640},
		Params:  fresh(chaincfg.TestNet3Params),
		Deployments: append(buried(21111, 330776, 581885, 770112, 834624),
			testdummy(NeverActive, 2016, 1512),
			Deployment{
				Name: nameTaproot, Bit: 2, Start: 1619222400, Timeout: 1628640000,
				Period: 2016, Threshold: 1512,
			}),
		MinimumChainWork: "0000000000000000000000000000000000000000000016dd270dd94fac1d7632",
		ChainTx:          ChainTx{Time: 1751816758, Count: 508468699, Rate: 7.172978845985714},
		BIP34Hash:        hash("0000000023b3a96d3484e5abb3755c413e7d41500f8e2a5c3f0dd01299cd8ef8"),
		ScriptExceptions: map[chainhash.Hash]script.Flags{
			hash("00000000dd30457c001f4095d208cc1296b0eed002427aa599874af7a432b105"): 0, // before P2SH
		},
		AssumeValid: hash("0000000000000065c6c38258e201971a3fdfcc2ceee0dd6e85a6c022d45dee34"), // 4550000
		Snapshots:   testnet3Snapshots(),
	})
}

func testnet4() *Network {
	return public(&Network{
		Name: "testnet4", Dir: "testnet4", RPCPort: 48332, P2PPort: 48333, FixedSeeds: "testnet4",
		Params: fresh(chaincfg.TestNet4Params),
		Deployments: append(buried(1, 1, 1, 1, 1),
			testdummy(NeverActive, 2016, 1512),
			alwaysTaproot(2016, 1512)),
		MinimumChainWork: "00000000000000000000000000000000000000000000034a4690fe592dc49c7c",
		ChainTx:          ChainTx{Time: 1752470331, Count: 11414302, Rate: 0.2842619757327476},
		AssumeValid:      hash("000000000000000180a58e7fa3b0db84b5ea76377524894f53660d93ac839d9b"), // 91000
		Snapshots:        testnet4Snapshots(),
	})
}

// public completes a network that everybody may join.
func public(n *Network) *Network {
	n.Params.DNSSeeds = seeds(n.Name)
	return complete(n)
}

func defaultSignet() *Network {
	n := Signet(chaincfg.DefaultSignetChallenge)
	n.FixedSeeds, n.Params.DNSSeeds = n.Name, seeds(n.Name)
	n.MinimumChainWork = "0000000000000000000000000000000000000000000000000000067d328e681a"
	n.ChainTx = ChainTx{Time: 1756723017, Count: 26185472, Rate: 0.7452721495389969}
	n.AssumeValid = hash("000000128586e26813922680309f04e1de713c7542fee86ed908f56368aefe2e") // 267665
	return n
}

// chosenSignet is the public signet, or the one of a challenge.
func chosenSignet(c Choices) *Network {
	if c.SignetChallenge != nil {
		return Signet(c.SignetChallenge)
	}
	return defaultSignet()
}

// Signet returns the signet whose blocks solve challenge, an output script
// (BIP325).
func Signet(challenge []byte) *Network {
	return complete(&Network{
		Name: "signet", Dir: "signet", RPCPort: 38332, P2PPort: 38333,
		Params:          fresh(chaincfg.CustomSignetParams(challenge, nil)),
		SignetChallenge: challenge, Snapshots: signetSnapshots(),
		Deployments: append(buried(1, 1, 1, 1, 1),
			testdummy(NeverActive, 2016, 1815),
			alwaysTaproot(2016, 1815)),
	})
}

// regtest differs from btcd's in its rules being active from the first block, as
// Core's are, unless its operator chooses otherwise.
func regtest(c Choices) *Network {
	n := &Network{
		Name: "regtest", Dir: "regtest", RPCPort: 18443, P2PPort: 18444,
		Params: fresh(chaincfg.RegressionNetParams),
		Deployments: append(buried(1, 1, 1, 1, 0),
			testdummy(0, 144, 108),
			alwaysTaproot(144, 108)),
		MineOnDemand: true, MockableClock: true, SmallPruneAfter: 100,
		ChainTx: ChainTx{Rate: 0.001}, Snapshots: regtestSnapshots(),
	}
	n.Params.Deployments[chaincfg.DeploymentTaproot].AlwaysActiveHeight = 1
	n.Params.TargetTimespan = 24 * time.Hour
	n.Params.DNSSeeds = []chaincfg.DNSSeed{{Host: "dummySeed.invalid.", HasFiltering: true}} // nowhere, as Core's
	n.syncParams()
	n.choose(c)
	return complete(n)
}

func buried(bip34, bip66, bip65, csv, segwit int32) []Deployment {
	return []Deployment{
		{Name: "bip34", Buried: true, Height: bip34},
		{Name: "bip66", Buried: true, Height: bip66},
		{Name: "bip65", Buried: true, Height: bip65},
		{Name: "csv", Buried: true, Height: csv},
		{Name: "segwit", Buried: true, Height: segwit},
	}
}

// The deployments that miners decide.
const (
	nameTestDummy = "testdummy"
	nameTaproot   = "taproot"
)

func testdummy(start int64, period, threshold int32) Deployment {
	return Deployment{
		Name: nameTestDummy, Bit: 28, Start: start, Timeout: NoTimeout,
		Period: period, Threshold: threshold,
	}
}

func alwaysTaproot(period, threshold int32) Deployment {
	return Deployment{
		Name: nameTaproot, Bit: 2, Start: AlwaysActive, Timeout: NoTimeout,
		Period: period, Threshold: threshold,
	}
}

// fresh copies p with deployments of its own: btcd hands them the clock of the
// chain that uses them, so two nodes in one process must not share any. It also
// drops the checkpoints: everything is validated.
func fresh(p chaincfg.Params) *chaincfg.Params {
	p.Checkpoints = nil
	for i := range p.Deployments {
		d := &p.Deployments[i]
		if s, ok := d.DeploymentStarter.(interface{ StartTime() time.Time }); ok {
			d.DeploymentStarter = chaincfg.NewMedianTimeDeploymentStarter(s.StartTime())
		}
		if e, ok := d.DeploymentEnder.(interface{ EndTime() time.Time }); ok {
			d.DeploymentEnder = chaincfg.NewMedianTimeDeploymentEnder(e.EndTime())
		}
	}
	return &p
}

// hash reads a hash of this file.
func hash(text string) chainhash.Hash {
	h, err := chainhash.NewHashFromStr(text)
	if err != nil {
		panic(err)
	}
	return *h
}
