package dialect

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/seed61375155/trawl/internal/rawtx/psbt"
	"github.com/seed61375155/trawl/internal/txpool"
	"github.com/seed61375155/trawl/internal/txpool/feeestimate"
)

// The versions of Bitcoin Core that nodes of Bitcoin's networks can speak as.
const (
	Core30 = 30 // 30.2
	Core32 = 32 // 32.0

	// DefaultReference is spoken as where nobody chooses.
	DefaultReference = Core32
)

// References lists what [Choices.Reference] may be.
func References() []int { return []int{Core30, Core32} }

// ReferenceOf returns the reference whose words are nearest to those of a Bitcoin Core with a version as getnetworkinfo
// tells it: 300200 is 30.2. Of a version of 0, which is not known, it is 0.
func ReferenceOf(version int) int {
	const since32 = 310000 // what 31 changed is a part of what 32 did
	switch {
	case version == 0:
		return 0
	case version >= since32:
		return Core32
	}
	return Core30
}

// HasNoDefaultMap reports whether a version of Core takes -asmap without a name for the map in the program. Others
// take it for a file of a certain name; 0 is the default version.
func HasNoDefaultMap(reference int) bool { return cmp.Or(reference, DefaultReference) >= Core32 }

// checkReference refuses a choice that a dialect does not have.
func (c *Choices) checkReference(dialect string) error {
	switch {
	case c.Reference == 0:
		return nil
	case dialect == NameQbit:
		return errors.New("a version of Bitcoin Core can be chosen for Bitcoin's networks only")
	case !slices.Contains(References(), c.Reference):
		return fmt.Errorf("no version %d of Bitcoin Core is known, 30 and 32 are", c.Reference)
	}
	return nil
}

// referenceOf returns what is spoken as on the networks of a dialect.
func (c *Choices) referenceOf(dialect string) int {
	if dialect == NameQbit {
		return Core30
	}
	return cmp.Or(c.Reference, DefaultReference)
}

// setCore30 fills in what Core 30.2 has otherwise than later versions. It is the same for qbit 1.0.0, which began with
// that version.
func (n *Network) setCore30() {
	n.Reference, n.ProtocolVersion = Core30, 70016
	n.PaddedCoinbase, n.UnspentOverhead = true, 32+4+4+1
	n.SegwitRules = []string{"!segwit"}
	n.HeaderSync = HeaderSync{Period: 632, Lookout: 15_009}
	n.MaxMockTime = math.MaxInt64 / int64(time.Second) // a clock of nanoseconds in 64 bits
	n.Answers = answers30()
	n.Fees = Fees{Form: feeestimate.Core30}
	n.LogNames.Unlisted = []string{"kernel", "privatebroadcast"}
}

// setCore32 changes a network of Bitcoin's to what Core 32 has. The rules of its blocks are the same.
func (n *Network) setCore32() {
	n.Reference, n.ProtocolVersion = Core32, 70017
	n.Software.Agent, n.Software.Version = "Satoshi:32.0.0", 320000
	n.DecodePSBT, n.PSBTVersions = psbt.DecodeCore32, []uint32{2, 0}
	n.PaddedCoinbase, n.UnspentOverhead = false, 32+4+4
	// Taproot holds from the first block on: nobody votes for it, and its bit is free.
	n.Deployments = slices.DeleteFunc(n.Deployments, func(d Deployment) bool { return d.Name == nameTaproot })
	n.SegwitRules = []string{"!segwit", nameTaproot}
	n.Signals.Bits = 5 // miners count with the others (BIP323)
	n.TxNotes = []string{"comment", "to", "replaces_txid", "replaced_by_txid"}
	n.CountsUnsent, n.DeprecatedLast, n.NotValidated = true, true, "package-not-validated"
	n.MaxMockTime, n.AddsAddressesOnly, n.DevicesNeedSend = math.MaxUint32, true, true
	n.Answers, n.PoolOrder = Answers{}, txpool.ByClusters
	n.Fees = Fees{Form: feeestimate.Core31, DebugSaved: true, NextBlock: true}
	n.LogNames = LogNames{Gone: "libevent"}
	n.setRelay32()
	known32[n.Name](n)
}

// known32 are what Core 32 knows of the chains.
var known32 = map[string]func(*Network){
	"main": func(n *Network) {
		n.Signals.From = 711648
		n.MinimumChainWork = "0000000000000000000000000000000000000001128750f82f4c366153a3a030"
		n.AssumeValid = hash("00000000000000000000ccebd6d74d9194d8dcdc1d177c478e094bfad51ba5ac") // 938343
		n.ChainTx = ChainTx{Time: 1772055173, Count: 1315805869, Rate: 5.40111006496122}
		n.HeaderSync = HeaderSync{Period: 641, Lookout: 15_218}
		n.Snapshots = append(n.Snapshots, Snapshot{
			Height: 935_000, Txs: 1305397408,
			Block: hash("0000000000000000000147034958af1652b2b91bba607beacc5e72a56f0fb5ee"),
			Hash:  hash("e4b90ef9eae834f56c4b64d2d50143cee10ad87994c614d7d04125e2a6025050"),
		})
	},
	"test": func(n *Network) {
		n.Signals.From = 2013984
		n.MinimumChainWork = "0000000000000000000000000000000000000000000017dde1c649f3708d14b6"
		n.AssumeValid = hash("000000007a61e4230b28ac5cb6b5e5a0130de37ac1faf2f8987d2fa6505b67f4") // 4842348
		n.ChainTx = ChainTx{Time: 1772051651, Count: 536108416, Rate: 0.02691479016257117}
		n.HeaderSync = HeaderSync{Period: 673, Lookout: 14_460}
		n.Snapshots = append(n.Snapshots, Snapshot{
			Height: 4_840_000, Txs: 536078574,
			Block: hash("00000000000000f4971a7fb37fbdff89315b69a2e1920c467654a382f0d64786"),
			Hash:  hash("ce6bb677bb2ee9789c4a1c9d73e6683c53fc20e8fdbedbdaaf468982a0c8db2a"),
		})
	},
	"testnet4": func(n *Network) {
		n.MinimumChainWork = "0000000000000000000000000000000000000000000009a0fe15d0177d086304"
		n.AssumeValid = hash("0000000002368b1e4ee27e2e85676ae6f9f9e69579b29093e9a82c170bf7cf8a") // 123613
		n.ChainTx = ChainTx{Time: 1772013387, Count: 14191421, Rate: 0.01848579579528412}
		n.HeaderSync = HeaderSync{Period: 606, Lookout: 16_092}
		n.Snapshots = append(n.Snapshots, Snapshot{
			Height: 120_000, Txs: 14141057,
			Block: hash("000000000bd2317e51b3c5794981c35ba894ce27d3e772d5c39ecd9cbce01dc8"),
			Hash:  hash("10b05d05ad468d0971162e1b222a4aa66caca89da2bb2a93f8f37fb29c4794b0"),
		})
	},
	"signet": func(n *Network) {
		n.HeaderSync = HeaderSync{Period: 620, Lookout: 15_724}
		n.Snapshots = append(n.Snapshots, Snapshot{
			Height: 290_000, Txs: 28547497,
			Block: hash("0000000577f2741bb30cd9d39d6d71b023afbeb9764f6260786a97969d5c9ac0"),
			Hash:  hash("97267e000b4b876800167e71b9123f1529d13b14308abec2888bbd2160d14545"),
		})
		if n.FixedSeeds == "" { // of a challenge of its own: nothing is known
			return
		}
		n.MinimumChainWork = "00000000000000000000000000000000000000000000000000000b463ea0a4b8"
		n.AssumeValid = hash("00000008414aab61092ef93f1aacc54cf9e9f16af29ddad493b908a01ff5c329") // 293175
		n.ChainTx = ChainTx{Time: 1772055248, Count: 28676833, Rate: 0.06736623436338929}
	},
	"regtest": func(n *Network) { // where coinbases of the tests' chains are others, too
		n.HeaderSync = HeaderSync{Period: 275, Lookout: 7_017}
		n.Snapshots[0].Block = hash("135eec25a6fb277884e5824e7aa7d052c4868161c99a5122170b5266f86c273d")
		n.Snapshots[0].Hash = hash("86e9a1205b418b16dde3a18a78c730e30137e28466bda5dbf6b33ab8fc05447c")
		n.Snapshots[2].Block = hash("0c552ced4721c249a389eb9b08cb8da261cd46f0e7b5f9d064d48f3113406853")
		n.Snapshots[2].Hash = hash("106b2c56233e378a824cf0d5ff2be42ed32c72f1605c9be288d00942908a40ac")
	},
}
