package dialect

// The sets of unspent outputs that Bitcoin Core 30.2 knows by their hashes, of each network.

func mainnetSnapshots() []Snapshot {
	return []Snapshot{
		{
			Height: 840_000, Txs: 991032194,
			Block: hash("0000000000000000000320283a032748cef8227873ff4872689bf23f1cda83a5"),
			Hash:  hash("a2a5521b1b5ab65f67818e5e8eccabb7171a517f9e2382208f77687310768f96"),
		},
		{
			Height: 880_000, Txs: 1145604538,
			Block: hash("000000000000000000010b17283c3c400507969a9c2afd1dcf2082ec5cca2880"),
			Hash:  hash("dbd190983eaf433ef7c15f78a278ae42c00ef52e0fd2a54953782175fbadcea9"),
		},
		{
			Height: 910_000, Txs: 1226586151,
			Block: hash("0000000000000000000108970acb9522ffd516eae17acddcb1bd16469194a821"),
			Hash:  hash("4daf8a17b4902498c5787966a2b51c613acdab5df5db73f196fa59a4da2f1568"),
		},
	}
}

func testnet3Snapshots() []Snapshot {
	return []Snapshot{
		{
			Height: 2_500_000, Txs: 66484552,
			Block: hash("0000000000000093bcb68c03a9a168ae252572d348a2eaeba2cdf9231d73206f"),
			Hash:  hash("f841584909f68e47897952345234e37fcd9128cd818f41ee6c3ca68db8071be7"),
		},
	}
}

func testnet4Snapshots() []Snapshot {
	return []Snapshot{
		{
			Height: 90_000, Txs: 11347043,
			Block: hash("0000000002ebe8bcda020e0dd6ccfbdfac531d2f6a81457191b99fc2df2dbe3b"),
			Hash:  hash("784fb5e98241de66fdd429f4392155c9e7db5c017148e66e8fdbc95746f8b9b5"),
		},
	}
}

func signetSnapshots() []Snapshot {
	return []Snapshot{
		{
			Height: 160_000, Txs: 2289496,
			Block: hash("0000003ca3c99aff040f2563c2ad8f8ec88bd0fd6b8f0895cfaf1ef90353a62c"),
			Hash:  hash("fe0a44309b74d6b5883d246cb419c6221bcccf0b308c9b59b7d70783dbdf928a"),
		},
	}
}

func regtestSnapshots() []Snapshot {
	return []Snapshot{
		{
			Height: 110, Txs: 111,
			Block: hash("6affe030b7965ab538f820a56ef56c8149b7dc1d1c144af57113be080db7c397"),
			Hash:  hash("b952555c8ab81fec46f3d4253b7af256d766ceb39fb7752b9d18cdf4a0141327"),
		},
		{
			Height: 200, Txs: 201,
			Block: hash("385901ccbd69dff6bbd00065d01fb8a9e464dede7cfe0372443884f9b1dcf6b9"),
			Hash:  hash("17dcc016d188d16068907cdeb38b75691a118d43053b8cd6a25969419381d13a"),
		},
		{
			Height: 299, Txs: 334,
			Block: hash("7cc695046fec709f8c9394b6f928f81e81fd3ac20977bb68760fa1faa7916ea2"),
			Hash:  hash("d2b051ff5e8eef46520350776f4100dd710a63447a8e01d917e92e79751a63e2"),
		},
	}
}

// NetworkOf returns the name of the network with a magic: this one, or one of Bitcoin's; "" for
// none that is known.
func (n *Network) NetworkOf(magic [4]byte) string {
	if magic == n.Magic {
		return n.Name
	}
	for _, chain := range Chains() {
		if other, err := Bitcoin(chain); err == nil && other.Magic == magic {
			return other.Name
		}
	}
	return ""
}
