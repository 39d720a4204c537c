package walletrpc

import (
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/rpc/command"
)

// errReserved is what a chain of P2MR outputs refuses of payments, in the reference's words.
var errReserved = command.Error{
	Code: command.InvalidParameter,
	Message: "Reserved witness versions are valid addresses, but outputs to reserved witness versions are " +
		"nonstandard under qbit restricted-output relay policy",
}

// checkReserved refuses an output script of a witness version that is kept for later rules.
func (m *methods) checkReserved(script []byte) error {
	if kept := m.Network.Rules.IsKept; kept != nil && kept(script) {
		return errReserved
	}
	return nil
}

// checkPayments does so for each of several payments.
func (m *methods) checkPayments(payments []messages.Payment) error {
	for i := range payments {
		if err := m.checkReserved(payments[i].Script); err != nil {
			return err
		}
	}
	return nil
}

// notAllowed refuses outputs that the next block may not have.
func (m *methods) notAllowed(payments []messages.Payment) *messages.WalletError {
	may := m.Network.Rules.MayPayTo
	if may == nil {
		return nil
	}
	next := m.Chain.Open().Active().Tip().Height + 1
	for i := range payments {
		if !may(payments[i].Script, next) {
			return &messages.WalletError{
				Code: int(command.InvalidParameter),
				Text: "Output scriptPubKey is not allowed in restricted-output mode",
			}
		}
	}
	return nil
}
