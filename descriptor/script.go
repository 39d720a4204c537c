package descriptor

// script is a parsed script expression with all branches of a multipath
// descriptor. It is the interface that further expressions implement.
type script interface {
	// branches is the number of multipath branches within, or 1.
	branches() int

	// appendText prints the expression.
	appendText(dst []byte, f form) []byte

	// scripts returns the scripts of one index. keys holds the public key of
	// every key expression of the descriptor by its number. The result may
	// share memory with the expression: it must not be written to.
	scripts(keys [][]byte) ([][]byte, error)

	// output is the kind of address that the script has on top level.
	output() OutputType
}

// batchable is a script whose scripts of many indices cost less when they are
// made together.
type batchable interface{ batch() batch }

// batch is scratch memory of one goroutine.
type batch interface {
	// add notes the keys of one more index. They may be overwritten after it.
	add(keys [][]byte) error

	// scripts returns the scripts of the indices that were added since the last
	// call, in their order.
	scripts() ([][][]byte, error)
}

// OutputType is the kind of address a descriptor stands for.
type OutputType int

// The output types of Bitcoin Core.
const (
	Unknown    OutputType = iota // none, or more than one kind
	Legacy                       // P2PKH, P2SH
	P2SHSegwit                   // P2WPKH or P2WSH within P2SH
	Bech32                       // P2WPKH, P2WSH
	Bech32m                      // P2TR and later versions
	MerkleRoot                   // P2MR, in its dialect
)

// String returns the name that Core gives to the type.
func (t OutputType) String() string {
	switch t {
	case Legacy:
		return "legacy"
	case P2SHSegwit:
		return "p2sh-segwit"
	case Bech32:
		return "bech32"
	case Bech32m:
		return "bech32m"
	case MerkleRoot:
		return "p2mr"
	default:
		return "unknown"
	}
}

// commonBranches returns the number of branches of expressions that are used
// side by side: each must have that many, or one. ok is false otherwise.
func commonBranches[T interface{ branches() int }](parts []T) (n int, ok bool) {
	n = 1
	for _, part := range parts {
		n = max(n, part.branches())
	}
	for _, part := range parts {
		if b := part.branches(); b != 1 && b != n {
			return n, false
		}
	}
	return n, true
}
