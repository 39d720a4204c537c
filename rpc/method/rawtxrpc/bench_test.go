package rawtxrpc_test

import (
	"encoding/binary"
	"fmt"
	"testing"

	"github.com/btcsuite/btcd/chaincfg"

	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/internal/jsontree"
)

// BenchmarkCreateRawTransaction makes a whole call, from the parsed arguments to
// the text of the result.
func BenchmarkCreateRawTransaction(b *testing.B) {
	net := descriptor.NetworkOf(&chaincfg.RegressionNetParams)
	for _, outputs := range []int{2, 500} {
		b.Run(fmt.Sprintf("outputs=%d", outputs), func(b *testing.B) {
			paid := jsontree.NewObject()
			for i := range outputs {
				script := binary.BigEndian.AppendUint32(append([]byte{0, 20}, make([]byte, 16)...), uint32(i))
				address, _ := descriptor.AddressOf(script, net)
				paid.Add(address, jsontree.NewString("0.00000001"))
			}
			params := jsontree.NewArray(parse(b, fmt.Sprintf(`[{"txid":%q,"vout":0}]`, txid)), paid)
			table := rig(b, "regtest", false)
			b.ReportAllocs()
			for b.Loop() {
				if _, fault := call(b, table, "createrawtransaction", params); fault != "null" {
					b.Fatal(fault)
				}
			}
		})
	}
}
