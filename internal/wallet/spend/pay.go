package spend

import (
	"fmt"

	"github.com/btcsuite/btcd/btcutil"

	"github.com/seed61375155/trawl/internal/wallet/codes"
)

// CheckPay refuses a fee rate that is to be paid where a request names none. Relay is the least that the memory pool
// takes, unit the name of the currency.
//
// Errors: [*messages.WalletError].
func (o *Options) CheckPay(rate, relay FeeRate, unit string) error {
	perKvB := func(rate FeeRate) string {
		return fmt.Sprintf("%d.%08d %s/kvB", rate/btcutil.SatoshiPerBitcoin, rate%btcutil.SatoshiPerBitcoin, unit)
	}
	switch most := FeeRate(o.MaxFee); {
	case rate == 0:
	case rate < relay:
		return codes.Errorf(codes.Parameter, "txfee cannot be less than min relay tx fee (%s)", perKvB(relay))
	case rate < o.Min:
		return codes.Errorf(codes.Parameter, "txfee cannot be less than wallet min fee (%s)", perKvB(o.Min))
	case rate > most:
		return codes.Errorf(codes.Parameter, "txfee cannot be more than wallet max tx fee (%s)", perKvB(most))
	}
	return nil
}
