package dialect

import (
	"bytes"
	"time"

	"github.com/btcsuite/btcd/btcutil"
	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/consensus"
	"github.com/seed61375155/trawl/internal/p2mr/pow"
)

// Values that qbit's networks share.
const (
	qbitCoin         = btcutil.Amount(btcutil.SatoshiPerBitcoin)
	qbitMaxMoney     = 210_000_000 * qbitCoin
	qbitFirstSubsidy = 210 * qbitCoin
	qbitMaxBlock     = 2_000_000
	qbitMaturity     = 1000
)

// Services of qbit's nodes: old witnesses may be missing, or old blocks are
// served with their witnesses.
const (
	qbitWitnessPruned wire.ServiceFlag = 1 << 12
	qbitArchive       wire.ServiceFlag = 1 << 13
)

// qbitNetworks are those of qbit 1.0.0. The functions take the choices that a
// chain leaves open.
var qbitNetworks = map[string]func(Choices) *Network{
	"main":     qbitMain,
	"test":     qbitTestnet3,
	"testnet4": qbitTestnet4,
	"signet":   qbitSignet,
	"regtest":  qbitRegtest,
}

func qbitMain(Choices) *Network {
	return completeQbit(&Network{
		Name: "main", PruneAfter: 100_000, RPCPort: 8352, P2PPort: 8355,
		Params: qbitParams(qbitGenesis{
			script: "04ffff001d08044c0000000000004c54476f6f676c653a205365637572696e67204543432043727970746f" +
				"63757272656e6369657320616761696e7374205175616e74756d2056756c6e65726162696c697469657320" +
				"3935383135373a33616261663835",
			time: 1784131083, bits: 0x1a7f1ab5, nonce: 1084616938,
		}, [4]byte{0x44, 0x4f, 0x24, 0xa8}, qbitMainPrefixes,
			"flux-mainnet.qbit.org", "phase-mainnet.qbit.org"),
		Deployments: qbitDeployments(0, NeverActive, 20160, 19152),
		P2MR: &P2MR{
			Params: pow.Params{
				ChainID: 47, Anchors: pow.Anchors{Permissionless: 0x18109c29, AuxPoW: 0x1801ca70},
				Difficulty: pow.ASERT,
			},
		},
	})
}

func qbitTestnet3(Choices) *Network {
	return completeQbit(&Network{
		Name: "test", Dir: "testnet3", RPCPort: 18352, P2PPort: 18355,
		Params: qbitParams(qbitGenesis{
			script: qbitTestScript, time: 1738713601, bits: 0x1f00ffff, nonce: 88582,
		}, [4]byte{0xc3, 0xd3, 0x0a, 0x67}, qbitTestPrefixes),
		Deployments: qbitDeployments(0, NeverActive, 20160, 15120),
		P2MR: &P2MR{
			Params: pow.Params{
				ChainID: qbitTestChainID, Anchors: pow.Anchors{Permissionless: 0x1d00ffff, AuxPoW: 0x1d00ffff},
				Difficulty: pow.ASERT, MinDifficulty: true,
			},
		},
	})
}

func qbitTestnet4(Choices) *Network {
	return completeQbit(&Network{
		Name: "testnet4", Dir: "testnet4", RPCPort: 48352, P2PPort: 48355,
		Params: qbitParams(qbitGenesis{
			script: "04ffff001d0800000008f44100004c5146696e616e6369616c2054696d65732031322f4a756e2f32303236" +
				"205175616e74756d20636f6d707574696e67207265766f6c7574696f6e20697320636c6f73657220746861" +
				"6e20796f75207468696e6b",
			time: 1781704709, bits: 0x1a7f1ab5, nonce: 2528738861,
		}, [4]byte{0xc7, 0xc4, 0x16, 0x40}, qbitTestPrefixes,
			"coherence-testnet4.qbit.org", "triplet-testnet4.qbit.org"),
		Deployments: qbitDeployments(0, NeverActive, 20160, 15120),
		P2MR: &P2MR{
			Params: pow.Params{ChainID: qbitTestChainID, Anchors: pow.Anchors{
				Permissionless: 0x1a7f1ab5, AuxPoW: 0x1a7f1ab5,
			}, Difficulty: pow.ASERT},
			WeightV2: 60_000, FutureTimeV2: 60_000, DisplayOrder: 20_500,
		},
	})
}

func qbitSignet(c Choices) *Network {
	challenge := c.SignetChallenge
	if challenge == nil {
		challenge = []byte{0x51}
	}
	var serialized bytes.Buffer
	_ = wire.WriteVarBytes(&serialized, 0, challenge) // a buffer takes everything
	sum := chainhash.DoubleHashH(serialized.Bytes())
	return completeQbit(&Network{
		Name: "signet", Dir: "signet", RPCPort: 38352, P2PPort: 38355,
		Params: qbitParams(qbitGenesis{
			script: qbitTestScript, time: 1775433600, bits: 0x1f00ffff, nonce: 260258,
		}, [4]byte(sum[:4]), qbitTestPrefixes),
		SignetChallenge: challenge,
		Deployments:     qbitDeployments(0, NeverActive, 20160, 18144),
		P2MR: &P2MR{
			Params: pow.Params{
				ChainID: qbitTestChainID, Anchors: pow.Anchors{Permissionless: 0x1e00f99b, AuxPoW: 0x1b0d1b64},
				Difficulty: pow.ASERT,
			},
		},
	})
}

func qbitRegtest(c Choices) *Network {
	rules := &P2MR{
		Params: pow.Params{
			ChainID: qbitTestChainID, Anchors: pow.Anchors{Permissionless: 0x207fffff, AuxPoW: 0x207fffff},
			Difficulty: pow.FixedDifficulty,
		},
		AnyOutput:    c.AnyOutput,
		OuterWitness: Never,
		SubsidyStep:  150,
	}
	switch {
	case c.ASERT:
		rules.Difficulty, rules.MinDifficulty = pow.ASERT, true
	case c.Periodic:
		rules.Difficulty, rules.MinDifficulty = pow.Periodic, true
	}
	n := completeQbit(&Network{
		Name: "regtest", Dir: "regtest", RPCPort: 18452, P2PPort: 18460,
		Params: qbitParams(qbitGenesis{
			script: qbitTestScript, time: 1738713602, bits: 0x207fffff, nonce: 1,
		}, [4]byte{0xa6, 0x6b, 0x1f, 0xda}, qbitRegtestPrefixes, "dummySeed.invalid."),
		Deployments:  qbitDeployments(1, 0, 144, 108),
		P2MR:         rules,
		MineOnDemand: true, MockableClock: true, SmallPruneAfter: 100,
		ChainTx: ChainTx{Rate: 0.001},
	})
	n.choose(c)
	n.BlockVersion = rules.chosenVersion(n.BlockVersion)
	n.Scheduled, n.MergedMining = n.P2MR.scheduled(), n.mergedMining()
	return n
}

// qbitTestChainID is the AuxPoW chain of all networks but the main one.
const qbitTestChainID = 31430

// qbitDeployments are those that getdeploymentinfo tells of; testdummy can be
// signalled from start on.
func qbitDeployments(from int32, start int64, period, threshold int32) []Deployment {
	dummy := testdummy(start, period, threshold)
	dummy.Bit = 0
	return append(buried(from, from, from, from, 0), dummy, alwaysTaproot(period, threshold))
}

// completeQbit fills in what all of qbit's networks share.
func completeQbit(n *Network) *Network {
	n.Coin = "qbit"
	n.Software = Software{
		Name: "qbit", Own: "qbit", Daemon: "qbitd", Agent: "qbit:1.0.0", Version: 10000,
		ConfigFile: "qbit.conf", Unit: "QBT", Atom: "bits",
	}
	n.Archive, n.WitnessPruned = qbitArchive, qbitWitnessPruned
	n.LeavesForNotFound, n.DirectFetchWork, n.FetchWork = true, true, true
	n.StripDepth = int32(n.Params.CoinbaseMaturity)
	n.CountsStale, n.TellsNewer = true, true
	n.ServiceNames = map[wire.ServiceFlag]string{qbitWitnessPruned: "WITNESS_PRUNED", qbitArchive: "ARCHIVE"}
	n.Rules = consensus.Rules{
		MaxMoney: int64(qbitMaxMoney), MaxWeight: qbitMaxBlock, MaxSigOps: 80_000, WitnessScale: 1,
		Maturity: int32(n.Params.CoinbaseMaturity), IsKept: isReserved,
	}
	if !n.P2MR.AnyOutput {
		n.Rules.MayPayTo = n.P2MR.mayPayTo
	}
	n.MaxBlockSize = qbitMaxBlock
	n.setKind()
	n.setCore30()
	n.HeaderLen = pow.HeaderLen
	n.Magic = magic(n.Params)
	if n.P2MR.SubsidyStep == 0 {
		n.P2MR.SubsidyStep = 43_200
	}
	if !n.MineOnDemand {
		// Below, BIP34 keeps transactions from repeating.
		n.P2MR.BIP30 = 1_983_702
	}
	n.Params.SubsidyReductionInterval = n.P2MR.SubsidyStep
	n.syncParams()
	n.Subsidy = func(height int32) btcutil.Amount { return qbitSubsidy(height / n.P2MR.SubsidyStep) }
	n.MinimumChainWork = "00"
	if n.ChainTx.Rate == 0 { // nothing is known but the start
		spacing := n.Params.TargetTimePerBlock.Seconds()
		n.ChainTx = ChainTx{Time: n.Params.GenesisBlock.Header.Timestamp.Unix(), Count: 1, Rate: 1 / spacing}
	}
	n.RelayFee, n.IncrementalFee, n.DustRate = 250, 250, 750
	n.WalletFee, n.FallbackFee, n.FreshTip = 250, 250, time.Hour
	n.ChainVSize, n.DataCarrier = 404_000, 200_000
	n.RecentTip = 15 * time.Minute
	n.Traffic, n.Signals = qbitTraffic, n.qbitSignals()
	n.ReservedWeight, n.LeastReserved = 4_000, 1_000
	n.Params.PowLimit = compactTarget(n.Params.PowLimitBits)
	n.setP2MRRules()
	n.HelpWords = n.qbitHelpWords()
	return n
}

// qbitSubsidy returns what a block may create after so many reductions. Each
// rounds down.
func qbitSubsidy(reductions int32) btcutil.Amount {
	subsidy := qbitFirstSubsidy
	for ; reductions > 0 && subsidy > 0; reductions-- {
		subsidy = subsidy * 598 / 625
	}
	return subsidy
}
