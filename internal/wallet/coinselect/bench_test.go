package coinselect

import (
	"fmt"
	"testing"
)

// BenchmarkChoose chooses among 100,000 coins for the value of one, and of five hundred.
func BenchmarkChoose(b *testing.B) {
	coins := make([]Coin, 100_000)
	for i := range coins {
		coins[i] = coin(i, 10_000+int64(i)*7919%1_000_003, 68, 100)
	}
	for _, rate := range []FeeRate{2_000, 50_000} {
		for _, payments := range []int64{1, 500} {
			for _, whole := range []bool{false, true} {
				b.Run(fmt.Sprintf("rate=%d/coins=%d/whole=%v", rate, payments, whole), func(b *testing.B) {
					p := params(payments*500_000, rate)
					p.AvoidPartial = whole
					for b.Loop() {
						if _, err := Choose(p, nil, coins, true, random(1)); err != nil {
							b.Fatal(err)
						}
					}
				})
			}
		}
	}
}
