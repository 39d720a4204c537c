package spend

import (
	"encoding/binary"
	"testing"

	"github.com/seed61375155/trawl/messages"
)

// The number of 253 inputs and more takes three bytes: a choice of so many that comes to the
// payment to the satoshi is made again, so that the fee suffices.
func TestManyInputsPayForTheirNumber(t *testing.T) {
	const count, each, size = 300, 1000, 68
	var coins []Coin
	for i := range count + 20 {
		c := coinOf(1, each)
		binary.LittleEndian.PutUint32(c.At.Hash[4:], uint32(i))
		c.Size.Stack = size*4 - 41*4 - 1 // nothing is rounded
		coins = append(coins, c)
	}
	payment := int64(count*(each-size) - 42)
	plan := planOf(&messages.Spend{Payments: []messages.Payment{fixed(9, payment)}}, coins...)
	plan.Change.Script = scriptOf(7)
	built, err := Build(plan)
	if err != nil {
		t.Fatal(err)
	}
	if got := int64(len(built.Tx.TxIn)) * each; built.Fee < int64((built.Weight+3)/4) || got-payment-built.Fee < 0 {
		t.Errorf("fee %d for weight %d with %d inputs", built.Fee, built.Weight, len(built.Tx.TxIn))
	}
}
