package descriptor

import (
	"math/rand/v2"
	"testing"

	"github.com/btcsuite/btcd/btcutil/bech32"
)

// Addresses are those that btcutil writes, for every version and length of a program.
func TestEncodeSegwit(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, hrp := range []string{"bc", "tb", "bcrt", "qb"} {
		for version := range 17 {
			for size := 2; size <= 40; size++ {
				program := make([]byte, size)
				for i := range program {
					program[i] = byte(rng.Uint32())
				}
				groups, err := bech32.ConvertBits(program, 8, 5, true)
				if err != nil {
					t.Fatal(err)
				}
				encode := bech32.EncodeM
				if version == 0 {
					encode = bech32.Encode
				}
				want, err := encode(hrp, append([]byte{byte(version)}, groups...))
				if err != nil {
					t.Fatal(err)
				}
				if got := string(appendSegwit(nil, hrp, version, program)); got != want {
					t.Fatalf("version %d, %x: %s, want %s", version, program, got, want)
				}
			}
		}
	}
}
