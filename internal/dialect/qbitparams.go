package dialect

import (
	"encoding/binary"
	"encoding/hex"
	"math/big"
	"time"

	"github.com/btcsuite/btcd/chaincfg"
	"github.com/btcsuite/btcd/wire"
)

// qbitPrefixes tell addresses and keys of the networks apart.
type qbitPrefixes struct {
	hrp                      string
	keyHash, scriptHash, wif byte // of P2PKH, P2SH and private keys
	hdPublic, hdPrivate      [4]byte
	coinType                 uint32
}

var (
	qbitMainPrefixes = qbitPrefixes{
		"qb", 58, 63, 159, [4]byte{0x03, 0xf7, 0x28, 0x15}, [4]byte{0x03, 0xf7, 0x23, 0xdb}, 0,
	}
	qbitTestPrefixes = qbitPrefixes{
		"tq", 120, 125, 178, [4]byte{0x04, 0x35, 0xdb, 0xad}, [4]byte{0x04, 0x35, 0xdc, 0x31}, 1,
	}
	qbitRegtestPrefixes = qbitPrefixes{
		"qbrt", 120, 125, 166, [4]byte{0x03, 0xf7, 0xd7, 0xb5}, [4]byte{0x03, 0xf7, 0xd8, 0x3a}, 1,
	}
)

// A qbitGenesis is what the first blocks differ in.
type qbitGenesis struct {
	script      string // of the input, in hex
	time        int64
	bits, nonce uint32
}

const qbitTestScript = "04ffff001d010436716269742f76302e3120646576656c6f706d656e742067656e65736973202d206e6f7420" +
	"666f722070726f64756374696f6e20757365"

// block builds the first block, which pays 210 coins to a key of zeros.
func (g qbitGenesis) block() *wire.MsgBlock {
	script, err := hex.DecodeString(g.script)
	if err != nil {
		panic(err) // it stands above
	}
	const pushKey, checkSig = 0x21, 0xac
	out := append([]byte{pushKey}, make([]byte, 33)...)
	tx := wire.NewMsgTx(1)
	tx.AddTxIn(&wire.TxIn{
		PreviousOutPoint: wire.OutPoint{Index: wire.MaxPrevOutIndex},
		SignatureScript:  script, Sequence: wire.MaxTxInSequenceNum,
	})
	tx.AddTxOut(wire.NewTxOut(int64(qbitFirstSubsidy), append(out, checkSig)))
	return &wire.MsgBlock{
		Header: wire.BlockHeader{
			Version: 1, MerkleRoot: tx.TxHash(), Timestamp: time.Unix(g.time, 0), Bits: g.bits, Nonce: g.nonce,
		},
		Transactions: []*wire.MsgTx{tx},
	}
}

// qbitParams are the values of a network that btcd has a place for.
func qbitParams(g qbitGenesis, magic [4]byte, prefixes qbitPrefixes, seeds ...string) *chaincfg.Params {
	p := fresh(chaincfg.RegressionNetParams)
	p.Name = "qbit"
	p.Net = wire.BitcoinNet(binary.LittleEndian.Uint32(magic[:]))
	p.DefaultPort = ""
	p.DNSSeeds = nil
	for _, host := range seeds {
		p.DNSSeeds = append(p.DNSSeeds, chaincfg.DNSSeed{Host: host, HasFiltering: true})
	}
	p.GenesisBlock = g.block()
	hash := p.GenesisBlock.BlockHash()
	p.GenesisHash = &hash
	p.PowLimitBits = 0x1f00ffff
	if g.bits == 0x207fffff {
		p.PowLimitBits = g.bits
	}
	p.CoinbaseMaturity = qbitMaturity
	p.TargetTimePerBlock = time.Minute
	p.TargetTimespan = 24 * time.Hour
	p.Bech32HRPSegwit = prefixes.hrp
	p.PubKeyHashAddrID, p.ScriptHashAddrID, p.PrivateKeyID = prefixes.keyHash, prefixes.scriptHash, prefixes.wif
	p.HDPublicKeyID, p.HDPrivateKeyID, p.HDCoinType = prefixes.hdPublic, prefixes.hdPrivate, prefixes.coinType
	return p
}

// compactTarget returns the greatest target that compact bits round down to
// themselves.
func compactTarget(bits uint32) *big.Int {
	shift := 8 * (uint(bits>>24) - 3)
	limit := new(big.Int).Lsh(big.NewInt(int64(bits&0x7fffff)+1), shift)
	return limit.Sub(limit, big.NewInt(1))
}
